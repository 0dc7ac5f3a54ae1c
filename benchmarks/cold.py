"""One fit in a fresh process, as a user calls it, with its peak memory: results/cold.csv.

    python benchmarks/cold.py
    python benchmarks/cold.py --problems a9a w8a --peers svmselect --threads 1 2

The time is that of the call alone, but nothing is warm: code is loaded, and memory is supplied by the system,
while the clock runs. Every library has the budget that its users get by default. README.md has the columns.
OPENBLAS_CORETYPE is unset, and the CSV file names the kernels that BLAS chose.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from compare import OK, cached_problem, identity_of, run_fit
from csv_rows import read_rows, write_rows
from origin import UNKNOWN, processor
from peers import PEERS
from problems import kernel_of, make_data
from quality import assess

RESULTS = Path(__file__).resolve().parent / "results" / "cold.csv"
# problem, C
CASES = [
    *(("a9a", 1.0), ("a9a", 100.0), ("w8a", 1.0)),
    *(("covtype-25000", 10.0), ("covtype-50000", 10.0)),
    # nothing was tuned on these
    *(("usps", 1.0), ("mnist-3v8", 100.0)),
]
COMPARED = ["svmselect", "scikit-learn-intelex float32", "scikit-learn-intelex", "scikit-learn"]
DEFAULT_MB = {"svmselect": 2048}  # budget for kernel values; that of all others is 200
KEY = ("problem", "C", "peer", "threads")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--problems", nargs="+", choices=sorted({name for name, _ in CASES}), metavar="NAME")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=COMPARED, metavar="NAME")
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="processes; 1 beyond 20 s")
    parser.add_argument("--limit", type=int, default=600, metavar="S", help="CPU seconds a fit may take")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    return parser.parse_args()


def measure(problem, C, peer, threads, options, assessed=True):
    """The row of one fit; `assessed` says whether its solution is judged, which takes longer than the fit."""
    task = {"problem": problem, "kernel": "rbf", "C": C, "tol": 1e-3, "peer": peer, "threads": threads}
    task |= {"limit_s": options.limit, "memory_mb": DEFAULT_MB.get(peer, 200), "cold": True}
    row = {"problem": problem, "C": f"{C:g}", "peer": peer, "threads": threads, "version": identity_of(peer)}
    results = []
    while len(results) < options.repeats and not (results and results[0]["cpu_s"] > 20):
        status, result = run_fit(task)
        if status != OK:
            break
        results.append(result)
    row |= {"processor": processor(), "blas": UNKNOWN, "status": status, "repeats": len(results)}
    numbers = dict.fromkeys(("cpu_s", "wall_s", "peak_mb", "peak_before_mb"), "")
    row |= {**numbers, "n_sv": "", "objective": "", "kkt_gap": ""}
    if results:
        row |= {name: f"{statistics.median(float(r[name]) for r in results):.4g}" for name in numbers}
        alpha = results[0]["alpha"]
        row |= {"blas": str(results[0]["blas"]), "n_sv": (alpha > 0).sum()}
        if assessed:
            data = cached_problem(problem)
            quality = assess(data, kernel_of("rbf", data.X.shape[1]), C, alpha, float(results[0]["b"]))
            row |= {"objective": f"{quality.objective:.9g}", "kkt_gap": f"{quality.kkt_gap:.3g}"}
    return row


def report(rows):
    """CPU seconds and peak memory of every library, in Markdown."""
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    lines = [
        "| problem | C | threads | " + " | ".join(f"{peer}, s | MB" for peer in peers) + " |",
        "|---|---:|---:|" + "---:|---:|" * len(peers),
    ]
    cases = {}
    for row in rows:
        cases.setdefault((row["problem"], row["C"], str(row["threads"])), {})[row["peer"]] = row
    for case, of_peer in cases.items():
        cells = []
        for peer in peers:
            row = of_peer.get(peer)
            if row is None or row["status"] != OK:
                cells += ["" if row is None else row["status"], ""]
            else:
                cells += [f"{float(row['cpu_s']):.3g}", f"{float(row['peak_mb']):.0f}"]
        lines.append("| " + " | ".join([*case, *cells]) + " |")
    return "\n".join(lines) + "\n"


def main():
    options = arguments()
    rows = {tuple(row[name] for name in KEY): row for row in read_rows(options.output)}
    for problem, C in CASES:
        if options.problems and problem not in options.problems:
            continue
        make_data(problem)
        for threads in options.threads:
            for peer in options.peers:
                if identity_of(peer) is None:
                    print(f"{peer} is not installed: going on without it", file=sys.stderr)
                    continue
                row = measure(problem, C, peer, threads, options)
                rows[tuple(str(row[name]) for name in KEY)] = row
                write_rows(options.output, list(rows.values()), report(rows.values()))
                print(*row.values(), sep=", ", flush=True)


if __name__ == "__main__":
    main()
