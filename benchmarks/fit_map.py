"""A map of fits over rows, features, kernels and C: results/fit_map.csv, .md, .pdf, .svg and .png.

    python benchmarks/fit_map.py                                    # all of it: an hour and a half; resumes
    python benchmarks/fit_map.py --rows 600 2500 9500 --features 20
    python benchmarks/fit_map.py --draw                             # the figure alone

Each cell is a generated mixture of twelve normal distributions. Peers take turns with the library, on one
thread, each fit in a process of its own: "warm" as in compare.py, "fresh" as in cold.py. With more than
6,000 rows the only peer is scikit-learn-intelex with float32 rows.
"""

from __future__ import annotations

import argparse
import math
from itertools import product
from pathlib import Path

from cold import DEFAULT_MB
from compare import CLEAR, LONG, OK, OURS, identity_of, present, run_fit
from csv_rows import read_rows, write_rows
from matplotlib import rc_context
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from origin import processor
from peers import PEERS
from summary import STYLE

from svmselect.atomic import replacing

RESULTS = Path(__file__).resolve().parent / "results" / "fit_map.csv"
SIZES = [500, 1_000, 2_500, 6_000, 9_500, 20_000]
MOST_FOR_ALL = 6_000  # rows; with more, only the peer that is nearly always the fastest there is fitted
FEATURES = [4, 20, 68, 250]
MODELS = [*product(("rbf-0.1", "rbf-1", "rbf-5"), (1.0, 100.0)), ("linear", 1.0)]
STARTS = ("warm", "fresh")
FASTEST = "scikit-learn-intelex float32"  # of most cells with many rows
COMPARED = (FASTEST, "scikit-learn")
WARM_MB = 2048  # budget for kernel values of every library; in a fresh process each has its default
KEY = ("rows", "features", "kernel", "C", "start")
# A loss is red, a tie within the noise of one run pale; the number is written in each cell as well.
BOUNDS = (1.0, 1.5)
RED, PALE, BLUE = "#D55E00", "#E8E8E8", "#9AC7E3"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--rows", nargs="+", type=int, default=SIZES, metavar="N")
    parser.add_argument("--features", nargs="+", type=int, default=FEATURES, metavar="N")
    parser.add_argument(
        "--kernels", nargs="+", choices=sorted({kernel for kernel, _ in MODELS}), metavar="NAME"
    )
    parser.add_argument("--starts", nargs="+", choices=STARTS, default=STARTS, metavar="NAME")
    parser.add_argument("--peers", nargs="+", choices=PEERS, metavar="NAME", help="each in all cells")
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help=f"fits; 1 beyond {LONG} s, or if no peer is near"
    )
    parser.add_argument("--limit", type=int, default=600, metavar="S", help="CPU seconds a fit may take")
    parser.add_argument("--draw", action="store_true", help="draw what the CSV file has")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    return parser.parse_args()


def peers_of(rows, installed, named):
    """The peers of a cell, of those that are installed; `named` says whether the user chose them."""
    if rows > MOST_FOR_ALL and FASTEST in installed and not named:
        return [FASTEST]
    return list(installed)


