"""Check exact leave-one-out by unlearning against LIBSVM, point by point.

    python benchmarks/loo_libsvm.py                          # every IDA set: hours
    python benchmarks/loo_libsvm.py --datasets heart banana

On the first realisation of each data set, every support vector of a model is left out once: LIBSVM
(scikit-learn's SVC on the precomputed Gram matrix) trains to tol = 1e-8 without it, and the sign of its
decision value says whether the point is an error. `leave_one_out(method="unlearn")` has to say the same. Data
sets are prepared in resources/ as the workflow does. Columns of the CSV file:

dataset, kernel, C, gamma, m    the model, and the rows it is trained on
points                          support vectors, each left out once
not_converged                   of them, those that LIBSVM gave up after --max-iter steps
compared, equal                 the others, and how many of these both call the same
differing                       the rest, as point:|LIBSVM's decision value|
closest                         least |decision value| of LIBSVM among those compared
deviation                       largest difference of the two decision values, over the points followed
                                to alpha = 0 whose threshold some in-bound SV of LIBSVM's fixes
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from csv_rows import current_rows, write_rows
from problems import ROOT, registered
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from tqdm import tqdm

from svmselect import RBF, Gram, Linear, leave_one_out

RESULTS = ROOT / "benchmarks" / "results" / "loo_libsvm.csv"
DATASETS = [
    *("thyroid", "titanic", "heart", "breast-cancer", "banana", "twonorm", "ringnorm", "waveform"),
    *("diabetis", "flare-solar", "german", "splice", "image"),
]
MODELS = [(Linear(), 1.0), (RBF(2**-4.0), 1.0), (RBF(2**-6.0), 30.0)]
KEY = ("dataset", "kernel", "C", "gamma")
TOL = 1e-8


def training_data(name):
    """Rows and labels of the first realisation's training part."""
    X, y, *_ = registered(name).realisation(1)
    return X, y.astype(float)


def left_out(K, y, C, r, max_iter):
    """LIBSVM's decision value of point r without it, nan if it gave up, and whether an in-bound SV fixes
    it."""
    keep = np.arange(len(y)) != r
    if np.unique(y[keep]).size < 2:
        return -y[r], False
    model = SVC(C=C, kernel="precomputed", tol=TOL, max_iter=max_iter, cache_size=1000)
    model.fit(K[np.ix_(keep, keep)], y[keep])
    if model.n_iter_[0] >= max_iter:
        return np.nan, False
    return model.decision_function(K[[r]][:, keep])[0], (np.abs(model.dual_coef_) < C).any()


def check(name, kernel, C, max_iter):
    """One row of the CSV file."""
    X, y = training_data(name)
    gram = Gram(X, kernel)
    loo = leave_one_out(gram, y, C)
    K = np.ascontiguousarray(gram.matrix())
    points = np.flatnonzero(loo.solution.alpha > 0)
    title = f"{name} {kernel} C={C:g}"
    results = [left_out(K, y, C, r, max_iter) for r in tqdm(points, desc=title, unit="point", mininterval=5)]
    decision, fixed = np.array(results).reshape(-1, 2).T
    compared = ~np.isnan(decision)
    equal = compared & (loo.errors[points] == ((decision >= 0) != (y[points] > 0)))
    followed = compared & (fixed == 1) & (loo.resolved_by[points] == "unlearned")
    difference = np.abs(decision - loo.decision[points])
    return {
        "dataset": name,
        "kernel": type(kernel).__name__.lower(),
        "C": f"{C:g}",
        "gamma": f"{kernel.gamma:g}" if isinstance(kernel, RBF) else "",
        "m": len(y),
        "points": points.size,
        "not_converged": int(np.count_nonzero(~compared)),
        "compared": int(np.count_nonzero(compared)),
        "equal": int(np.count_nonzero(equal)),
        "differing": " ".join(
            f"{points[k]}:{abs(decision[k]):.1e}" for k in np.flatnonzero(compared & ~equal)
        ),
        "closest": f"{np.abs(decision[compared]).min():.1e}" if compared.any() else "",
        "deviation": f"{difference[followed].max():.1e}" if followed.any() else "",
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="NAME")
    parser.add_argument(
        "--max-iter", type=int, default=300_000, help="LIBSVM's steps per point; default: %(default)s"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # counted as not_converged
    rows = current_rows(RESULTS)
    done = {tuple(row[column] for column in KEY) for row in rows}
    for name in options.datasets:
        for kernel, C in MODELS:
            gamma = f"{kernel.gamma:g}" if isinstance(kernel, RBF) else ""
            if (name, type(kernel).__name__.lower(), f"{C:g}", gamma) in done:
                continue
            row = check(name, kernel, C, options.max_iter)
            rows.append(row)
            write_rows(RESULTS, rows)
            print(", ".join(f"{column} {row[column]}" for column in row if row[column] != ""), flush=True)


if __name__ == "__main__":
    main()
