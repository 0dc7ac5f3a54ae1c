"""Regressions beside other libraries: results/regression_peers.csv and regression_peers.md.

    python benchmarks/regression_peers.py
    python benchmarks/regression_peers.py --problems diabetes sinc-300 --output build/regression_peers.csv

The problems, the model and the clock are those of regression.py. Two tasks, by libraries that are installed:

fit         a fit to tol = 1e-3 by svmselect, LIBSVM, scikit-learn and scikit-learn-intelex
intervals   90 % intervals by the jackknife+, from up to 200 rows for all others: by svmselect, and by MAPIE
            with scikit-learn's SVR and LeaveOneOut, which trains without each row

One thread; the libraries take turns after a fit that warms up. Conversion to a library's rows is not timed.

problem, task, peer, version    who has measured what; of svmselect with a hash of its sources
rows, features                  that are trained on
cpu_s                           median CPU seconds, kernel values included
difference                      the largest, in standard deviations of the targets: of a fit's predictions
                                from scikit-learn's at tol = 1e-6; of the ends of intervals from MAPIE's at
                                tol = 1e-6, or where it is not installed from svmselect's
"""

from __future__ import annotations

import argparse
import statistics
from importlib import metadata
from pathlib import Path

import numpy as np
import origin
import sklearn.svm
from csv_rows import read_rows, write_rows
from regression import ALPHA, EPSILON, PROBLEMS, TRAINED_ON, C, rows_of, timed
from scipy import sparse
from sklearn.model_selection import LeaveOneOut
from threadpoolctl import threadpool_limits

from svmselect.sklearn import SVR

RESULTS = Path(__file__).resolve().parent / "results" / "regression_peers.csv"
OURS = "svmselect"
MEMORY_MB = 2048
EXACT = 1e-6  # tolerance of the fits that results are compared with


def svr(kind, gamma, tol=1e-3):
    """Return a regression of this class, with the options of all peers."""
    return kind(C=C, epsilon=EPSILON, gamma=gamma, tol=tol, cache_size=MEMORY_MB)


def fit_of_sklearn(kind):
    """Return a peer whose estimator is one of scikit-learn's kind."""
    return lambda X, z, gamma: (lambda: svr(kind, gamma).fit(X, z), lambda model: model.predict(X))


def fit_of_intelex(X, z, gamma):
    """Return the fit and the prediction of scikit-learn-intelex."""
    import daal4py
    from sklearnex.svm import SVR as IntelexSVR

    daal4py.daalinit(1)

    def fit():
        model = svr(IntelexSVR, gamma).fit(X, z)
        # it hands what it does not support to scikit-learn without a word
        if not hasattr(model, "_onedal_estimator"):
            raise RuntimeError("scikit-learn-intelex fell back to scikit-learn")
        return model

    return fit, lambda model: model.predict(X)


def fit_of_libsvm(X, z, gamma):
    """Return the fit and the prediction of LIBSVM, by its own Python interface."""
    from libsvm import svm, svmutil

    rows = sparse.csr_matrix(X)
    problem = svm.svm_problem(z, rows)
    options = f"-s 3 -t 2 -g {gamma!r} -c {C!r} -p {EPSILON!r} -e 0.001 -m {MEMORY_MB} -q"
    parameter = svm.svm_parameter(options)
    return (
        lambda: svmutil.svm_train(problem, parameter),
        lambda model: np.array(svmutil.svm_predict(z, rows, model, "-q")[2])[:, 0],
    )


# of each peer: the distribution that installs it, and a function that returns how it fits and predicts
FITS = {
    OURS: ("svmselect", fit_of_sklearn(SVR)),
    "LIBSVM": ("libsvm-official", fit_of_libsvm),
    "scikit-learn": ("scikit-learn", fit_of_sklearn(sklearn.svm.SVR)),
    "scikit-learn-intelex": ("scikit-learn-intelex", fit_of_intelex),
}


def intervals_of_svmselect(X, z, X_test, gamma, tol=1e-3):
    """Return the intervals of a regression of svmselect, shape (n, 2)."""
    return svr(SVR, gamma, tol).fit(X, z).predict_interval(X_test, ALPHA)


def intervals_of_mapie(X, z, X_test, gamma, tol=1e-3):
    """Return MAPIE's intervals, shape (n, 2)."""
    from mapie.regression import CrossConformalRegressor

    model = CrossConformalRegressor(
        svr(sklearn.svm.SVR, gamma, tol), confidence_level=1 - ALPHA, method="plus", cv=LeaveOneOut()
    )
    return model.fit_conformalize(X, z).predict_interval(X_test)[1][:, :, 0]