def measure(cell, peers, options):
    """The row of a cell: the median time of the library, and that of the fastest peer."""
    rows, features, kernel, C, start = cell
    task = {"problem": f"mixture-{features}-{rows}", "kernel": kernel, "C": C, "tol": 1e-3, "threads": 1}
    task |= {"limit_s": options.limit, "cold": start == "fresh"}
    times = {peer: [] for peer in (OURS, *peers)}
    # the libraries take turns; one that fails or takes long has one turn, and so have all if none is near
    for turn in range(options.repeats):
        first = {peer: results[0]["cpu_s"] for peer, results in times.items() if results}
        limit = CLEAR * first.pop(OURS, 0)
        if turn and min(first.values(), default=0) > limit:
            break
        for peer, measured in times.items():
            if len(measured) < turn or (measured and measured[0]["cpu_s"] > LONG):
                continue
            memory_mb = DEFAULT_MB.get(peer, 200) if start == "fresh" else WARM_MB
            status, result = run_fit({**task, "peer": peer, "memory_mb": memory_mb})
            if status == OK:
                measured.append(result)
    seconds = {
        peer: sorted(float(result["cpu_s"]) for result in results)[len(results) // 2]
        for peer, results in times.items()
        if results
    }
    best = min((peer for peer in seconds if peer != OURS), key=seconds.get, default="")
    row = dict(zip(KEY, map(str, cell), strict=True)) | {"version": identity_of(OURS), "peer": best}
    row |= {"cpu_s": "", "peer_cpu_s": "", "ratio": ""}
    if best and OURS in seconds:
        row |= {"cpu_s": f"{seconds[OURS]:.4g}", "peer_cpu_s": f"{seconds[best]:.4g}"}
        row["ratio"] = f"{seconds[best] / seconds[OURS]:.3g}"
    return row


def by_start(rows):
    """{start: {(features, kernel, C): {rows: ratio}}} of the cells that were measured."""
    maps = {start: {} for start in STARTS}
    for row in rows:
        if row["ratio"]:
            model = int(row["features"]), row["kernel"], float(row["C"])
            maps[row["start"]].setdefault(model, {})[int(row["rows"])] = float(row["ratio"])
    return {start: dict(sorted(cells.items())) for start, cells in maps.items() if cells}


def name_of(model):
    features, kernel, C = model
    kernel = kernel.replace("rbf-", "RBF, gamma = ") + "/d" * kernel.startswith("rbf")
    return f"d = {features}, {kernel}, C = {C:g}"


def draw(rows, path):
    """A panel for warm fits and one for fresh processes: best peer over the library in each cell."""
    maps = by_start(rows)
    sizes = sorted({size for cells in maps.values() for ratios in cells.values() for size in ratios})
    models = sorted({model for cells in maps.values() for model in cells})
    with rc_context({**STYLE, "font.size": 7, "axes.titlesize": 8}):
        figure = Figure(figsize=(3 + 0.85 * len(sizes), 1 + 0.17 * len(models)), layout="constrained")
        axes = figure.subplots(1, len(maps), sharey=True, squeeze=False)[0]
        for axis, (start, cells) in zip(axes, maps.items(), strict=True):
            values = [[cells.get(model, {}).get(size, math.nan) for size in sizes] for model in models]
            shades = [
                [sum(value >= bound for bound in BOUNDS) if value == value else math.nan for value in line]
                for line in values
            ]
            axis.imshow(shades, cmap=ListedColormap([RED, PALE, BLUE]), vmin=0, vmax=2, aspect="auto")
            for y, line in enumerate(values):
                for x, value in enumerate(line):
                    if value == value:
                        weight = "bold" if value < 1 else "normal"
                        axis.text(x, y, f"{value:.2g}", ha="center", va="center", weight=weight)
            axis.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes], rotation=45)
            axis.set_xlabel("rows")
            axis.set_title("warm" if start == "warm" else "fresh process")
        axes[0].set_yticks(range(len(models)), map(name_of, models))
        figure.suptitle(
            "CPU time of the fastest peer over that of svmselect: red below 1, grey below 1.5", fontsize=8
        )
        for suffix in ("pdf", "svg", "png"):
            stamp = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(suffix)
            with replacing(path.with_suffix(f".{suffix}")) as file:
                figure.savefig(file, format=suffix, metadata=stamp)


def report(rows):
    """Means, least ratios and losses by number of rows, in Markdown."""
    lines = ["| rows | start | cells | mean | least | losses |", "|---:|---|---:|---:|---:|---:|"]
    for start, cells in by_start(rows).items():
        for size in sorted({size for ratios in cells.values() for size in ratios}):
            ratios = [line[size] for line in cells.values() if size in line]
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            numbers = f"{len(ratios)} | {mean:.2f} | {min(ratios):.2f} | {sum(r < 1 for r in ratios)}"
            lines.append(f"| {size:,} | {start} | {numbers} |")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    rows = {tuple(row[name] for name in KEY): row for row in read_rows(options.output)}
    installed = present(options.peers, COMPARED)
    cells = product(options.rows, options.features, MODELS, options.starts)
    for m, d, (kernel, C), start in () if options.draw else cells:
        cell = m, d, kernel, C, start
        key = tuple(map(str, cell))
        measured = rows.get(key, {})
        is_done = (measured.get("version"), measured.get("processor")) == (identity_of(OURS), processor())
        if is_done or (options.kernels and kernel not in options.kernels):
            continue
        rows[key] = measure(cell, peers_of(m, installed, named=bool(options.peers)), options)
        write_rows(options.output, list(rows.values()), report(rows.values()))
        print(*rows[key].values(), sep=", ", flush=True)
    draw(rows.values(), options.output)


if __name__ == "__main__":
    main()
