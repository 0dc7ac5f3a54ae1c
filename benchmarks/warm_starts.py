"""What warm starts save along a path of 8 values of gamma and 8 of C: results/warm_starts.csv.

python benchmarks/warm_starts.py
python benchmarks/warm_starts.py --problems german waveform-2000
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from csv_rows import write_rows
from problems import load_problem, make_data

from svmselect import RBF, Gram, solve_path

RESULTS = Path(__file__).resolve().parent / "results" / "warm_starts.csv"
WARM_STARTS = ("none", "C", "gamma")
CS = 2.0 ** np.arange(-3, 12, 2)
GAMMAS = 2.0 ** np.arange(-5, 3)  # divided by the number of features


def measure(problem, warm_start, tol):
    """One row of the table: iterations and CPU seconds of a whole path, kernel values included."""
    m, d = problem.X.shape
    gammas = GAMMAS / d
    gram = Gram(problem.X, RBF(gammas[0]), dtype="float32", memory_mb=8 * m * m / 2**20 + 1)
    start = time.process_time()
    n_iter = [
        point.solution.n_iter
        for point in solve_path(gram, problem.y, CS, gammas, warm_start=warm_start, tol=tol)
    ]
    return {
        "problem": problem.name,
        "rows": m,
        "tol": tol,
        "warm_start": warm_start,
        "models": len(n_iter),
        "n_iter": sum(n_iter),
        "cpu_s": round(time.process_time() - start, 4),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=["german", "image", "waveform-2000"], metavar="NAME")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    for name in options.problems:
        make_data(name)
    table = []
    for name in options.problems:
        problem = load_problem(name)
        for warm_start in WARM_STARTS:
            table.append(measure(problem, warm_start, options.tol))
            print("  ".join(f"{name} {value}" for name, value in table[-1].items()), flush=True)
    write_rows(options.output, table)


if __name__ == "__main__":
    main()
