"""Regression beside scikit-learn's: results/regression.csv and regression.md.

    python benchmarks/regression.py
    python benchmarks/regression.py --problems diabetes friedman1 --output build/regression.csv

Fits, exact leave-one-out, a search, and the coverage of 90 % intervals on 20 data sets: five that come with
scikit-learn, and generated ones. Features and targets are standardised; RBF with gamma = 1/d, C = 10,
epsilon = 0.1; one thread. Times are CPU seconds, kernel values included, medians of repeats in which the two
libraries take turns. Leave-one-out by scikit-learn is that of --left-out random rows, for all rows.

problem, rows, features, n_sv   the data, and the support vectors of the fit
fit_cpu_s, sklearn_fit_cpu_s    a fit to tol = 1e-3
loo_cpu_s                       all left-out predictions, exact
sklearn_loo_cpu_s               by retraining at tol = 1e-3, the default, and
sklearn_exact_loo_cpu_s         by retraining at tol = 1e-6
loo_difference                  largest difference from the latter, in standard deviations of the targets
loo_gap                         largest KKT gap of a left-out model, round-off included
loo_unknown                     rows that are not known to a gap of 1e-8
search_cpu_s, sklearn_search_cpu_s  5 folds of 12 models: SeededCV, GridSearchCV
search_difference               largest difference of the mean scores
coverage, coverage_rows         the share of rows in intervals of level 90 % of a model of up to 200 other
                                rows, the mean over 20 random halves, and their number in each
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import origin
import sklearn.svm
from csv_rows import current_rows, write_rows
from sklearn import datasets
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram, leave_one_out_svr
from svmselect.sklearn import SVR, SeededCV

RESULTS = Path(__file__).resolve().parent / "results" / "regression.csv"
C, EPSILON, ALPHA = 10.0, 0.1, 0.1
GRID = {"C": [1.0, 10.0], "epsilon": [0.1, 0.3]}  # and three values of gamma
REPEATS = 5
TRAINED_ON, HALVES = 200, 20  # rows at most, for intervals, and random choices of them


def smooth(m, rng):
    """Four features, of which the targets are a smooth function with noise."""
    X = rng.normal(size=(m, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 2 + 0.3 * rng.normal(size=m)


def sinc(m, rng):
    """One feature."""
    X = rng.uniform(-3, 3, size=(m, 1))
    return X, np.sinc(X[:, 0]) + 0.1 * rng.normal(size=m)


def arm(m, rng):
    """Distance of the hand of a robot arm with four joints from its shoulder."""
    angles, lengths = rng.uniform(0, 2 * np.pi, size=(m, 4)), rng.uniform(size=(m, 4))
    hand = (lengths * np.exp(1j * np.cumsum(angles, axis=1))).sum(axis=1)
    return np.hstack([angles, lengths]), np.abs(hand)


def heavy_tails(m, rng):
    """A linear function with noise of Student's t with two degrees of freedom."""
    X = rng.normal(size=(m, 5))
    return X, X @ [1, 2, 3, 0, 0] + rng.standard_t(2, size=m)


def steps(m, rng):
    """A function with jumps."""
    X = rng.uniform(size=(m, 2))
    return X, np.floor(4 * X[:, 0]) + (X[:, 1] > 0.5) + 0.2 * rng.normal(size=m)


def plane(m, rng):
    """One of two linear functions of discrete features, by the sign of the first (Breiman et al. 1984)."""
    X = rng.integers(-1, 2, size=(m, 10)).astype(float)
    X[:, 0] = rng.choice([-1, 1], size=m)
    first, second = 3 + X[:, 1:4] @ [3, 2, 1], -3 + X[:, 4:7] @ [3, 2, 1]
    return X, np.where(X[:, 0] > 0, first, second) + rng.normal(scale=np.sqrt(2), size=m)


