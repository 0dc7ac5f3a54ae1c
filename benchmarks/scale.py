"""Growth of time and memory with the rows: results/scale.csv, scale.md, .pdf and .svg.

python benchmarks/scale.py
python benchmarks/scale.py --rows 1000 10000 --threads 1

Fits in fresh processes, as those of cold.py, on the first rows of forest cover type. A library that is over
the limit, or fails, is not measured on more rows.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cold import COMPARED, measure
from compare import OK, OURS, identity_of
from csv_rows import read_rows, write_rows
from matplotlib import rc_context
from matplotlib.figure import Figure
from peers import PEERS
from problems import load_problem, make_data
from summary import COLOURS, MARKERS, STYLE

from svmselect.atomic import replacing

RESULTS = Path(__file__).resolve().parent / "results" / "scale.csv"
C = 10.0
SIZES = [1_000, 3_000, 10_000, 25_000, 50_000, 100_000, 200_000]
ALL = "all"
ASSESSED = 25_000  # rows of the largest problem whose solutions are judged
KEY = ("problem", "peer", "threads")
PANELS = (("wall_s", "seconds"), ("peak_mb", "peak memory, MB"))


def problem_of(size):
    return "covtype" if size == ALL else f"covtype-{size}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument(
        "--rows", nargs="+", default=[*map(str, SIZES), ALL], choices=[*map(str, SIZES), ALL], metavar="N"
    )
    parser.add_argument(
        "--peers", nargs="+", choices=PEERS, metavar="NAME", help="each with all rows and threads"
    )
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2], metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="processes; 1 beyond 20 s")
    parser.add_argument("--limit", type=int, default=700, metavar="S", help="CPU seconds per thread")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    return parser.parse_args()


def is_affordable(peer, threads, rows):
    """Return whether a fit is measured by default: the largest ones take ten minutes and more."""
    if peer == OURS:
        return threads > 1 or rows <= 200_000
    return threads == 1 and rows <= 100_000


def curves(rows):
    """{(peer, threads): rows that were measured, by size}."""
    found = {}
    for row in sorted(rows, key=lambda row: int(row["rows"])):
        if row["status"] == OK:
            found.setdefault((row["peer"], int(row["threads"])), []).append(row)
    return found


def draw(rows, path):
    """Time and peak memory over the rows, dashed with one thread."""
    with rc_context(STYLE):
        figure = Figure(figsize=(7.0, 3.2), layout="constrained")
        axes = figure.subplots(1, 2)
        for (peer, threads), points in curves(rows).items():
            for axis, (column, _) in zip(axes, PANELS, strict=True):
                axis.loglog(
                    [int(point["rows"]) for point in points],
                    [float(point[column]) for point in points],
                    "--" if threads == 1 else "-",
                    marker=MARKERS[peer],
                    color=COLOURS[peer],
                    label=f"{peer}, {threads} thread{'s' * (threads > 1)}",
                )
        for axis, (_, label) in zip(axes, PANELS, strict=True):
            axis.set_xlabel("rows")
            axis.set_ylabel(label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        for suffix in ("pdf", "svg"):
            stamp = {"Date" if suffix == "svg" else "CreationDate": None}
            with replacing(path.with_suffix(f".{suffix}")) as file:
                figure.savefig(file, format=suffix, metadata=stamp)


def report(rows):
    """A table of sizes and libraries, in Markdown."""
    several = list(curves(rows))
    lines = [
        "| rows | " + " | ".join(f"{peer}, {threads} thr." for peer, threads in several) + " |",
        "|---:" * (len(several) + 1) + "|",
    ]
    for size in sorted({int(row["rows"]) for row in rows}):
        cells = []
        for key in several:
            found = [
                row for row in rows if (row["peer"], int(row["threads"])) == key and int(row["rows"]) == size
            ]
            if not found or found[0]["status"] != OK:
                cells.append(found[0]["status"] if found else "")
            else:
                cells.append(f"{float(found[0]['wall_s']):.3g} s, {float(found[0]['peak_mb']):.0f} MB")
        lines.append(f"| {size:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    rows = {tuple(row[name] for name in KEY): row for row in read_rows(options.output)}
    ended = set()
    for size in options.rows:
        problem = problem_of(size)
        make_data(problem)
        m = load_problem(problem).y.size
        for threads in options.threads:
            for peer in options.peers or COMPARED:
                if not options.peers and not is_affordable(peer, threads, m):
                    continue
                if identity_of(peer) is None:
                    print(f"{peer} is not installed: going on without it", file=sys.stderr)
                    continue
                if (peer, threads) in ended:
                    continue
                row = {**measure(problem, C, peer, threads, options, assessed=m <= ASSESSED), "rows": m}
                if row["status"] != OK:
                    ended.add((peer, threads))
                rows[tuple(str(row[name]) for name in KEY)] = row
                write_rows(options.output, list(rows.values()), report(rows.values()))
                print(*row.values(), sep=", ", flush=True)
    draw(rows.values(), options.output)


if __name__ == "__main__":
    main()
