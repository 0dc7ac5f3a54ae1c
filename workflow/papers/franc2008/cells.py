"""The runs: leave-one-out and test errors on one Gram matrix per cell, as rows.

A cell is one data set, realisation and kernel. Its points share the Gram matrix, which is computed before any
clock starts.
"""

from __future__ import annotations

import time
import traceback

import numpy as np
from svmselect import RBF, Gram, Linear, decision_function, leave_one_out, solve_csvc
from svmselect.data import Dataset

from lib.checkpoint import Checkpoint, run_points
from lib.rows import ERROR, NOT_CONVERGED, OK, SKIPPED, pack_bits, unpack_bits
from lib.timing import timed

__all__ = ["METHODS", "run_loo", "run_stopping", "run_test", "tolerance"]

# the paper's two methods and ours -> the library's names
METHODS = {"standard": "retrain", "proposed": "certified", "unlearn": "unlearn"}

# KKT gap of the classifiers that decide where methods disagree, and their most steps
EXACT, EXACT_STEPS = 1e-8, 10_000_000

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


def tolerance(eps):
    """The library's stopping tolerance for the paper's eps.

    Eq. 8 of the paper asks that some threshold leaves every point within eps, that is ``M+ - M- <= 2 eps``;
    the library (and LIBSVM) stop at ``M+ - M- <= tol``.
    """
    return 2 * eps


def run_loo(
    data,
    identity,
    realisation,
    kernel,
    gamma,
    C,
    methods,
    eps,
    efficiency_test,
    max_iter,
    timing,
    checkpoint,
    log,
):
    """Leave-one-out errors by each method for every C of a cell.

    The paper's methods solve each model from zero, as its protocol has it. "unlearn" starts from its solution
    of the C before, the alphas scaled by the ratio of the two: bounded SVs stay bounded.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    identity : dict
        Columns that name the run: paper, dataset, library.
    realisation : int
    kernel : {"linear", "rbf"}
    gamma : float or None
    C : list of float
    methods : list of str
        Of `METHODS`.
    eps : float
        The paper's; see `tolerance`.
    efficiency_test : int
        The paper's M.
    max_iter : int or None
    timing : {"shared", "exclusive"}
    checkpoint : path-like
        File of finished points; the caller removes it with the returned object.
    log : logging.Logger

    Returns
    -------
    rows : list of dict
        One per C and method.
    checkpoint : Checkpoint
    """
    gram, y, identity, gram_cpu_s = _problem(data, identity, realisation, kernel, gamma)
    settings = {"eps": eps, "efficiency_test": efficiency_test, "max_iter": max_iter, "timing": timing}
    log.info("cell %s, %d points, Gram matrix in %.3f s of CPU time", identity, gram.m, gram_cpu_s)

    _warm_up(methods)
    saved = Checkpoint(checkpoint, {**identity, **settings})
    before = dict(zip(C[1:], C, strict=False))

    def run(c, method):
        options = {"efficiency_test": efficiency_test, "max_iter": max_iter}
        # finished models are in the checkpoint, also those of a job that was killed
        model = saved.get([before.get(c), method]) if method == "unlearn" else None
        if model is not None:
            options["start"] = np.minimum(np.array(model["alpha"]) * (c / before[c]), c)
        row = _leave_one_out(gram, y, c, METHODS[method], eps, timing, log, **options)
        return {**row, "start_C": None if model is None else before[c]}

    points = [[c, method] for c in C for method in methods]
    results = run_points(points, run, saved, log)
    for i in range(0, len(points), len(methods)):
        _mark_differences(results[i : i + len(methods)], gram, y, points[i][0])
    shared = {**identity, "gram_dtype": "float64", "gram_cpu_s": gram_cpu_s}
    rows = [
        _without_vectors({**shared, "C": c, "method": method, **result})
        for (c, method), result in zip(points, results, strict=True)
    ]
    return rows, saved


