"""Training sets edited, and the scikit-learn estimators."""

from __future__ import annotations

import warnings

import numpy as np
from fuzz.checks import check_decisions, check_errors, check_hopeless, require
from fuzz.truth import FLOOR, LONG

from svmselect import InfeasibleNu, bagging, condense, cross_training, multiedit
from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV

EQUAL = 1e-9  # condense: of distances


def dense(said):
    """The rows as they are said, in long double."""
    return said.problem.X.astype(LONG)


def condensed(said, rng):
    """The nearest row that is kept has the label of each row, but for twins of the other class."""
    rows = condense(said.X, said.y, seed=int(rng.integers(100)))
    X, y = dense(said), said.y
    size = (X**2).sum(axis=1).max()
    distance = ((X[:, None] - X[rows][None]) ** 2).sum(axis=2)
    # scikit-learn's distances are differences of products
    off = 64 * (X.shape[1] + 4) * LONG(np.finfo(float).eps) * size
    for i in range(y.size):
        nearest = distance[i] <= distance[i].min() * (1 + 4 * EQUAL) + off
        if (X[i] == X[y != y[i]]).all(axis=1).any():
            continue
        require(
            (y[rows][nearest] == y[i]).any(), "condense", f"row {i} has the wrong label in {rows.tolist()}"
        )


def multiedited(said, rng):
    """The same rows in every way that changes neither their order nor the order of distances."""
    seed = int(rng.integers(100))
    rows = multiedit(said.X, said.y, seed=seed)
    require(np.isin(rows, np.arange(said.problem.m)).all(), "multiedit", f"keeps {rows}")
    binary = np.frexp(said.factor)[0] == 0.5 and np.array_equal(said.rows, np.arange(said.base.m))
    if binary and said.offset is None and said.order is None and isinstance(said.X, np.ndarray):
        base = multiedit(said.base.X, said.base.y, seed=seed)
        require(
            np.array_equal(rows, base),
            "multiedit",
            f"keeps {rows.tolist()}, of the rows as they were {base.tolist()}",
        )


def check_svm(said, svm, rows, tol):
    """An SVM trained on some rows with one C is optimal, and its decision values follow from its alphas."""
    truth = said.measured_from(svm.origin)
    K, E = (values[np.ix_(said.rows, said.rows)] for values in (truth.moved, truth.E))
    theta = np.zeros(said.problem.m, dtype=LONG)
    theta[svm.support] = svm.theta / LONG(said.factor)
    C, alpha = LONG(svm.value) / LONG(said.factor), np.abs(theta)
    bound = np.abs(svm.theta) == svm.value
    full = np.zeros(said.problem.m, dtype=bool)
    full[svm.support[bound]] = True
    require((alpha <= C * (1 + 1e-15)).all(), "editing", f"alpha exceeds C = {svm.value}")
    y = said.y
    f, noise = K @ theta, E @ alpha + FLOOR
    breakpoints = (y - f)[rows]
    up = np.where(y > 0, ~full, alpha > 0)[rows]
    low = np.where(y > 0, alpha > 0, ~full)[rows]
    gap = float(breakpoints[up].max(initial=-np.inf) - breakpoints[low].min(initial=np.inf))
    rounding = 2 * float(noise.max())
    if gap > tol + rounding:  # it does not say whether it converged
        bounds = said.bounds(~np.isin(np.arange(said.problem.m), rows), svm.value)
        ours = np.abs(theta).astype(float) * said.factor
        check_hopeless(said, tol, bounds, ours, f"an SVM has a KKT gap of {gap:.6g}")
    thresholds = svm.decision_function(said.X) - f
    spread = float(np.ptp(thresholds))
    require(spread <= rounding, "editing", f"decision values are off by {spread:.3g}")


def bagged(said, rng):
    C = float(np.median(said.C))
    options = {"n_subsets": int(rng.integers(1, 4)), "tol": 1e-6, "seed": int(rng.integers(100))}
    try:
        result = bagging(said.X, said.y, said.problem.kernel, C, **options)
    except ValueError as error:
        require("class" in str(error) or "fold" in str(error), "sentence", str(error))
        return
    for svm, rows in zip(result.svms, result.subsets, strict=True):
        check_svm(said, svm, rows, 1e-6)
    mean = result.decision.mean(axis=0)
    off = float(np.abs(result.decision_function(said.X) - mean).max())
    require(off <= 1e-9 * max(1, np.abs(mean).max()), "bagging", f"the mean is off by {off:.3g}")


