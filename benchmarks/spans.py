"""Time the spans of all support vectors against one QP per support vector, and the span rule against
cross-validation, on pairs of MNIST digits of 12,000 rows.

    python benchmarks/spans.py                              # minutes
    python benchmarks/spans.py --datasets mnist-2v9 --C 32

Features are scaled to [0, 1] by their range, gamma = 1/780 (Sarafis et al. 2018). The span rule finds the
spans of all SVs by one factorisation. Beside it every span is a QP over the in-bound SVs: by the project's
own solver (SMO and the active-set method, KKT gap 1e-6) and by PIQP, on a sample of the SVs. CPU time of one
thread.

`results/spans.csv` has one row per data set and C. Its columns:

dataset, m, C, gamma, in_bound, bounded   the model
gram_s                                    the whole Gram matrix, which all but the lazy and LIBSVM's share
fit_s, span_s                             training, and the span rule after it (median of five)
sampled                                   SVs whose span was found by a QP each
qp_s, piqp_s                              all spans by QPs: EXTRAPOLATED from the sample to all SVs
qp_difference, piqp_difference            largest difference of S_p^2 from the span rule's, over the sample
qp_over_span, piqp_over_span              the quotients
lazy_s                                    fit and span rule, kernel values on demand from sparse rows, in a
                                          cache of 100 MB, float32 as LIBSVM's
cv_libsvm_s, cv_shared_s                  5-fold cross-validation: LIBSVM (scikit-learn's SVC, cache 100 MB,
                                          tol 1e-3, dense rows, on which it is faster than on sparse
                                          ones), and ours on the shared matrix
libsvm_over_lazy                          the quotient
libsvm_over_shared                        by fit, span rule and the matrix' share in a grid of 1,089 models
cv_over_shared                            our cross-validation by fit and span rule, without the matrix
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import piqp
from csv_rows import current_rows, write_rows
from problems import ROOT, registered
from scipy import sparse
from sklearn.svm import SVC
from svmselect.solver._smo import Dual

from svmselect import RBF, Gram, cross_validate, solve_csvc, span_rule, stratified_folds
from svmselect.solver import _active_set

RESULTS = ROOT / "benchmarks" / "results" / "spans.csv"
DATASETS = ["mnist-2v9", "mnist-1v7", "mnist-3v6", "mnist-0v8"]
GAMMA = 1 / 780
MODELS = 1089  # of the paper's grid
CACHE_MB, TOL, QP_TOL = 100, 1e-3, 1e-6


def training_data(name):
    """Rows, each feature scaled to [0, 1], and labels."""
    dataset = registered(name)
    width = np.ptp(dataset.X, axis=0)
    return (dataset.X - dataset.X.min(axis=0)) / np.where(width > 0, width, 1), dataset.y.astype(float)


def timed(run):
    """What it returns, and its CPU time in seconds."""
    begin = time.process_time()
    result = run()
    return result, time.process_time() - begin


def span_by_qp(gram, p, inbound):
    """S_p^2 without the box by SMO and the active-set method, over the in-bound SVs other than p."""
    rows = np.union1d(inbound, p)
    part = gram.restricted(rows).compute()
    at = int(np.searchsorted(rows, p))
    dual = Dual(part, np.zeros(part.m))
    start = np.full(part.m, 1 / (part.m - 1))
    # far enough out to restrict nothing
    hi = np.full(part.m, 1e6)
    lo = -hi
    lo[at] = hi[at] = start[at] = -1
    dual.confine(lo, hi, start)
    _active_set.solve(dual, "wss2", QP_TOL, 10**7)
    return 2 * dual.state()[3]


def span_by_piqp(K, p, inbound, diagonal):
    """The same by PIQP; `K` holds the columns of the in-bound SVs."""
    others = np.flatnonzero(inbound != p)
    P, c = K[np.ix_(inbound[others], others)], -K[p, others]
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = 1e-8
    solver.setup(P, c, np.ones((1, others.size)), np.ones(1))
    solver.solve()
    x = solver.result.x
    return diagonal[p] + 2 * c @ x + x @ P @ x


def measure(name, Cs, n_sampled):
    """Rows of the CSV file."""
    X, y = training_data(name)
    folds, rows = stratified_folds(y, 5), sparse.csr_array(X)
    gram = Gram(X, RBF(GAMMA))
    _, gram_s = timed(gram.compute)
    for C in Cs:
        solution, fit_s = timed(lambda C=C: solve_csvc(gram, y, C, tol=TOL))
        rules = [span_rule(gram, y, solution) for _ in range(5)]
        span_s, spans = float(np.median([rule.cpu_s for rule in rules])), rules[0].squared_span
        support = np.flatnonzero(solution.alpha)
        inbound = np.flatnonzero((solution.alpha > 0) & (solution.alpha < C))
        sample = np.random.default_rng(0).choice(support, min(n_sampled, support.size), replace=False)
        K = np.asfortranarray(gram.matrix()[:, inbound])
        found = {}
        for key, solve in (
            ("qp", lambda p, inbound=inbound: span_by_qp(gram, p, inbound)),
            ("piqp", lambda p, K=K, inbound=inbound: span_by_piqp(K, p, inbound, gram.diagonal)),
        ):
            solve(sample[0])
            values, seconds = timed(lambda solve=solve, sample=sample: [solve(p) for p in sample])
            found[f"{key}_s"] = seconds / sample.size * support.size
            found[f"{key}_difference"] = np.abs(values - spans[sample]).max()
            found[f"{key}_over_span"] = found[f"{key}_s"] / span_s

        def lazily(C=C):
            lazy = Gram(rows, RBF(GAMMA), dtype="float32", memory_mb=CACHE_MB)
            return span_rule(lazy, y, solve_csvc(lazy, y, C, tol=TOL))

        def libsvm(C=C):
            for h in range(5):
                svc = SVC(C=C, gamma=GAMMA, tol=TOL, cache_size=CACHE_MB)
                svc.fit(X[folds != h], y[folds != h]).predict(X[folds == h])

        _, lazy_s = timed(lazily)
        _, cv_shared_s = timed(lambda C=C: cross_validate(gram, y, C, folds, tol=TOL))
        _, cv_libsvm_s = timed(libsvm)
        yield {
            "dataset": name,
            "m": len(y),
            "C": C,
            "gamma": GAMMA,
            "in_bound": inbound.size,
            "bounded": support.size - inbound.size,
            "gram_s": gram_s,
            "fit_s": fit_s,
            "span_s": span_s,
            "sampled": sample.size,
            **found,
            "lazy_s": lazy_s,
            "cv_libsvm_s": cv_libsvm_s,
            "cv_shared_s": cv_shared_s,
            "libsvm_over_lazy": cv_libsvm_s / lazy_s,
            "libsvm_over_shared": cv_libsvm_s / (fit_s + span_s + gram_s / MODELS),
            "cv_over_shared": cv_shared_s / (fit_s + span_s),
        }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=DATASETS, metavar="NAME")
    parser.add_argument("--C", nargs="+", type=float, default=[1, 32, 1024], metavar="C")
    parser.add_argument("--sample", type=int, default=60, help="SVs with a QP each; default: %(default)s")
    options = parser.parse_args()
    rows = current_rows(RESULTS)
    done = {(row["dataset"], float(row["C"])) for row in rows}
    for name in options.datasets:
        Cs = [C for C in options.C if (name, C) not in done]
        for row in measure(name, Cs, options.sample) if Cs else ():
            rows.append(
                {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in row.items()}
            )
            write_rows(RESULTS, rows)
            print(", ".join(f"{column} {rows[-1][column]}" for column in rows[-1]), flush=True)


if __name__ == "__main__":
    main()