def of_sklearn(loader, target=None):
    """Rows of a data set of scikit-learn with a column of its own as the target."""
    data = loader()
    if target is None:
        return lambda m, rng: (data.data, np.ravel(data.target.T[0] if data.target.ndim > 1 else data.target))
    return lambda m, rng: (np.delete(data.data, target, axis=1), data.data[:, target])


def made(maker, **options):
    """Rows of a generator of scikit-learn."""
    return lambda m, rng: maker(m, random_state=0, **options)


# name: generator, rows
PROBLEMS = {
    "diabetes": (of_sklearn(datasets.load_diabetes), None),
    "linnerud": (of_sklearn(datasets.load_linnerud), None),
    "iris-petal-width": (of_sklearn(datasets.load_iris, 3), None),
    "wine-alcohol": (of_sklearn(datasets.load_wine, 0), None),
    "breast-cancer-texture": (of_sklearn(datasets.load_breast_cancer, 1), None),
    "friedman1": (made(datasets.make_friedman1, noise=1.0), 1000),
    "friedman2": (made(datasets.make_friedman2, noise=100.0), 1000),
    "friedman3": (made(datasets.make_friedman3, noise=0.1), 1000),
    "linear": (made(datasets.make_regression, n_features=20, noise=20.0), 1000),
    "uncorrelated": (made(datasets.make_sparse_uncorrelated), 1000),
    "swiss-roll": (made(datasets.make_swiss_roll, noise=0.5), 1000),
    "s-curve": (made(datasets.make_s_curve, noise=0.1), 1000),
    "smooth-300": (smooth, 300),
    "smooth-1000": (smooth, 1000),
    "sinc-300": (sinc, 300),
    "sinc-1000": (sinc, 1000),
    "arm": (arm, 1000),
    "heavy-tails": (heavy_tails, 1000),
    "steps": (steps, 1000),
    "plane": (plane, 1000),
}


def rows_of(name):
    """Standardised rows and targets of a problem."""
    generator, m = PROBLEMS[name]
    X, z = generator(m, np.random.default_rng(0))
    width = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(width > 0, width, 1), (z - z.mean()) / z.std()


def timed(*calls, repeats=REPEATS):
    """Median CPU seconds of some calls, which take turns, and their last results.

    A call shorter than 10 ms is repeated in its turn, and the mean is its time.
    """
    seconds, results = [[] for _ in calls], [None] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            begin, n = time.process_time(), 0
            while n == 0 or time.process_time() - begin < 0.01:
                results[k] = call()
                n += 1
            seconds[k].append((time.process_time() - begin) / n)
    return [statistics.median(each) for each in seconds], results


def retrained(X, z, gamma, rows, tol):
    """CPU seconds of scikit-learn's fits without each of some rows, and their left-out predictions."""
    begin, predictions = time.process_time(), []
    for r in rows:
        rest = np.arange(z.size) != r
        model = sklearn.svm.SVR(C=C, epsilon=EPSILON, gamma=gamma, tol=tol).fit(X[rest], z[rest])
        predictions.append(model.predict(X[[r]])[0])
    return time.process_time() - begin, np.array(predictions)


