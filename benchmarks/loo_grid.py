"""Grids by leave-one-out and by 10-fold cross-validation, against scikit-learn: results/loo_grid.csv and .md.

python benchmarks/loo_grid.py
python benchmarks/loo_grid.py --problems heart german --models 64

`LOOSearchCV` and `SeededCV` against `GridSearchCV` with `LeaveOneOut()` and with 10 folds, on one thread.
With fewer models than the grid has, GridSearchCV's time for leave-one-out is extrapolated from these, and
marked. README.md has the columns.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import sklearn.svm
from csv_rows import current_rows, write_rows
from problems import load_problem, make_data
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold
from threadpoolctl import threadpool_limits

from svmselect.sklearn import SVC, LOOSearchCV, SeededCV

RESULTS = Path(__file__).resolve().parent / "results" / "loo_grid.csv"
PROBLEMS = ["heart", "waveform-400", "diabetis", "german", "image"]
CS = 2.0 ** np.arange(-3, 12, 2)
GAMMAS = 2.0 ** np.arange(-10, 5, 2)  # times that of "scale"
FOLDS = 10
MOST_FITS = 20_000  # of scikit-learn in a grid by leave-one-out; beyond, it is extrapolated
FEW = 3  # models that it is extrapolated from
EXACT = 1e-8  # KKT gap of the fits that decide a point on which the two differ


def timed(search, X, y):
    """A fitted search, and its CPU and wall-clock seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    search.fit(X, y)
    return search, np.array([time.process_time() - cpu, time.perf_counter() - wall])


def splits(search):
    """Accuracy of each model in each split, shape (n_models, n_splits)."""
    names = [f"split{h}_test_score" for h in range(search.n_splits_)]
    return np.column_stack([search.cv_results_[name] for name in names])


def theirs(X, y, models, cv):
    """GridSearchCV model by model: accuracies in each split, and the times, shape (n_models, 2)."""
    runs = [
        timed(GridSearchCV(sklearn.svm.SVC(), {k: [v] for k, v in model.items()}, cv=cv, refit=False), X, y)
        for model in models
    ]
    return np.vstack([splits(search) for search, _ in runs]), np.array([times for _, times in runs])


def ours(X, y, search, repeats):
    """The search, and the median of its times."""
    runs = [timed(search, X, y)[1] for _ in range(repeats)]
    return search, np.median(runs, axis=0)


def spread(times, n):
    """Numbers of n models, evenly spread from the fastest to the slowest."""
    places = ((np.arange(n) + 0.5) / n * times.size).astype(int)
    return np.sort(np.argsort(times, kind="stable")[places])


def settle(X, y, model, row, right):
    """Whether scikit-learn trained to `EXACT` without a row finds what we did."""
    rest = np.arange(y.size) != row
    exact = sklearn.svm.SVC(**model, tol=EXACT).fit(X[rest], y[rest])
    return (exact.predict(X[[row]])[0] == y[row]) == right


def compare(name, X, y, n_models, repeats):
    """The rows of one problem: 10 folds, and leave-one-out."""
    gamma = 1 / (X.shape[1] * X.var())
    grid = {"C": CS.tolist(), "gamma": (gamma * GAMMAS).tolist()}
    folds = StratifiedKFold(FOLDS)
    LOOSearchCV(param_grid=grid, refit=False).fit(X[:50], y[:50])  # the first one pays for imports and memory

    search, mine = ours(X, y, SeededCV(param_grid=grid, cv=folds, refit=False), repeats)
    models = search.cv_results_["params"]
    accuracy, ten_fold = theirs(X, y, models, folds)
    sizes = np.array([test.size for _, test in folds.split(X, y)])
    head = {"problem": name, "rows": y.size, "features": X.shape[1], "models": len(models)}
    yield head | {
        "method": f"{FOLDS}-fold",
        **times_of(mine, ten_fold.sum(axis=0), len(models), len(models)),
        "error": f"{1 - search.best_score_:.4f}",
        "points_compared": len(models) * y.size,
        "points_different": round((np.abs(splits(search) - accuracy) @ sizes).sum()),
        "settled_for_svmselect": "",
    }

    search, mine = ours(X, y, LOOSearchCV(param_grid=grid, refit=False), repeats)
    if n_models is None:
        n_models = len(models) if len(models) * y.size <= MOST_FITS else FEW
    chosen = spread(ten_fold[:, 0], n_models)
    accuracy, times = theirs(X, y, [models[n] for n in chosen], LeaveOneOut())
    right = np.array([SVC(**models[n]).fit(X, y).loo_predictions_ == y for n in chosen])
    np.testing.assert_allclose(right.mean(axis=1), search.cv_results_["mean_test_score"][chosen])
    different = np.argwhere(right != accuracy)
    settled = [settle(X, y, models[chosen[n]], row, right[n, row]) for n, row in different]
    # a model's time by leave-one-out is taken to be a multiple of its time by 10 folds
    total = ten_fold.sum(axis=0) * times.sum(axis=0) / ten_fold[chosen].sum(axis=0)
    yield head | {
        "method": "leave-one-out",
        **times_of(mine, total, len(chosen), len(models)),
        "error": f"{1 - search.best_score_:.4f}",
        "points_compared": right.size,
        "points_different": len(different),
        "settled_for_svmselect": sum(settled),
    }


def times_of(mine, other, measured, models):
    """The columns of the times; where not all models were measured, they are marked."""
    return {
        "svmselect_cpu_s": f"{mine[0]:.4g}",
        "svmselect_wall_s": f"{mine[1]:.4g}",
        "sklearn_cpu_s": f"{other[0]:.4g}",
        "sklearn_wall_s": f"{other[1]:.4g}",
        "sklearn_models": measured,
        "extrapolated": "yes" if measured < models else "no",
        "speedup": f"{other[0] / mine[0]:.4g}",
    }


def report(rows):
    """The table in Markdown; a star marks what was extrapolated."""
    header = ("data set", "rows", "method", "scikit-learn", "svmselect", "speed-up", "least error", "differ")
    lines = [f"| {' | '.join(header)} |", "|---|---:|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        star = r"\*" if row["extrapolated"] == "yes" else ""
        cells = [
            *(str(row[name]) for name in ("problem", "rows", "method")),
            f"{rounded(row['sklearn_cpu_s'])} s{star}",
            f"{rounded(row['svmselect_cpu_s'])} s",
            f"{rounded(row['speedup'])}{star}",
            f"{100 * float(row['error']):.1f} %",
            f"{row['points_different']} of {int(row['points_compared']):,}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def rounded(number):
    """A number of three digits or more."""
    return f"{float(number):,.0f}" if float(number) >= 100 else f"{float(number):.3g}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument(
        "--models",
        type=int,
        choices=range(1, CS.size * GAMMAS.size + 1),
        metavar="N",
        help=f"how many of the {CS.size * GAMMAS.size} scikit-learn leaves one out of (default all, or {FEW} "
        f"where that were more than {MOST_FITS} fits)",
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of svmselect's searches")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = current_rows(options.output)
    done = {row["problem"] for row in rows}
    for name in options.problems:
        make_data(name)
    for name in options.problems:
        if name in done:
            continue
        problem = load_problem(name)
        with threadpool_limits(1):
            for row in compare(name, problem.X, problem.y, options.models, options.repeats):
                print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
                rows.append(row)
        write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
