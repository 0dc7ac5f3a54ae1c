"""The runs: a whole grid of models on the training part of one realisation, as rows.

Each model is trained once; the test error and all estimates but leave-one-out come from that one solution.
"""

from __future__ import annotations

import traceback
from functools import partial

import numpy as np
from svmselect import (
    RBF,
    Gram,
    decision_function,
    leave_one_out,
    radius_margin,
    rescaled_radius_margin,
    solve_csvc,
    span_rule,
)
from svmselect.data import Dataset

from lib.rows import ERROR, NOT_CONVERGED, OK
from lib.timing import timed

__all__ = ["EXPERIMENTS", "SEED", "run_models", "training_part"]

# of the parts that a training set is cut into
SEED = 1999

# the paper's estimates of one fit, and leave-one-out: as the paper does it, and ours
FUNCTIONALS = {"radius_margin": radius_margin, "rescaled_radius_margin": rescaled_radius_margin}
LEAVE_ONE_OUT = {"loo_retrain": "retrain", "loo": "unlearn"}
# experiment -> its methods
EXPERIMENTS = {
    "width": ("test", "span_rule", *FUNCTIONALS, *LEAVE_ONE_OUT),
    "C": ("test", "span_rule", "loo"),
}

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


def training_part(dataset, realisation, parts):
    """Training and test rows of a realisation.

    Parameters
    ----------
    dataset : Dataset
    realisation : int
    parts : int
        Of a data set with a test part of its own: the training rows are cut into so many parts, equal but for
        one row, and realisation r trains on the r-th.

    Returns
    -------
    X, y, X_test, y_test : ndarray
    identity : dict
        Columns that name the rows used.

    Raises
    ------
    ValueError
        If a data set that has splits is to be cut too, or there is no such part.
    """
    X, y, X_test, y_test, split = dataset.realisation(1 if parts > 1 else realisation)
    origin, seed = split.origin, split.seed
    if parts > 1:
        if dataset.recipe is not None:
            raise ValueError(f"parts must be 1 for data set {dataset.name!r}, which has splits, got {parts}")
        if realisation > parts:
            raise ValueError(f"realisation must be at most parts = {parts}, got {realisation}")
        order = np.random.default_rng(SEED).permutation(len(y))
        rows = np.sort(np.array_split(order, parts)[realisation - 1])
        X, y, origin, seed = X[rows], y[rows], "seeded", [SEED]
    identity = {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": origin,
        "seed": None if seed is None else [int(part) for part in seed],
    }
    return X, y.astype(float), X_test, y_test, identity


def run_models(data, identity, realisation, parts, models, tol, max_iter, timing, log):
    """Every method of an experiment on every model of a grid.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    identity : dict
        Columns that name the run: paper, dataset, library, experiment.
    realisation, parts : int
        See `training_part`.
    models : list of dict
        ``C`` and ``gamma``; models of one gamma that follow each other share its Gram matrix.
    tol : float
        KKT tolerance, LIBSVM's scale.
    max_iter : int or None
    timing : {"shared", "exclusive"}
    log : logging.Logger

    Returns
    -------
    list of dict
        One row per model and method.
    """
    X, y, X_test, y_test, part = training_part(Dataset.load(data), realisation, parts)
    gram = Gram(X, RBF(models[0]["gamma"]))
    warm_up(gram, y)
    rows, gamma, gram_cpu_s = [], None, None
    for model in models:
        if model["gamma"] != gamma:
            gamma = model["gamma"]
            with timed("shared") as clock:
                gram.set_kernel(RBF(gamma)).compute()
            gram_cpu_s = clock.cpu_s
        shared = {
            **identity,
            **part,
            **model,
            "kernel": "rbf",
            "tol": tol,
            "m": len(y),
            "gram_cpu_s": gram_cpu_s,
            "timing_mode": timing,
        }
        methods = EXPERIMENTS[identity["experiment"]]
        found = _methods(methods, gram, y, X_test, y_test, model["C"], tol, max_iter, timing, log)
        rows += [{**shared, **row} for row in found]
        log.info("C=%.6g, gamma=%.6g: %s", model["C"], gamma, {row["method"]: row["status"] for row in found})
    return rows


def warm_up(gram, y):
    """Pay for page faults and lazy imports before any clock starts."""
    gram.compute()
    solution = solve_csvc(gram, y, 1.0, tol=1.0)
    for estimate in (span_rule, *FUNCTIONALS.values()):
        estimate(gram, y, solution)
    leave_one_out(gram, y, 1.0)


def _methods(methods, gram, y, X_test, y_test, C, tol, max_iter, timing, log):
    """Rows of one model: what they do not share."""

    def attempt(method, run):
        try:
            with timed(timing) as clock:
                result = run()
        except NUMERICAL_ERRORS as error:
            log.error("C=%r, %s: %s", C, method, traceback.format_exc())
            return None, {"method": method, "status": ERROR, "reason": f"{type(error).__name__}: {error}"}
        return result, {"method": method, "status": OK, "cpu_s": clock.cpu_s, "wall_s": clock.wall_s}

    solution, fit = attempt("test", partial(solve_csvc, gram, y, C, tol=tol, max_iter=max_iter))
    if solution is None:
        return [{**fit, "method": method} for method in methods]
    of_fit = {
        "n_sv": solution.n_sv,
        "n_inbound": solution.n_inbound,
        "objective": solution.objective,
        "kkt_gap": solution.kkt_gap,
        "n_iter": solution.n_iter,
        "columns_requested": solution.columns_requested,
        "kernel_values": solution.kernel_values,
    }
    if not solution.converged:
        fit |= {"status": NOT_CONVERGED, "reason": "iteration limit reached"}
    predicted = np.where(decision_function(gram, y, solution, X_test) >= 0, 1, -1)
    rows = [{**fit, **of_fit, "fold": "test", **_errors(predicted != y_test)}]

    # an estimate of an unfinished fit is as unfinished
    unfinished = {} if solution.converged else {name: fit[name] for name in ("status", "reason")}
    for method in methods[1:]:
        if method in LEAVE_ONE_OUT:
            rows.append(_leave_one_out(attempt, method, gram, y, C, tol, max_iter))
            continue
        estimate = FUNCTIONALS.get(method, span_rule)
        result, row = attempt(method, partial(estimate, gram, y, solution))
        if result is not None:
            row |= unfinished
            row |= {"bound": result.bound} if method in FUNCTIONALS else _span_rule(result)
        rows.append({**row, "fold": "train"})
    return rows


def _span_rule(rule):
    return {**_errors(rule.errors), "n_degenerate": rule.n_without_span + rule.n_dependent}


def _leave_one_out(attempt, method, gram, y, C, tol, max_iter):
    """The row of an exact leave-one-out error, which trains anew."""
    options = {"tol": tol, "working_set": "wss2", "max_iter": max_iter}
    loo, row = attempt(method, partial(leave_one_out, gram, y, C, LEAVE_ONE_OUT[method], **options))
    if loo is not None:
        row |= {
            **_errors(loo.errors),
            "n_iter": loo.n_iter,
            "columns_requested": loo.columns_requested,
            "kernel_values": loo.kernel_values,
        }
        if loo.n_not_converged:
            reason = f"iteration limit reached by {loo.n_not_converged} solutions"
            row |= {"status": NOT_CONVERGED, "reason": reason}
    return {**row, "fold": "loo"}


def _errors(wrong):
    count = int(np.count_nonzero(wrong))
    return {"errors": count, "rows_tested": len(wrong), "estimate": count / len(wrong)}