def covered(X, z, gamma):
    """The mean share of rows in intervals of models of other rows, and their number."""
    shares, rng = [], np.random.default_rng(1)
    for _ in range(HALVES):
        train, test = np.split(rng.permutation(z.size), [min(TRAINED_ON, z.size // 2)])
        model = SVR(C=C, epsilon=EPSILON, gamma=gamma).fit(X[train], z[train])
        low, high = model.predict_interval(X[test], ALPHA).T
        shares.append(np.mean((low <= z[test]) & (z[test] <= high)))
    return float(np.mean(shares)), test.size


def measure(name, left_out):
    """One row of the table."""
    X, z = rows_of(name)
    m, gamma = z.size, 1 / X.shape[1]
    options = dict(C=C, epsilon=EPSILON, gamma=gamma)
    # 1) fits
    fits, (model, _) = timed(
        lambda: SVR(**options).fit(X, z), lambda: sklearn.svm.SVR(**options, cache_size=2048).fit(X, z)
    )
    # 2) left-out predictions
    rows = np.random.default_rng(0).permutation(m)[:left_out]
    (loo_s, default_s), (loo, _) = timed(
        lambda: leave_one_out_svr(Gram(X, RBF(gamma)), z, C, EPSILON),
        lambda: retrained(X, z, gamma, rows, 1e-3),
        repeats=3,
    )
    exact_s, predictions = retrained(X, z, gamma, rows, 1e-6)
    # 3) searches
    grid = GRID | {"gamma": [gamma / 4, gamma, 4 * gamma]}
    searches, (ours, theirs) = timed(
        lambda: SeededCV(SVR(), grid, cv=5, refit=False).fit(X, z),
        lambda: GridSearchCV(sklearn.svm.SVR(cache_size=2048), grid, cv=5, refit=False).fit(X, z),
        repeats=1,
    )
    scores = [each.cv_results_["mean_test_score"] for each in (ours, theirs)]
    share, n = covered(X, z, gamma)
    return {
        "problem": name,
        "rows": m,
        "features": X.shape[1],
        "n_sv": model.n_support_[0],
        "fit_cpu_s": f"{fits[0]:.4g}",
        "sklearn_fit_cpu_s": f"{fits[1]:.4g}",
        "loo_cpu_s": f"{loo_s:.4g}",
        "sklearn_loo_cpu_s": f"{default_s * m / rows.size:.4g}",
        "sklearn_exact_loo_cpu_s": f"{exact_s * m / rows.size:.4g}",
        "loo_difference": f"{np.abs(loo.predictions[rows] - predictions).max():.2g}",
        "loo_gap": f"{loo.kkt_gap.max():.2g}",
        "loo_unknown": loo.not_converged.size,
        "search_cpu_s": f"{searches[0]:.4g}",
        "sklearn_search_cpu_s": f"{searches[1]:.4g}",
        "search_difference": f"{np.abs(scores[0] - scores[1]).max():.2g}",
        "coverage": f"{share:.4f}",
        "coverage_rows": n,
    }


def report(rows):
    """The ratios of times and the coverage, in Markdown."""
    pairs = [
        ("fit", "sklearn_fit_cpu_s", "fit_cpu_s"),
        ("leave-one-out, its tol 1e-3", "sklearn_loo_cpu_s", "loo_cpu_s"),
        ("leave-one-out, its tol 1e-6", "sklearn_exact_loo_cpu_s", "loo_cpu_s"),
        ("search", "sklearn_search_cpu_s", "search_cpu_s"),
    ]
    lines = [
        "# Regression",
        "",
        f"scikit-learn's CPU time over ours, one thread; RBF with gamma = 1/d, C = {C:g} and",
        f"epsilon = {EPSILON:g}, standardised features and targets. The two took turns.",
        "Coverage is that of 90 % intervals.",
        "",
        f"| problem | rows | SVs | {' | '.join(name for name, *_ in pairs)} | difference | coverage |",
        "|---|---:|---:|" + "---:|" * (len(pairs) + 2),
    ]
    ratios = []
    for row in rows:
        ratios.append([float(row[theirs]) / float(row[ours]) for _, theirs, ours in pairs])
        cells = [row["problem"], row["rows"], row["n_sv"], *(f"{ratio:.3g}" for ratio in ratios[-1])]
        lines.append(f"| {' | '.join(map(str, [*cells, row['loo_difference'], row['coverage']]))} |")
    means = [f"{statistics.geometric_mean(each):.3g}" for each in zip(*ratios, strict=True)]
    lines.append(f"| geometric mean | | | {' | '.join(means)} | | |")
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument(
        "--left-out", type=int, default=20, metavar="N", help="rows that scikit-learn leaves out"
    )
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    rows = current_rows(options.output)
    done = {row["problem"] for row in rows}
    for name in options.problems:
        if name not in done:
            with threadpool_limits(1):
                rows.append(measure(name, options.left_out))
            print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
            write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
