"""Which seed is best for k-fold cross-validation on a shared Gram matrix: results/seeds.csv and seeds.md.

python benchmarks/seeds.py
python benchmarks/seeds.py --problems german image --folds 10

Features are scaled to [0, 1]; C and gamma are those of the least 5-fold error on a grid, on at most 1,000
rows.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import numpy as np
from csv_rows import current_rows, write_rows
from problems import load_problem, make_data
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram, cross_validate, cross_validate_grid, stratified_folds

RESULTS = Path(__file__).resolve().parent / "results" / "seeds.csv"
PROBLEMS = ["german", "image", "splice", "waveform-2000", "a9a-5000"]
SEEDINGS = ("cold", "sir", "mir", "ato", "avg", "top")
CS = 4.0 ** np.arange(5)
GAMMAS = 4.0 ** np.arange(-3, 1)
MOST_ROWS = {100: 1000}  # of a problem, by number of folds
MOST_FOLDS = {"ato": 10}  # of a seed that takes longer than all fits
SELECTION_ROWS = 1000
LONG = 2  # CPU seconds: a longer run is not repeated
KEY = ("problem", "folds", "seeding")


def scaled(X):
    """Features between 0 and 1; sparse ones are so already, constant ones become 0."""
    if not isinstance(X, np.ndarray):
        return X
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    return (X - low) / np.where(width > 0, width, 1)


def select(X, y):
    """(gamma, C) of the least 5-fold error on the grid."""
    return cross_validate_grid(Gram(X, RBF(1.0)), y, CS, GAMMAS, stratified_folds(y, 5)).best


def measure(name, gram, y, gamma, C, k, seeding, repeats):
    """One row of the table."""
    folds = stratified_folds(y, k)
    run = cross_validate(gram, y, C, folds, seeding)
    if run.seeding_cpu_s + run.training_cpu_s > LONG:
        repeats = 1
    runs = [run, *(cross_validate(gram, y, C, folds, seeding) for _ in range(repeats - 1))]
    return {
        "problem": name,
        "rows": y.size,
        "gamma": gamma,
        "C": C,
        "folds": k,
        "seeding": seeding,
        "n_iter": run.n_iter,
        "n_iter_full": 0 if run.full is None else run.full.n_iter,
        "seeding_cpu_s": f"{statistics.median(r.seeding_cpu_s for r in runs):.4g}",
        "training_cpu_s": f"{statistics.median(r.training_cpu_s for r in runs):.4g}",
        "cpu_s": f"{statistics.median(r.seeding_cpu_s + r.training_cpu_s for r in runs):.4g}",
        "repeats": repeats,
        "errors": int(np.count_nonzero(run.errors)),
    }


def report(rows):
    """The table in Markdown: CPU time and iterations of each seed over those of the cold start."""
    lines = [
        "# Seeds for k-fold cross-validation",
        "",
        "CPU time and iterations of all k fits, with the seeds and the fit of all points (AVG, TOP), over",
        "those of the cold start. The Gram matrix is computed before.",
    ]
    for value, title, form in [("cpu_s", "CPU time", "{:.3g} s"), ("n_iter", "Iterations", "{:,.0f}")]:
        lines += [
            "",
            f"## {title}",
            "",
            "| problem | rows | gamma | C | k | cold | SIR | MIR | ATO | AVG | TOP |",
        ]
        lines += ["|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
        ratios = {seeding: [] for seeding in SEEDINGS[1:]}
        for first in (row for row in rows if row["seeding"] == "cold"):
            model = {
                row["seeding"]: float(row[value])
                for row in rows
                if (row["problem"], str(row["folds"])) == (first["problem"], str(first["folds"]))
            }
            cells = [form.format(model["cold"])]
            for seeding, several in ratios.items():
                if seeding in model:
                    several.append(model[seeding] / model["cold"])
                cells.append(f"{several[-1]:.2f}" if seeding in model else "")
            keys = [f"{float(first[name]):g}" for name in ("gamma", "C", "folds")]
            lines.append(f"| {' | '.join([first['problem'], str(first['rows']), *keys, *cells])} |")
        means = [
            f"{statistics.geometric_mean(several):.2f}" if several else "" for several in ratios.values()
        ]
        lines.append(f"| geometric mean | | | | | | {' | '.join(means)} |")
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument("--folds", nargs="+", type=int, default=[5, 10, 100], metavar="K")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = current_rows(options.output)
    done = {tuple(row[column] for column in KEY) for row in rows}
    for name in options.problems:
        make_data(name)
    for name in options.problems:
        problem = load_problem(name)
        y, X = problem.y, scaled(problem.X)
        counts = [k for k in options.folds if y.size <= MOST_ROWS.get(k, y.size)]
        missing = [
            (k, seeding)
            for k in counts
            for seeding in SEEDINGS
            if k <= MOST_FOLDS.get(seeding, k) and (name, str(k), seeding) not in done
        ]
        if not missing:
            continue
        with threadpool_limits(1):
            gamma, C = select(X[:SELECTION_ROWS], y[:SELECTION_ROWS])
            gram = Gram(X, RBF(gamma), dtype="float32", memory_mb=5 * y.size**2 / 2**20 + 1).compute()
            for k, seeding in missing:
                rows.append(measure(name, gram, y, gamma, C, k, seeding, options.repeats))
                print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
                write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
