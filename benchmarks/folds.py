"""k folds by unlearning, against cold starts, TOP and LIBSVM: results/folds.csv and folds.md.

python benchmarks/folds.py
python benchmarks/folds.py --problems german image --folds 100

Features are standardised (a9a: as they are), gamma = 1/d, one thread.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import origin
from csv_rows import current_rows, write_rows
from problems import load_problem, make_data
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram, cross_validate, stratified_folds

RESULTS = Path(__file__).resolve().parent / "results" / "folds.csv"
PROBLEMS = ["heart", "diabetis", "german", "image", "waveform-2000", "ringnorm-5000", "a9a-5000"]
METHODS = ("cold", "top", "unlearn")
CS = (1, 10, 100)
LIBSVM_S = 20  # CPU seconds that LIBSVM may take: beyond, the folds run stand for all
LONG = 2  # CPU seconds: a longer run is not repeated
KEY = ("problem", "C", "folds")
TIE = 1e-3  # decision values below the tolerance have no sign


def standardised(X):
    if not isinstance(X, np.ndarray):
        return X
    width = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(width > 0, width, 1)


def ours(X, y, C, folds, seeding, repeats):
    """Median CPU time of a cross-validation, kernel values included, and the last one."""
    times = []
    while len(times) < (1 if times and times[0] > LONG else repeats):
        gram = Gram(X, RBF(1 / X.shape[1]), memory_mb=10 * y.size**2 / 2**20 + 1)
        begin = time.process_time()
        run = cross_validate(gram.compute(), y, C, folds, seeding)
        times.append(time.process_time() - begin)
    return statistics.median(times), run


def libsvm(X, y, C, folds):
    """CPU time of all folds, how many were run, and their decision values, NaN elsewhere."""
    k, decision, total = int(folds.max()) + 1, np.full(y.size, np.nan), 0.0
    for h in range(k):
        out = folds == h
        train, held_out = X[~out], X[out]
        begin = time.process_time()
        model = SVC(C=C, gamma=1 / X.shape[1]).fit(train, y[~out])
        decision[out] = model.decision_function(held_out)
        total += time.process_time() - begin
        if total > LIBSVM_S:
            break
    return total * k / (h + 1), h + 1, decision


def measure(name, X, y, C, k, repeats):
    """One row of the table."""
    folds = stratified_folds(y, k)
    row = {"problem": name, "rows": y.size, "features": X.shape[1], "C": C, "folds": k}
    for method in METHODS:
        seconds, run = ours(X, y, C, folds, method, repeats)
        row[f"{method}_cpu_s"] = f"{seconds:.4g}"
    seconds, n_run, theirs = libsvm(X, y, C, folds)
    events = [r.seed_steps for r in run.rounds]
    sure = np.abs(theirs) > TIE
    return row | {
        "libsvm_cpu_s": f"{seconds:.4g}",
        "libsvm_folds_run": n_run,
        "inbound": run.full.n_inbound,
        "events_mean": f"{statistics.mean(events):.4g}",
        "events_most": max(events),
        "folds_trained": sum(r.n_iter > 0 for r in run.rounds),
        "points_compared": int(np.count_nonzero(sure)),
        "points_different": int(np.count_nonzero(((run.decision >= 0) != (theirs >= 0))[sure])),
    }


def report(rows):
    """The table in Markdown: CPU time, and LIBSVM's over that of unlearning."""
    lines = [
        "# Folds by unlearning",
        "",
        "CPU seconds of a cross-validation with kernel values, one thread. LIBSVM is scikit-learn's SVC;",
        f"where it takes more than {LIBSVM_S} s, the folds that it was given stand for all (*).",
        "",
        "| problem | rows | C | k | cold | TOP | unlearn | LIBSVM | cold / unlearn | TOP / unlearn "
        "| LIBSVM / unlearn |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    by_k = {}
    for row in sorted(rows, key=lambda row: int(row["folds"])):
        time = {method: float(row[f"{method}_cpu_s"]) for method in (*METHODS, "libsvm")}
        ratios = [time[method] / time["unlearn"] for method in ("cold", "top", "libsvm")]
        by_k.setdefault(row["folds"], []).append(ratios)
        mark = "*" if int(row["libsvm_folds_run"]) < int(row["folds"]) else ""
        seconds = [f"{time[method]:.3g}" for method in METHODS] + [f"{time['libsvm']:.3g}{mark}"]
        cells = [row["problem"], row["rows"], row["C"], row["folds"], *seconds, *(f"{r:.2g}" for r in ratios)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for k, ratios in by_k.items():
        means = [f"{statistics.geometric_mean(each):.2g}" for each in zip(*ratios, strict=True)]
        lines.append(f"| geometric mean | | | {k} | | | | | {' | '.join(means)} |")
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument("--folds", nargs="+", type=int, default=[10, 100], metavar="K")
    parser.add_argument("--C", nargs="+", type=int, default=CS, metavar="C")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    rows = current_rows(options.output)
    done = {tuple(row[column] for column in KEY) for row in rows}
    for name in options.problems:
        make_data(name)
        problem = load_problem(name)
        X, y = standardised(problem.X), problem.y
        smallest = min((y > 0).sum(), (y < 0).sum())
        with threadpool_limits(1):
            for C in options.C:
                for k in options.folds:
                    if k <= smallest and (name, str(C), str(k)) not in done:
                        rows.append(measure(name, X, y, C, k, options.repeats))
                        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
                        write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
