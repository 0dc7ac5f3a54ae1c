"""What all left-out decision values cost beyond the leave-one-out error: results/loo_decisions.csv.

python benchmarks/loo_decisions.py
python benchmarks/loo_decisions.py --problems heart german

`leave_one_out` of 64 RBF models (the grid of `loo_grid.py`) with and without ``decision_values=True``, in
turn, on one thread: CPU seconds over all models, the full solution included, kernel values not. README.md has
the columns.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from csv_rows import current_rows, write_rows
from loo_grid import CS, GAMMAS
from problems import load_problem, make_data
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram, leave_one_out

RESULTS = Path(__file__).resolve().parent / "results" / "loo_decisions.csv"
PROBLEMS = ["heart", "german", "image", "waveform-400", "waveform-2000"]


def compare(name, X, y, repeats):
    """The row of one problem."""
    gamma = 1 / (X.shape[1] * X.var())
    times, errors = np.empty((repeats, 2, GAMMAS.size, CS.size)), np.empty((GAMMAS.size, CS.size))
    paths = retrained = lost = 0
    gram_s = 0.0
    for g, factor in enumerate(GAMMAS):
        begin = time.process_time()
        gram = Gram(X, RBF(gamma * factor)).compute()
        gram_s += time.process_time() - begin
        for c, C in enumerate(CS):
            for repeat in range(repeats):
                for k, decision_values in enumerate((False, True)):
                    loo = leave_one_out(gram, y, C, decision_values=decision_values)
                    times[repeat, k, g, c] = loo.cpu_s
            errors[g, c] = loo.error
            paths += loo.n_solved
            retrained += loo.n_retrained
            lost += loo.n_not_converged
    error_s, decisions_s = np.median(times, axis=0)
    ratio, best = decisions_s / error_s, np.unravel_index(errors.argmin(), errors.shape)
    return {
        "problem": name,
        "rows": y.size,
        "models": errors.size,
        "gram_cpu_s": f"{gram_s:.4g}",
        "error_cpu_s": f"{error_s.sum():.4g}",
        "decisions_cpu_s": f"{decisions_s.sum():.4g}",
        "ratio": f"{decisions_s.sum() / error_s.sum():.3g}",
        "ratio_of_best": f"{ratio[best]:.3g}",
        "median_ratio": f"{np.median(ratio):.3g}",
        "largest_ratio": f"{ratio.max():.3g}",
        "largest_extra_s": f"{(decisions_s - error_s).max():.3g}",
        "paths": paths,
        "retrained": retrained,
        "not_converged": lost,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of each call")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = current_rows(options.output)
    done = {row["problem"] for row in rows}
    for name in options.problems:
        if name in done:
            continue
        make_data(name)
        problem = load_problem(name)
        with threadpool_limits(1):
            row = compare(name, problem.X, problem.y, options.repeats)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        rows.append(row)
        write_rows(options.output, rows)


if __name__ == "__main__":
    main()
