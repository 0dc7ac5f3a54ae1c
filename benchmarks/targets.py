"""What the library is to reach, beside what the other programs measured: results/targets.md.

python benchmarks/targets.py

Reads the CSV files of results/, and the rows of the papers that ../results/paper keeps. Names at the end the
CSV files of which rows come from other code than what is installed, or do not say from what machine.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path

import origin
import pyarrow.parquet as pq
from csv_rows import read_rows
from problems import ROOT, SET_ASIDE

from svmselect.atomic import replacing

RESULTS = Path(__file__).resolve().parent / "results"
PAPERS = ROOT / "results" / "paper"
OURS = "svmselect"
MISSING = "not measured", None
MANY_ROWS = (2_500, 6_000, 9_500)


def rows_of(name, **wanted):
    """The rows of a file that have these values."""
    rows = read_rows(RESULTS / f"{name}.csv")
    return [row for row in rows if all(row[column] == value for column, value in wanted.items())]


def spread(ratios, least, mean=None):
    """Geometric mean and least of some ratios by case, as text, and how much of the targets they reach."""
    if not ratios:
        return MISSING
    average, worst = statistics.geometric_mean(ratios.values()), min(ratios, key=ratios.get)
    text = f"{average:.2f} (least {ratios[worst]:.2f}: {worst}; {len(ratios)} cases)"
    return text, min(ratios[worst] / least, average / mean if mean else math.inf)


def over_best_peer(rows, column, key):
    """For every case, the time of the fastest other library over ours."""
    cases = {}
    for row in rows:
        if row["status"] == "ok":
            cases.setdefault(tuple(row[name] for name in key), {})[row["peer"]] = float(row[column])
    return {
        f"{problem}, C = {float(C):g}": min(seconds for peer, seconds in times.items() if peer != OURS)
        / times[OURS]
        for (problem, C), times in cases.items()
        if OURS in times and len(times) > 1
    }


def warm_fits(aside):
    rows = rows_of("compare", threads="1", kernel="rbf")
    rows = [row for row in rows if aside == (row["problem"] in SET_ASIDE)]
    return spread(over_best_peer(rows, "cpu_s_median", ("problem", "C")), least=1, mean=2.5)


def cold_fits():
    rows = rows_of("cold", threads="1")
    text, share = spread(over_best_peer(rows, "cpu_s", ("problem", "C")), least=1, mean=1.8)
    if share is None:
        return MISSING
    peak = max(float(row["peak_mb"]) for row in rows if row["peer"] == OURS)
    return f"{text}; peak memory at most {peak:.0f} MB", min(share, 600 / peak)


def grids():
    """On one thread by CPU time, as all else on one thread; on two by the clock on the wall."""
    rows = {(row["peer"], row["threads"]): row for row in rows_of("grid", grid="liquidSVM")}
    one, found = rows.get(("liquidSVM", "1")), []
    for threads, clock, target in (("1", "cpu_s", 1.5), ("2", "wall_s", 2.7)):
        ours = rows.get((OURS, threads))
        if one and ours:
            found.append((float(one[clock]) / float(ours[clock]), target, threads))
    if not found:
        return MISSING
    text = ", ".join(
        f"{ratio:.2f} on {threads} thread{'s' * (threads != '1')}" for ratio, _, threads in found
    )
    return text, min(ratio / target for ratio, target, _ in found)


def hundred_folds():
    rows = rows_of("folds", folds="100")
    ratios = {
        f"{row['problem']}, C = {row['C']}": float(row["libsvm_cpu_s"]) / float(row["unlearn_cpu_s"])
        for row in rows
    }
    return spread(ratios, least=30)


def part(section, beside, least=1, only=""):
    """The ratios of a section of engine.csv whose cases contain `only`."""
    return lambda: spread(
        {
            row["case"]: float(row["ratio"])
            for row in rows_of("engine", section=section, beside=beside)
            if only in row["case"]
        },
        least,
    )


def two_threads():
    """With what two processes at once gain, which share nothing but the processor."""
    text, share = part("two threads", "one thread", 1.7)()
    if share is None:
        return MISSING
    gains = [float(row["ratio"]) for row in rows_of("engine", beside="one process alone")]
    most = f"; two processes: {statistics.geometric_mean(gains):.2f}, least {min(gains):.2f}" if gains else ""
    return text + most, share


def mapped(least, kernels, rows, starts=("warm", "fresh")):
    """The cells of the map of fits with some kernels, numbers of rows and starts."""

    def measure():
        ratios = {}
        for row in rows_of("fit_map"):
            chosen = row["kernel"] in kernels and int(row["rows"]) in rows and row["start"] in starts
            if chosen and row["ratio"]:
                case = f"{row['rows']} x {row['features']}, {row['kernel']}, C = {float(row['C']):g}"
                ratios[f"{case}, {row['start']}"] = float(row["ratio"])
        return spread(ratios, least)

    return measure


def whole(what, seconds, mb=None, memory="growth_mb", case=""):
    """The largest time and memory of some processes, which have to stay below these."""

    def measure():
        rows = [row for row in rows_of("processes", what=what, program=OURS) if case in row["case"]]
        if not rows:
            return MISSING
        slowest = max(float(row["seconds"]) for row in rows)
        text, share = f"{slowest:.2f} s", seconds / slowest
        if mb is not None:
            most = max(float(row[memory]) for row in rows)
            text, share = f"{text}, {most:.0f} MB", min(share, mb / most)
        return text, share

    return measure


def ten_classes():
    rows = {row["program"]: row for row in rows_of("processes", what="ten classes")}
    if OURS not in rows or len(rows) == 1:
        return MISSING
    own = rows.pop(OURS)
    ratio = min(float(row["seconds"]) for row in rows.values()) / float(own["seconds"])
    growth, least = float(own["growth_mb"]), min(float(row["growth_mb"]) for row in rows.values())
    return f"{ratio:.2f}, {growth:.0f} MB, the peer {least:.0f} MB", min(ratio / 1.5, least / growth)


def regressions():
    times = {}
    for row in rows_of("regression_peers", task="fit"):
        times.setdefault(row["problem"], {})[row["peer"]] = float(row["cpu_s"])
    return spread(
        {
            problem: min(seconds for peer, seconds in by_peer.items() if peer != OURS) / by_peer[OURS]
            for problem, by_peer in times.items()
        },
        least=1,
    )


def overhead():
    rows = rows_of("engine", section="estimators", beside="Gram and solve_csvc")
    if not rows:
        return MISSING
    added = {row["case"]: 1e3 * (float(row["seconds"]) - float(row["other_seconds"])) for row in rows}
    most = max(added, key=added.get)
    return f"{min(added.values()):.2f} to {added[most]:.2f} ms more than the fit alone ({most})", 0.2 / added[
        most
    ]


def smo_step():
    ratios = {
        f"{row['rows']} rows": (
            float(row["column_bytes"]) / float(row["random_rows_gb_s"])
            + float(row["state_bytes"]) / float(row["l2_gb_s"])
        )
        / (1e3 * float(row["us_per_step"]))
        for row in rows_of("bandwidth", dtype="float32")
    }
    return spread(ratios, least=1)


def all_of_covtype():
    rows = rows_of("scale", problem="covtype", peer=OURS, threads="2", status="ok")
    if not rows:
        return MISSING
    wall, peak = float(rows[0]["wall_s"]), float(rows[0]["peak_mb"])
    return f"{wall:.0f} s, {peak:.0f} MB, {int(rows[0]['rows']):,} rows", min(360 / wall, 2048 / peak)


# columns of rows that name a Gram matrix, and times
TIMED = ("cell", "kernel", "gamma", "cpu_s", "search_cpu_s", "gram_cpu_s")


def cell_seconds(path):
    """CPU time of each cell of a file of rows, None where no row has one: of its methods, of the searches
    that chose their parameters, and of its Gram matrices, each of which several rows share."""
    table = pq.read_table(path)
    seconds = dict.fromkeys(table["cell"].to_pylist())
    shared = set()
    for row in table.select([name for name in TIMED if name in table.column_names]).to_pylist():
        if row["cpu_s"] is not None:
            times = [row["cpu_s"], row.get("search_cpu_s")]
            matrix = row["cell"], row["kernel"], row["gamma"]
            if matrix not in shared:
                times.append(row.get("gram_cpu_s"))
                shared.add(matrix)
            seconds[row["cell"]] = (seconds[row["cell"]] or 0.0) + sum(filter(None, times))
    return seconds


def all_papers():
    """Of the cells alone, without start-up and input, and as if both cores were always busy."""
    cells = [time for path in PAPERS.glob("*[0-9]/rows/*.parquet") for time in cell_seconds(path).values()]
    times = [time for time in cells if time is not None]
    if not times:
        return MISSING
    hours, longest = sum(times) / 2 / 3600, max(times) / 60
    text = f"{hours:.1f} h ({sum(times) / 60:.0f} CPU minutes), the longest cell {longest:.0f} minutes"
    if len(times) < len(cells):
        text += f", without {len(cells) - len(times)} cells that have no times"
    return text, min(2.5 / hours, 20 / longest)


# what is measured, the target in words, the measurement, and the file that it reads
TARGETS = [
    (
        "fit, RBF, warm, problems tuned on: best peer / ours",
        "above 1 on every problem, mean 2.5",
        lambda: warm_fits(False),
        "compare",
    ),
    (
        "fit, RBF, warm, problems set aside: best peer / ours",
        "above 1 on every problem, mean 2.5",
        lambda: warm_fits(True),
        "compare",
    ),
    (
        "fit in a fresh process: best peer / ours",
        "above 1 on every problem, mean 1.8, 600 MB",
        cold_fits,
        "cold",
    ),
    (
        "fit, linear, 2,500 to 9,500 generated rows: best peer / ours",
        "3 on each",
        mapped(3, ("linear",), MANY_ROWS),
        "fit_map",
    ),
    (
        "fit, RBF, wide and middle, 2,500 to 9,500 generated rows: best peer / ours",
        "1.5 on each",
        mapped(1.5, ("rbf-0.1", "rbf-1"), MANY_ROWS),
        "fit_map",
    ),
    (
        "fit, RBF, narrow, 9,500 generated rows: best peer / ours",
        "1.4 on each",
        mapped(1.4, ("rbf-5",), (9_500,)),
        "fit_map",
    ),
    (
        "first fit of a process, 500 and 1,000 generated rows: best peer / ours",
        "0.9 on each",
        mapped(0.9, ("rbf-0.1", "rbf-1", "rbf-5", "linear"), (500, 1_000), ("fresh",)),
        "fit_map",
    ),
    (
        "linear fit of 9,500 rows, all of its process",
        "100 MB",
        whole("fit", 60, 100, "peak_mb"),
        "processes",
    ),
    ("svmselect loo, 1,000 rows, from start to end", "0.7 s", whole("command", 0.7, case="loo"), "processes"),
    ("leave-one-out of 10,000 rows", "3 s, 500 MB", whole("leave-one-out", 3, 500), "processes"),
    (
        "sparse rows, up to 100,000,000 columns: scikit-learn / ours",
        "1 on each",
        part("sparse rows", "scikit-learn"),
        "engine",
    ),
    (
        "predictions of sparse rows, w8a: scikit-learn / ours",
        "1.2",
        part("sparse rows", "scikit-learn", 1.2, "w8a"),
        "engine",
    ),
    (
        "ten classes, usps: best peer / ours",
        "1.5, memory as the peer's",
        ten_classes,
        "processes",
    ),
    ("regression: fastest of three libraries / ours", "1 on each", regressions, "regression_peers"),
    ("two threads: time of one / of two", "1.7 on each", two_threads, "engine"),
    (
        "100 models x 5 folds, 1,000 rows: liquidSVM with one thread / ours",
        "1.5, on two threads 2.7",
        grids,
        "grid",
    ),
    ("100 folds by unlearning: LIBSVM / ours", "30 on every set", hundred_folds, "folds"),
    (
        "leave-one-out: the faster of the paper's methods / ours",
        "never below 0.95",
        part("leave-one-out", "faster of certified and retrain", 0.95),
        "engine",
    ),
    (
        "Gram matrix: one product of BLAS / ours",
        "1 for every shape",
        part("Gram matrices", "A A' by BLAS"),
        "engine",
    ),
    (
        "predictions: scikit-learn / the estimator",
        "at least 1",
        part("predictions", "scikit-learn"),
        "engine",
    ),
    (
        "predictions: scikit-learn-intelex with float32 rows / the estimator",
        "at least 1",
        part("predictions", "scikit-learn-intelex float32"),
        "engine",
    ),
    ("predictions: the estimator / the function", "at least 1", part("predictions", "estimator"), "engine"),
    (
        "step of SMO: the time that its bytes take, columns from memory and the rest from L2 / its time",
        "1.5 times faster than it was",
        smo_step,
        "bandwidth",
    ),
    ("small problems: what the estimator adds", "0.2 ms", overhead, "engine"),
    ("forest cover type, all rows, RBF, two threads", "6 minutes, 2 GB", all_of_covtype, "scale"),
    ("all five papers on two cores", "2.5 h, no cell above 20 minutes", all_papers, None),
]


def place(row):
    """Processor and kernels of BLAS of a row; unknown where it does not say."""
    return row.get("processor", origin.UNKNOWN), row.get("blas", origin.UNKNOWN)


def report():
    """The table, and what is stale, in Markdown."""
    lines = ["| what | target | today | reached |", "|---|---|---|---|"]
    for what, target, measure, _ in TARGETS:
        text, share = measure()
        reached = (
            "" if share is None else "yes" if share >= 1 else f"no, {math.floor(100 * share) / 100} of it"
        )
        lines.append(f"| {what} | {target} | {text} | {reached} |")
    present = origin.library()
    machines, stale = set(), []
    for path in sorted(RESULTS.glob("*.csv")):
        rows = read_rows(path)
        # a file of ratios names the other library alone
        ours = [row for row in rows if row.get("peer", OURS) == OURS] or rows
        versions = {row.get("library") or row.get("version") for row in ours}
        # what was given up did not come to tell the kernels of BLAS
        places = {name for row in rows if row.get("status", "ok") == "ok" for name in place(row)}
        # one name may stand for processors with other instructions, which the kernels of BLAS tell apart
        machines |= {
            f"{row['processor']} ({row['blas']})" for row in rows if origin.UNKNOWN not in place(row)
        }
        if versions != {present} or origin.UNKNOWN in places:
            stale.append(path.name)
    lines += ["", f"Processors, with the kernels of BLAS: {', '.join(sorted(machines)) or 'unknown'}."]
    if stale:
        lines += ["", f"From other code than {present}, or from an unknown machine: {', '.join(stale)}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "targets.md", metavar="MD")
    options = parser.parse_args()
    text = report()
    with replacing(options.output) as file:
        file.write(text.encode())
    print(text, end="")


if __name__ == "__main__":
    main()