def run_stopping(data, identity, realisation, kernel, gamma, C, eps, max_iter, timing, checkpoint, log):
    """Leave-one-out errors of the standard method for every C and eps of a cell; else as `run_loo`."""
    gram, y, identity, gram_cpu_s = _problem(data, identity, realisation, kernel, gamma)
    log.info("cell %s, %d points, Gram matrix in %.3f s of CPU time", identity, gram.m, gram_cpu_s)

    def run(C, eps):
        row = _leave_one_out(gram, y, C, METHODS["standard"], eps, timing, log, max_iter=max_iter)
        return _without_vectors(row)

    saved = Checkpoint(checkpoint, {**identity, "max_iter": max_iter, "timing": timing})
    points = [[c, e] for c in C for e in eps]
    results = run_points(points, run, saved, log)
    shared = {**identity, "gram_dtype": "float64", "gram_cpu_s": gram_cpu_s, "method": "standard"}
    return [{**shared, "C": c, **result} for (c, _), result in zip(points, results, strict=True)], saved


def run_test(data, identity, realisations, kernel, model, eps, max_iter, timing, log):
    """Test errors of one model, trained anew on each realisation.

    Parameters
    ----------
    data, identity, kernel, eps, max_iter, timing, log
        As in `run_loo`.
    realisations : list of int
    model : dict
        ``C``, ``gamma`` (None for the linear kernel), and the ``status`` and ``reason`` of the selection:
        without a model the rows are ``skipped``.

    Returns
    -------
    list of dict
        One row per realisation.
    """
    dataset = Dataset.load(data)
    tol = tolerance(eps)
    rows = []
    for realisation in realisations:
        X, y, X_test, y_test, split = dataset.realisation(realisation)
        row = {
            **identity,
            **_split_identity(dataset, split, realisation),
            "fold": "test",
            "method": "retrained",
            "kernel": kernel,
            "C": model["C"],
            "gamma": model["gamma"],
            "eps": eps,
            "tol": tol,
            "m": len(y),
            "rows_tested": len(y_test),
            "timing_mode": timing,
        }
        if model["status"] != OK:
            row |= {"status": SKIPPED, "reason": f"no model was selected: {model['reason']}"}
        else:
            row |= _test_error(
                X, y, X_test, y_test, _kernel(kernel, model["gamma"]), model["C"], tol, max_iter, timing, log
            )
        log.info("realisation %d: %s, %s errors", realisation, row["status"], row.get("errors"))
        rows.append(row)
    return rows


def _kernel(kernel, gamma):
    return {"linear": Linear, "rbf": RBF}[kernel](*([] if gamma is None else [gamma]))


def _split_identity(dataset, split, realisation):
    return {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": split.origin,
        "seed": None if split.seed is None else [int(part) for part in split.seed],
    }


def _problem(data, identity, realisation, kernel, gamma):
    """Gram matrix (computed), labels, full identity of a cell and the CPU time of the matrix."""
    dataset = Dataset.load(data)
    X, y, _, _, split = dataset.realisation(realisation)
    identity = {
        **identity,
        **_split_identity(dataset, split, realisation),
        "fold": "loo",
        "kernel": kernel,
        "gamma": gamma,
    }
    gram = Gram(X, _kernel(kernel, gamma), dtype="float64")
    with timed("shared") as clock:
        gram.compute()
        gram.squared_radius()
    # the first solve on a matrix pays for page faults: it is not one of those that are timed
    solve_csvc(gram, y, 1e-3, tol=1.0, working_set="mvp")
    return gram, y, identity, clock.cpu_s


