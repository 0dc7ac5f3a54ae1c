"""Tables and figure of the comparison: results/compare.csv -> compare.md, compare.pdf, .svg and .png.

python benchmarks/summary.py
"""

from __future__ import annotations

import argparse
import math
import sys
from itertools import product
from pathlib import Path

from compare import OK, OURS, OVER, RESULTS, read_rows
from matplotlib import rcParams
from matplotlib.figure import Figure
from peers import PEERS
from problems import KERNELS, PROBLEMS, SET_ASIDE

from svmselect.atomic import replacing

LIBSVM = "LIBSVM"
MARKERS = dict(zip(PEERS, "osD^vP", strict=True))
# of Okabe and Ito's palette, which stays distinct with the common forms of colour blindness
COLOURS = dict(zip(PEERS, ("#D55E00", "#0072B2", "#595959", "#009E73", "#CC79A7", "#E69F00"), strict=True))
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.markersize": 5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "svmselect",
    "savefig.dpi": 150,
}


def time_of(threads):
    """The time that counts: of the processor on one thread, on the wall on several."""
    return ("cpu_s_median", "CPU seconds") if threads == 1 else ("wall_s_median", "wall-clock seconds")


def seconds_of(row, column):
    """Seconds of a row, and whether these are only a lower bound; None where it has none."""
    if row is not None and row["status"] == OK:
        return row[column], False
    if row is not None and row["status"] == OVER:
        return float(row["limit_s"]), True
    return None


def cases_of(rows, threads, kernel):
    """Rows of one kernel and number of threads, {(C, problem): {peer: row}}, in the order of the tables."""
    cases = {}
    for row in rows.values():
        if row["threads"] == threads and row["kernel"] == kernel:
            cases.setdefault((row["C"], row["problem"]), {})[row["peer"]] = row
    order = {name: place for place, name in enumerate([*PROBLEMS, *SET_ASIDE])}
    return dict(sorted(cases.items(), key=lambda case: (case[0][0], order.get(case[0][1], len(order)))))


def ratio(case, column, others):
    """Time of the fastest of some peers over ours, and whether it is a lower bound; None without both."""
    ours = seconds_of(case.get(OURS), column)
    times = [found for peer in others if (found := seconds_of(case.get(peer), column))]
    if ours is None or ours[1] or not times:
        return None
    best, bounded = min(times)
    return best / ours[0], bounded


def mean_text(ratios):
    """Geometric mean of ratios as text, after ">" where one of them is a lower bound."""
    ratios = [found for found in ratios if found is not None]
    if not ratios:
        return "n/a"
    mean = math.exp(sum(math.log(value) for value, _ in ratios) / len(ratios))
    return f"{'> ' if any(bounded for _, bounded in ratios) else ''}{mean:.2f}"


def counted(ratios):
    """How many ratios there are, of how many."""
    return f"{sum(found is not None for found in ratios)} of {len(ratios)}"


def cell(row, column):
    """A time as text, marked where the solution disagrees."""
    if row is None:
        return "n/a"
    found = seconds_of(row, column)
    if found is None:
        return "error"
    text = f"> {found[0]:g}" if found[1] else f"{found[0]:.3g}"
    return f"{text} (!)" if row["disagrees"] else text


def markdown(rows):
    """The tables as Markdown, and the tables of means alone."""
    peers = [peer for peer in PEERS if any(row["peer"] == peer for row in rows.values())]
    compared = [LIBSVM], [peer for peer in peers if peer != OURS]
    versions = {peer: {row["version"] for row in rows.values() if row["peer"] == peer} for peer in peers}
    lines = ["# Comparison with other libraries", ""]
    lines += ["; ".join(f"{peer} {', '.join(sorted(versions[peer]))}" for peer in peers) + ".", ""]
    lines += ["Ratios are a peer's time over that of svmselect: above 1, svmselect is faster."]
    every_mean = []
    for threads in sorted({row["threads"] for row in rows.values()}):
        column, unit = time_of(threads)
        lines += ["", f"## {threads} thread{'s' if threads > 1 else ''}: {unit}, median", ""]
        lines += ["| kernel | C | problem | " + " | ".join(peers) + " | LIBSVM / ours | best peer / ours |"]
        lines += ["|---|---:|---|" + "---:|" * (len(peers) + 2)]
        means = []
        for kernel in KERNELS:
            cases = cases_of(rows, threads, kernel)
            for (C, problem), case in cases.items():
                cells = [cell(case.get(peer), column) for peer in peers]
                cells += [mean_text([ratio(case, column, group)]) for group in compared]
                lines += [f"| {kernel} | {C:g} | {problem} | " + " | ".join(cells) + " |"]
            for C, aside in product([None, *sorted({C for C, _ in cases})], (False, True)):
                chosen = [
                    case
                    for key, case in cases.items()
                    if C in (None, key[0]) and aside == (key[1] in SET_ASIDE)
                ]
                ratios = [[ratio(case, column, group) for case in chosen] for group in compared]
                cells = [
                    kernel,
                    "all" if C is None else f"{C:g}",
                    "set aside" if aside else "tuned on",
                    counted(ratios[1]),
                    *map(mean_text, ratios),
                ]
                means.append(f"| {' | '.join(cells)} |")
        lines += ["", "Geometric means of the ratios:", ""]
        lines += ["| kernel | C | problems | how many | LIBSVM / ours | best peer / ours |"]
        lines += ["|---|---:|---|---:|---:|---:|"]
        lines += means
        every_mean += ["", f"{threads} thread{'s' if threads > 1 else ''}:", "", *lines[-2 - len(means) :]]
    marked = [row for row in rows.values() if row["disagrees"]]
    lines += ["", f"(!) Solutions that disagree with the best one: {len(marked)}."]
    for row in marked:
        where = f"{row['problem']}, {row['kernel']}, C = {row['C']:g}, {row['threads']} thread(s)"
        lines += [f"- {row['peer']}, {where}: {row['disagrees']}"]
    failed = [row for row in rows.values() if row["status"] not in (OK, OVER)]
    lines += [f"- {row['peer']}, {row['problem']}, {row['kernel']}: {row['status']}" for row in failed]
    return "\n".join([*lines, ""]), "\n".join([*every_mean, ""])


