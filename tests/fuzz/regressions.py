"""Left-out predictions of random regressions against training without each row, of many more than tests have.

    .venv/bin/python tests/fuzz/regressions.py NUMBER [SEED]

It prints each problem on which a left-out prediction differs from that of a new fit by more than 1e-10 of the
targets' size, or from LIBSVM's by more than 1e-8, where the certificates of both solutions are as good.
At the end it prints how many rows were compared, and how many are less certain.
"""

import sys
import warnings

import numpy as np
from sklearn.svm import SVR

from svmselect import RBF, Gram, Linear, Polynomial, leave_one_out_svr, solve_svr

KINDS = (
    "plain",
    "duplicates",
    "ties",
    "lattice",
    "constant feature",
    "collinear",
    "tiny",
    "units",
    "constant",
    "sparse",
)
# a left-out prediction may differ by this, relative to the targets' size: from a new fit, and from LIBSVM's
OURS, LIBSVM = 1e-10, 1e-8


def drawn(rng):
    """A random regression: rows, targets, C, epsilon, a kernel and the words that describe it."""
    kind = str(rng.choice(KINDS))
    m, d = int(rng.integers(1, 6)) if kind == "tiny" else int(rng.integers(6, 40)), int(rng.integers(1, 5))
    m = max(m, 2)
    X = rng.normal(size=(m, d))
    z = np.sin(X[:, 0]) + 0.3 * rng.normal(size=m)
    half = m // 2
    if kind == "duplicates":
        X[half:] = X[: m - half]
        if rng.random() < 0.5:
            z[half:] = z[: m - half]
    elif kind == "ties":
        z = np.round(2 * z) / 2
    elif kind == "lattice":
        X, z = np.round(X), np.round(z)
    elif kind == "constant feature":
        X[:, 0] = 3
    elif kind == "collinear":
        X = np.outer(np.round(3 * X[:, 0]), np.ones(d))
    elif kind == "constant":
        z[:] = rng.normal()
    elif kind == "sparse":
        X[rng.random(X.shape) < 0.6] = 0
    C = 10.0 ** rng.choice([-6, -2, -1, 0, 1, 2, 4])
    epsilon = float(rng.choice([0.0, 1e-3, 0.05, 0.1, 0.5, 100.0]))
    unit, shift = (10.0 ** rng.integers(-6, 7), 10.0 ** rng.integers(0, 4)) if kind == "units" else (1.0, 0.0)
    z, C, epsilon = unit * (z + shift), unit * C, unit * epsilon
    bounds = np.full(m, C)
    if rng.random() < 0.3:
        bounds *= rng.choice([0, 0.5, 1, 2], size=m, p=[0.1, 0.2, 0.5, 0.2])
        if np.count_nonzero(bounds) < 2:
            bounds[:2] = C
    kernels = [RBF(0.3), RBF(3.0), RBF(1e-3), Linear(), Polynomial(2, 0.5, 1.0)]
    return X, z, bounds, epsilon, kernels[rng.integers(len(kernels))], kind


def differences(X, z, C, epsilon, kernel):
    """Largest differences of left-out predictions from new fits and from LIBSVM's.

    Returns
    -------
    ours, libsvm : float
        Relative to the targets' size, less what the solutions' own certificates leave open beyond `OURS`.
    n_compared, n_unknown : int
    """
    gram = Gram(X, kernel)
    loo = leave_one_out_svr(gram, z, C, epsilon)
    trained = z[C > 0]
    size = max(
        float(np.ptp(trained)) / 2, 1e-300 if np.ptp(trained) else abs(trained[0]), 1e-14 * np.abs(z).max()
    )
    worst, n_compared, n_unknown = [0.0, 0.0], 0, 0
    K = gram.matrix().astype(np.float64)
    for r in range(len(z)):
        bound = C.copy()
        bound[r] = 0
        fit = solve_svr(gram, z, bound, epsilon, tol=1e-13 * size, max_iter=200_000)
        if r in loo.not_converged or fit.kkt_gap > 1e-11 * size:
            n_unknown += 1
            continue
        # where no in-bound row fixes b, or round-off decides whether one does, each side has its convention
        if fixed(fit, size):
            n_compared += 1
            # a gap that float64 cannot lower leaves a threshold, and a weight vector, as uncertain
            doubt = 10 * (loo.kkt_gap[r] + fit.kkt_gap) / size
            n_unknown += doubt > OURS
            worst[0] = max(
                worst[0], abs(loo.predictions[r] - fit.prediction[r]) / size - (doubt if doubt > OURS else 0)
            )
            reference, doubt = by_libsvm(K, z, bound, epsilon, r, size)
            worst[1] = max(worst[1], abs(loo.predictions[r] - reference) / size - doubt)
    return *worst, n_compared, n_unknown


def fixed(fit, size):
    """Whether an in-bound row fixes the threshold of a fit beyond doubt, or none comes near to doing so."""
    share = np.abs(fit.theta[fit.C > 0]) / fit.C[fit.C > 0]
    inbound = np.minimum(share, 1 - share)
    return bool((inbound > 1e-6).any()) or not (inbound > 0).any()


def by_libsvm(K, z, bound, epsilon, r, size):
    """Prediction of row r by LIBSVM's model of the rows with a positive bound.

    The second number is by how much it may be wrong, relative to `size`: the squared distance of its weight
    vector from the optimal one is at most twice the duality gap at its solution.
    """
    rows = np.flatnonzero(bound > 0)
    middle, most = 0.5 * (z[rows].min() + z[rows].max()), bound.max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # in units of the targets, so that its tolerance suits them
        model = SVR(kernel="precomputed", C=most / size, epsilon=epsilon / size, tol=1e-11, max_iter=300_000)
        model.fit(K[np.ix_(rows, rows)], (z[rows] - middle) / size, sample_weight=bound[rows] / most)
    theta, b, part = np.zeros(rows.size), model.intercept_[0], K[np.ix_(rows, rows)]
    theta[model.support_] = model.dual_coef_[0]
    share = np.abs(theta) / (bound[rows] / size)
    if model.fit_status_ or not (np.minimum(share, 1 - share) > 1e-6).any():
        return middle, np.inf
    targets, product = (z[rows] - middle) / size, part @ theta
    loss = np.maximum(np.abs(targets - product - b) - epsilon / size, 0) @ (bound[rows] / size)
    gap = theta @ product + loss - targets @ theta + epsilon / size * np.abs(theta).sum()
    doubt = 4 * np.sqrt(2 * max(gap, 0) * max(K.diagonal().max(), 1e-300))
    return middle + size * model.predict(K[[r]][:, rows])[0], doubt


def main(number, seed=0):
    """Compare so many problems, and print what differs."""
    total, unknown, bad = 0, 0, 0
    for n in range(seed, seed + number):
        rng = np.random.default_rng(n)
        X, z, C, epsilon, kernel, kind = drawn(rng)
        ours, libsvm, n_compared, n_unknown = differences(X, z, C, epsilon, kernel)
        total, unknown = total + n_compared, unknown + n_unknown
        if ours > OURS or libsvm > LIBSVM:
            bad += 1
            print(
                f"{n} {kind} {kernel} C={C.max():g} epsilon={epsilon:g} m={len(z)}: {ours:.1e} {libsvm:.1e}",
                flush=True,
            )
    print(f"{number} problems, {total} rows compared, {unknown} unknown, {bad} problems differ")
    return bad


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
