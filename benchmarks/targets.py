"""What the library is to reach, beside what the other programs measured: results/targets.md.

python benchmarks/targets.py

Reads the CSV files of results/, and names at the end those whose rows come from other code than what is
installed.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import origin
from csv_rows import read_rows
from problems import SET_ASIDE

RESULTS = Path(__file__).resolve().parent / "results"
OURS = "svmselect"


def rows_of(name, **wanted):
    """The rows of a file that have these values."""
    rows = read_rows(RESULTS / f"{name}.csv")
    return [row for row in rows if all(row[column] == value for column, value in wanted.items())]


def spread(ratios, unit=""):
    """Geometric mean and least of some ratios, as text."""
    ratios = list(ratios)
    if not ratios:
        return "not measured", None
    mean, least = statistics.geometric_mean(ratios), min(ratios)
    return f"{mean:.2f}{unit} (least {least:.2f}, {len(ratios)} cases)", least


def over_best_peer(rows, column, key):
    """For every case, the time of the fastest other library over ours."""
    cases = {}
    for row in rows:
        if row["status"] == "ok":
            cases.setdefault(tuple(row[name] for name in key), {})[row["peer"]] = float(row[column])
    return {
        case: min(seconds for peer, seconds in times.items() if peer != OURS) / times[OURS]
        for case, times in cases.items()
        if OURS in times and len(times) > 1
    }


def warm_fits(aside):
    ratios = over_best_peer(rows_of("compare", threads="1", kernel="rbf"), "cpu_s_median", ("problem", "C"))
    return spread(ratio for (problem, _), ratio in ratios.items() if aside == (problem in SET_ASIDE))


def cold_fits():
    rows = rows_of("cold", threads="1")
    text, least = spread(over_best_peer(rows, "cpu_s", ("problem", "C")).values())
    peak = [float(row["peak_mb"]) for row in rows if row["peer"] == OURS]
    return (f"{text}; peak memory at most {max(peak):.0f} MB" if peak else text), least


def second_thread():
    return spread(float(row["ratio"]) for row in rows_of("engine", section="two threads"))


def grids():
    rows = {(row["peer"], row["threads"]): row for row in rows_of("grid", grid="liquidSVM")}
    found = []
    for threads in ("1", "2"):
        ours, theirs = (rows.get((peer, threads)) for peer in (OURS, "liquidSVM"))
        if ours and theirs:
            one = rows[("liquidSVM", "1")]
            found.append(float(one["wall_s"]) / float(ours["wall_s"]))
    if not found:
        return "not measured", None
    return ", ".join(f"{ratio:.2f} on {n} thread{'s' * (n > 1)}" for n, ratio in enumerate(found, 1)), found[
        0
    ]


def hundred_folds():
    rows = rows_of("folds", folds="100")
    return spread(float(row["libsvm_cpu_s"]) / float(row["unlearn_cpu_s"]) for row in rows)


def part(section, beside):
    return lambda: spread(float(row["ratio"]) for row in rows_of("engine", section=section, beside=beside))


def overhead():
    rows = rows_of("engine", section="estimators", beside="Gram and solve_csvc")
    if not rows:
        return "not measured", None
    most = max(1e3 * (float(row["seconds"]) - float(row["other_seconds"])) for row in rows)
    return f"{most:.2f} ms more than the fit alone, at most", 0.2 / most


def smo_step():
    ratios = [
        (
            float(row["column_bytes"]) / float(row["random_rows_gb_s"])
            + float(row["state_bytes"]) / float(row["l2_gb_s"])
        )
        / (1e3 * float(row["us_per_step"]))
        for row in rows_of("bandwidth", dtype="float32")
    ]
    return spread(ratios)


def all_of_covtype():
    rows = rows_of("scale", problem="covtype", peer=OURS, threads="2", status="ok")
    if not rows:
        return "not measured", None
    wall, peak = float(rows[0]["wall_s"]), float(rows[0]["peak_mb"])
    return f"{wall:.0f} s, {peak:.0f} MB, {int(rows[0]['rows']):,} rows", min(600 / wall, 2048 / peak)


# what is measured, the target in words, the measurement, what its least number is to reach, and the file
TARGETS = [
    (
        "fit, warm: best peer / ours",
        "above 1 on every problem, mean 2.5",
        lambda: warm_fits(False),
        1,
        "compare",
    ),
    (
        "the same, on problems set aside",
        "above 1 on every problem, mean 2.5",
        lambda: warm_fits(True),
        1,
        "compare",
    ),
    ("fit in a fresh process: best peer / ours", "above 1.2 everywhere, 600 MB", cold_fits, 1.2, "cold"),
    ("two threads: time of one / of two", "1.7 on each", second_thread, 1.7, "engine"),
    (
        "100 models x 5 folds, 1,000 rows: liquidSVM with one thread / ours",
        "1.5, on two threads 2.7",
        grids,
        1.5,
        "grid",
    ),
    ("100 folds by unlearning: LIBSVM / ours", "30 on every set", hundred_folds, 30, "folds"),
    (
        "leave-one-out: the faster of the paper's methods / ours",
        "never below 1",
        part("leave-one-out", "faster of certified and retrain"),
        1,
        "engine",
    ),
    (
        "Gram matrix: one product of BLAS / ours",
        "1 for every shape",
        part("Gram matrices", "A A' by BLAS"),
        1,
        "engine",
    ),
    (
        "predictions: scikit-learn / the estimator",
        "at least 1",
        part("predictions", "scikit-learn"),
        1,
        "engine",
    ),
    (
        "predictions: scikit-learn-intelex with float32 rows / the estimator",
        "at least 1",
        part("predictions", "scikit-learn-intelex float32"),
        1,
        "engine",
    ),
    (
        "predictions: the estimator / the function",
        "at least 1",
        part("predictions", "estimator"),
        1,
        "engine",
    ),
    (
        "step of SMO: the time that its bytes take, columns from memory and the rest from L2 / its time",
        "1.5 times faster than it was",
        smo_step,
        1,
        "bandwidth",
    ),
    ("small problems: what the estimator adds", "0.2 ms", overhead, 1, "engine"),
    ("forest cover type, all rows, RBF, two threads", "10 minutes, 2 GB", all_of_covtype, 1, "scale"),
]


def report():
    """The table, and what is stale, in Markdown."""
    lines = ["| what | target | today | reached |", "|---|---|---|---|"]
    for what, target, measure, wanted, _ in TARGETS:
        text, least = measure()
        reached = "" if least is None else "yes" if least >= wanted else "no"
        lines.append(f"| {what} | {target} | {text} | {reached} |")
    present = origin.library()
    machines, stale = set(), []
    for name in dict.fromkeys(target[-1] for target in TARGETS):
        rows = read_rows(RESULTS / f"{name}.csv")
        versions = {row.get("library") or row.get("version") for row in rows if row.get("peer", OURS) == OURS}
        machines |= {row["processor"] for row in rows if row.get("processor")}
        if versions != {present}:
            stale.append(name)
    lines += ["", f"Processors: {', '.join(sorted(machines)) or 'unknown'}."]
    if stale:
        lines += ["", f"From other code than {present}: {', '.join(f'{name}.csv' for name in stale)}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--output", type=Path, default=RESULTS / "targets.md", metavar="MD")
    options = parser.parse_args()
    text = report()
    options.output.write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