def cross_trained(said, rng):
    C = float(np.median(said.C))
    try:
        result = cross_training(
            said.X,
            said.y,
            said.problem.kernel,
            C,
            n_subsets=2,
            tune_threshold=False,
            tol=1e-6,
            seed=int(rng.integers(100)),
        )
    except ValueError as error:
        sentence = str(error)
        require("class" in sentence or "fold" in sentence or "point" in sentence, "sentence", sentence)
        return
    check_svm(said, result.final, result.rows, 1e-6)
    values = said.y * result.first.decision
    mean = values.mean(axis=0)
    off = float(np.abs(result.mean - mean).max())
    require(off <= 1e-12 * max(1, np.abs(values).max()), "cross-training", f"means are off by {off:.3g}")


def scikit_learn_model(said):
    """The rows in a form that scikit-learn takes, its name and options for the kernel, and the weights."""
    gamma = said.problem.gamma
    kernel = {"kernel": "linear"} if gamma is None else {"kernel": "rbf", "gamma": gamma}
    top = said.C.max()
    return said.X, kernel, float(top), said.C / top


def svc(said, rng):
    """The estimator's decision values, support vectors and leave-one-out predictions."""
    X, kernel, C, weight = scikit_learn_model(said)
    tol = 1e-6
    model = SVC(C=C, tol=tol, **kernel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, said.y, sample_weight=weight)
        if model.fit_status_:
            return
        rows = np.arange(said.problem.m)
        check_decisions(said, model.decision_function(X), None, 2 * tol, rows, "estimator's decision value")
        require((model.predict(X) == np.where(model.decision_function(X) >= 0, 1, -1)).all(), "predict", "")
        wrong = model.leave_one_out() != said.y
    require(model.loo_error_ == wrong.mean(), "loo_error_", f"is {model.loo_error_}, not {wrong.mean()}")
    for r in rows:
        check_errors(said, wrong, said.bounds(rows == r), tol, np.array([r]), "estimator's leave-one-out")


def nu_svc(said, rng):
    X, kernel, _, weight = scikit_learn_model(said)
    nu = float(rng.choice([0.1, 0.3, 0.6]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = NuSVC(nu=nu, tol=1e-6, **kernel).fit(X, said.y, sample_weight=weight)
        except InfeasibleNu:
            return
        result = model.decision_function(X)
    require(np.isfinite(result).all(), "finite", "NuSVC has a decision value that is not")
    require((model.predict(X) == np.where(result >= 0, 1, -1)).all(), "predict", "is not the sign")


def searches(said, rng):
    """Leave-one-out scores of a search over C lie within what is certain; so do cross-validated ones."""
    X, kernel, _, _ = scikit_learn_model(said)
    y, m = said.y, said.problem.m
    C = float(np.median(said.C))
    grid = {"C": [C, 4 * C]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LOOSearchCV(SVC(tol=1e-6, **kernel), grid).fit(X, y)
    for k, value in enumerate(grid["C"]):
        if fitted.cv_results_["n_not_converged"][k]:
            continue
        least = most = 0
        for r in range(m):
            bounds = np.bincount(said.rows, np.where(np.arange(m) == r, 0, value) / said.factor, said.base.m)
            low, high = said.truth.intervals(bounds, 1e-6, [said.rows[r]])
            label = said.base.y[said.rows[r]]
            least += bool((high < 0) if label > 0 else (low > 0))
            most += bool((low <= 0) if label > 0 else (high >= 0))
        errors = (1 - fitted.cv_results_["mean_test_score"][k]) * m
        require(
            least - 1e-6 <= errors <= most + 1e-6,
            "search",
            f"{errors:.6g} errors for C = {value:g}; there are {least} to {most}",
        )
    k = int(min((y > 0).sum(), (y < 0).sum()))
    if k < 2:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seeded = SeededCV(SVC(tol=1e-6, **kernel), grid, cv=min(k, 3), refit=False).fit(X, y)
    scores = seeded.cv_results_["mean_test_score"]
    require(((scores >= 0) & (scores <= 1)).all(), "search", f"scores are {scores}")


FACES = {
    "condense": condensed,
    "multiedit": multiedited,
    "bagging": bagged,
    "cross-training": cross_trained,
    "estimator SVC": svc,
    "estimator NuSVC": nu_svc,
    "estimators that search": searches,
}