def draw(rows, threads, stem):
    """The figure: time of every peer on every problem, a panel for each kernel and C."""
    column, unit = time_of(threads)
    panels = [
        (kernel, C) for kernel in KERNELS for C in sorted({C for C, _ in cases_of(rows, threads, kernel)})
    ]
    problems = [
        name for name in [*PROBLEMS, *SET_ASIDE] if any(row["problem"] == name for row in rows.values())
    ]
    problems += sorted({row["problem"] for row in rows.values()} - set(problems))
    height = 0.9 + 0.26 * len(problems)
    across = max(1, -(-len(panels) // 2))
    rcParams.update(STYLE)
    fig = Figure(figsize=(4.6 * across, 2 * height), layout="constrained")
    axes = fig.subplots(2, across, squeeze=False, sharex=True, sharey=True)
    for place, (ax, (kernel, C)) in enumerate(zip(axes.flat, panels, strict=False)):
        cases = cases_of(rows, threads, kernel)
        for peer in reversed(PEERS):
            style = {"marker": MARKERS[peer], "color": COLOURS[peer], "linestyle": "none"}
            points = [
                (*found, problems.index(problem))
                for (at, problem), case in cases.items()
                if at == C and (found := seconds_of(case.get(peer), column))
            ]
            for bounded in (False, True):
                chosen = [(seconds, at) for seconds, flag, at in points if flag == bounded]
                hollow = {"markerfacecolor": "none"} if bounded else {}
                ax.plot(*zip(*chosen, strict=True) if chosen else ([], []), **style, **hollow)
            ax.plot([], [], label=peer, **style)
        ax.set_title(f"{kernel}, C = {C:g}")
        ax.set_xscale("log")
        ax.set_yticks(range(len(problems)), problems)
        ax.grid(axis="both", color="#DDDDDD", linewidth=0.6)
        ax.set_axisbelow(True)
        if place >= len(panels) - across:
            ax.set_xlabel(f"{unit} (hollow: stopped at the limit)")
    axes.flat[0].set_ylim(len(problems) - 0.5, -0.5)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    fig.legend(handles[::-1], labels[::-1], loc="outside upper center", ncols=len(PEERS))
    title = f"Training time, {threads} thread(s)"
    description = f"Median {unit} of each library on each problem, log scale"
    # without a date, the same numbers make the same bytes
    metadata = {
        "pdf": {"Title": title, "Subject": description, "CreationDate": None},
        "svg": {"Title": title, "Description": description, "Date": None},
        "png": None,
    }
    for suffix, stamp in metadata.items():
        with replacing(Path(f"{stem}.{suffix}")) as file:
            fig.savefig(file, format=suffix, metadata=stamp)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", nargs="?", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = read_rows(options.input)
    if not rows:
        sys.exit(f"no rows in {options.input}: run compare.py first")
    text, means = markdown(rows)
    contents = {f"{options.input.stem}.md": text, f"{options.input.stem}_means.md": means.lstrip()}
    for name, content in contents.items():
        with replacing(options.input.with_name(name)) as file:
            file.write(content.encode())
    print(text)
    for threads in sorted({row["threads"] for row in rows.values()}):
        stem = options.input.with_suffix("")
        draw(rows, threads, stem if threads == 1 else f"{stem}-{threads}-threads")


if __name__ == "__main__":
    main()