INTERVALS = {OURS: ("svmselect", intervals_of_svmselect), "MAPIE": ("mapie", intervals_of_mapie)}


def version_of(distribution):
    """Return the version of a distribution, or None where it is not installed."""
    if distribution == "svmselect":
        return origin.library()
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def installed(peers):
    """Return the peers that are installed, with their versions."""
    versions = {peer: version_of(distribution) for peer, (distribution, _) in peers.items()}
    return {peer: (versions[peer], call) for peer, (_, call) in peers.items() if versions[peer] is not None}


def measured_fits(X, z, gamma):
    """Return version, seconds and difference of each peer's fit."""
    peers = installed(FITS)
    calls = [call(X, z, gamma) for _, call in peers.values()]
    for fit, _ in calls:
        fit()
    seconds, models = timed(*(fit for fit, _ in calls))
    exact = svr(sklearn.svm.SVR, gamma, EXACT).fit(X, z).predict(X)
    return {
        peer: (version, each, np.abs(predict(model) - exact).max())
        for (peer, (version, _)), (_, predict), each, model in zip(
            peers.items(), calls, seconds, models, strict=True
        )
    }


def measured_intervals(X, z, X_test, gamma):
    """Return version, seconds and difference of each peer's intervals."""
    peers = installed(INTERVALS)
    calls = [lambda call=call: call(X, z, X_test, gamma) for _, call in peers.values()]
    for _, call in peers.values():
        call(X[:10], z[:10], X_test[:1], gamma)
    seconds, ends = timed(*calls, repeats=3)
    *_, (_, last) = peers.values()
    exact = last(X, z, X_test, gamma, EXACT)
    return {
        peer: (version, each, np.abs(values - exact).max())
        for (peer, (version, _)), each, values in zip(peers.items(), seconds, ends, strict=True)
    }


def measure(name):
    """Return the rows of a problem."""
    X, z = rows_of(name)
    gamma = 1 / X.shape[1]
    train, test = np.split(np.random.default_rng(1).permutation(z.size), [min(TRAINED_ON, z.size // 2)])
    results = {
        ("fit", z.size): measured_fits(X, z, gamma),
        ("intervals", train.size): measured_intervals(X[train], z[train], X[test], gamma),
    }
    return [
        {
            "problem": name,
            "task": task,
            "peer": peer,
            "version": version,
            "rows": m,
            "features": X.shape[1],
            "cpu_s": f"{seconds:.4g}",
            "difference": f"{difference:.2g}",
        }
        for (task, m), peers in results.items()
        for peer, (version, seconds, difference) in peers.items()
    ]


def report(rows):
    """Return the ratios of times, in Markdown."""
    cells = {(row["problem"], row["task"], row["peer"]): row for row in rows}
    pairs = list(dict.fromkeys((row["task"], row["peer"]) for row in rows if row["peer"] != OURS))
    lines = [
        "# Regression beside other libraries",
        "",
        f"A peer's CPU time over ours, one thread; RBF with gamma = 1/d, C = {C:g} and",
        f"epsilon = {EPSILON:g}, standardised features and targets. Intervals are those of the",
        f"jackknife+ of up to {TRAINED_ON} rows. Versions, times and differences are in the CSV file.",
        "",
        f"| problem | {' | '.join(f'{task}, {peer}' for task, peer in pairs)} |",
        "|---|" + "---:|" * len(pairs),
    ]
    ratios = {pair: [] for pair in pairs}
    for problem in dict.fromkeys(row["problem"] for row in rows):
        shown = []
        for task, peer in pairs:
            row, ours = cells.get((problem, task, peer)), cells[problem, task, OURS]
            shown.append("" if row is None else f"{float(row['cpu_s']) / float(ours['cpu_s']):.3g}")
            if row is not None:
                ratios[task, peer].append(float(row["cpu_s"]) / float(ours["cpu_s"]))
        lines.append(f"| {problem} | {' | '.join(shown)} |")
    means = [f"{statistics.geometric_mean(ratios[pair]):.3g}" for pair in pairs]
    return "\n".join([*lines, f"| geometric mean | {' | '.join(means)} |", ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    rows = read_rows(options.output)
    here = (origin.library(), origin.processor())
    done = {row["problem"] for row in rows if (row["version"], row["processor"]) == here}
    rows = [row for row in rows if row["problem"] in done]
    for name in options.problems:
        if name not in done:
            with threadpool_limits(1):
                rows += measure(name)
            print(name, flush=True)
            write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