def _warm_up(methods):
    """The first call of a method pays for what Python and LAPACK load on first use: it is not timed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.where(X[:, 0] + rng.standard_normal(60) > 0, 1, -1)
    for method in methods:
        leave_one_out(Gram(X, RBF(1.0)), y, 1.0, method=METHODS[method])


def _leave_one_out(gram, y, C, method, eps, timing, log, **options):
    """One row of an estimate: what the cell's rows do not share, and two vectors that are not written."""
    row = {"eps": eps, "tol": tolerance(eps), "m": gram.m, "rows_tested": gram.m, "timing_mode": timing}
    report = _Progress(log, f"C={C:.6g}, {method}, eps={eps:.3g}")
    try:
        with timed(timing) as clock:
            loo = leave_one_out(
                gram, y, C, method=method, tol=row["tol"], working_set="mvp", progress=report, **options
            )
    except NUMERICAL_ERRORS as error:
        log.error("C=%r, method %s: %s", C, method, traceback.format_exc())
        return {**row, "status": ERROR, "reason": f"{type(error).__name__}: {error}"}
    resolved = {
        f"n_{way}": int(np.count_nonzero(loo.resolved_by == way)) for way in ("check1", "check2", "check3")
    }
    row |= {
        "errors": int(np.count_nonzero(loo.errors)),
        "estimate": float(np.mean(loo.errors)),
        "n_sv": int(loo.solution.n_sv),
        "n_inbound": int(loo.solution.n_inbound),
        "objective": float(loo.solution.objective),
        "kkt_gap": float(loo.solution.kkt_gap),
        "n_iter": int(loo.n_iter),
        "columns_requested": int(loo.columns_requested),
        "kernel_values": int(loo.kernel_values),
        "cpu_s": clock.cpu_s,
        "wall_s": clock.wall_s,
        "n_solved": int(loo.n_solved),
        "n_not_converged": int(loo.n_not_converged),
        **resolved,
        "n_retrained": int(loo.n_retrained),
        "n_certified": int(loo.n_certified),
        "min_abs_decision": float(np.abs(loo.decision).min()),
        "error_pattern": pack_bits(loo.errors),
        "decision": loo.decision.tolist(),
        "alpha": loo.solution.alpha.tolist(),
        "status": OK,
    }
    stopped_early = []
    if not loo.solution.converged:
        stopped_early.append("the solution on all points")
    n_points = loo.n_not_converged - (not loo.solution.converged)
    if n_points:
        stopped_early.append(f"{n_points} of {loo.n_solved} left-out points")
    if stopped_early:
        row |= {
            "status": NOT_CONVERGED,
            "reason": "iteration limit reached by " + " and ".join(stopped_early),
        }
    return row


class _Progress:
    """Called after each solved point; says in the log once a minute how far a long estimate is."""

    def __init__(self, log, what):
        self.log, self.what, self.last = log, what, time.monotonic()

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self.last >= 60:
            self.log.info("%s: %d of %d points solved", self.what, done, total)
            self.last = now


def _without_vectors(row):
    """The row as it is written: without the vectors that its cell needed."""
    return {name: value for name, value in row.items() if name not in ("decision", "alpha")}


def _mark_differences(rows, gram, y, C):
    """Add to each method's row of one model the points on whose error they disagree.

    With them go the decision values of the method, and of the solver trained without the point to `EXACT`.
    """
    rows = [row for row in rows if "error_pattern" in row]
    if not rows:
        return
    patterns = np.array([unpack_bits(row["error_pattern"], gram.m) for row in rows])
    points = np.flatnonzero(patterns.any(axis=0) & ~patterns.all(axis=0)).tolist()
    exact = [_exact_decision(gram, y, C, point) for point in points]
    for row in rows:
        row["differing_points"] = points
        row["differing_decisions"] = [row["decision"][point] for point in points]
        row["differing_exact"] = exact


def _exact_decision(gram, y, C, point):
    """Decision value of a point by the classifier trained without it; NaN if that did not converge."""
    bounds = np.full(gram.m, C)
    bounds[point] = 0
    solution = solve_csvc(gram, y, bounds, tol=EXACT, max_iter=EXACT_STEPS)
    return float(solution.decision[point]) if solution.converged else np.nan


def _test_error(X, y, X_test, y_test, kernel, C, tol, max_iter, timing, log):
    try:
        gram = Gram(X, kernel, dtype="float64").compute()
        with timed(timing) as clock:
            solution = solve_csvc(gram, y, C, tol=tol, working_set="wss2", max_iter=max_iter)
        # a decision value of 0 counts as class +1 (eq. 2)
        predicted = np.where(decision_function(gram, y, solution, X_test) >= 0, 1, -1)
    except NUMERICAL_ERRORS as error:
        log.error("C=%r: %s", C, traceback.format_exc())
        return {"status": ERROR, "reason": f"{type(error).__name__}: {error}"}
    row = {
        "errors": int(np.count_nonzero(predicted != y_test)),
        "estimate": float(np.mean(predicted != y_test)),
        "n_sv": int(solution.n_sv),
        "n_inbound": int(solution.n_inbound),
        "objective": float(solution.objective),
        "kkt_gap": float(solution.kkt_gap),
        "n_iter": int(solution.n_iter),
        "columns_requested": int(solution.columns_requested),
        "kernel_values": int(solution.kernel_values),
        "cpu_s": clock.cpu_s,
        "wall_s": clock.wall_s,
        "status": OK,
    }
    if not solution.converged:
        row |= {"status": NOT_CONVERGED, "reason": "iteration limit reached"}
    return row
