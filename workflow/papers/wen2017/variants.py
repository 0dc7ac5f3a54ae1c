"""How the folds are drawn, and a seed that leaves out a step of the paper: what that does to the counts."""

from __future__ import annotations

import numpy as np
from svmselect import RBF, Gram, cross_validate, even_folds, solve_csvc, stratified_folds
from svmselect.cv.folds import check_folds
from svmselect.cv.transition import Transition
from svmselect.gram import matrix_mb

from lib.rows import ERROR, NOT_CONVERGED, OK
from papers.wen2017.cells import PLAIN_SMO
from papers.wen2017.problem import problem

__all__ = ["run_variants"]


def zero(change):
    """The points that enter start at 0, and are moved only to keep the equality constraint."""
    return change.feasible(change.without_leaving(), change.enters)


def positive(change):
    """SIR that hands alphas only to points of a kernel value above 0, else to nobody."""
    theta = change.without_leaving()
    free = np.ones(change.enters.size, dtype=bool)
    for p in change.giving:
        similarity = change.gram.submatrix(change.enters, [p])[:, 0]
        same = free & (change.y[change.enters] == change.y[p]) & (similarity > 0)
        if same.any():
            t = np.where(same, similarity, -1.0).argmax()
            free[t] = False
            theta[change.enters[t]] = change.theta[p]
    return change.feasible(theta, change.enters)


OWN_SEEDS = {"sir_positive": positive, "zero": zero}


def run_variants(
    data, identity, model, dtype, k, seedings, stratified, unstratified, tol, max_iter, timing, log
):
    """Each seed on many assignments of the rows to folds.

    Parameters
    ----------
    data, identity, model, dtype, k, tol, max_iter, timing, log
        See `papers.wen2017.cells.run_seeds`.
    seedings : list of str
        Of the library; the two of this module follow them.
    stratified, unstratified : int
        Shuffles to draw, with the seeds 0, 1, ...; the order of the file comes on top.

    Returns
    -------
    list of dict
        One row per assignment and seed; ``folds`` names the assignment's kind.
    """
    X, y, identity = problem(data, identity, model, k, tol, None, timing)
    gram = Gram(X, RBF(model["gamma"]), dtype=dtype, memory_mb=matrix_mb(y.size, dtype)).compute()
    kinds = {
        "stratified": [stratified_folds(y, int(k), seed) for seed in range(stratified)],
        "stratified, file order": [stratified_folds(y, int(k), None)],
        "unstratified": [even_folds(y.size, int(k), seed) for seed in range(unstratified)],
        "unstratified, file order": [even_folds(y.size, int(k), None)],
    }
    rows = []
    for kind, assignments in kinds.items():
        for seed, folds in enumerate(assignments):
            found = counts(gram, y, float(model["C"]), folds, seedings, tol, max_iter)
            log.info("%s folds, shuffle %d: %s", kind, seed, found)
            for method, columns in found.items():
                rows.append(
                    {
                        **identity,
                        "method": method,
                        "folds": kind,
                        "seed": None if "file" in kind else [seed],
                        "k": int(k),
                        "rounds": int(k),
                        "gram_dtype": dtype,
                        "rows_tested": y.size,
                        **columns,
                    }
                )
    return rows


def counts(gram, y, C, folds, seedings, tol, max_iter):
    """What each seed takes on one assignment: columns of a row by method.

    A file that is sorted by class has none that is in its order: its rows say so.
    """
    try:
        check_folds(folds, y)
    except ValueError as error:
        return {method: {"status": ERROR, "reason": str(error)} for method in (*seedings, *OWN_SEEDS)}
    found = {}
    for method in seedings:
        options = {"tol": tol, "max_iter": max_iter}
        cv = cross_validate(gram, y, C, folds, method, **PLAIN_SMO, **options)
        found[method] = int(np.count_nonzero(cv.errors)), cv.n_iter, cv.n_not_converged
    for method, start in OWN_SEEDS.items():
        found[method] = chain(gram, y, C, folds, start, tol, max_iter)
    return {
        method: {
            "errors": errors,
            "estimate": errors / y.size,
            "n_iter": n_iter,
            "n_not_converged": failed,
            "status": NOT_CONVERGED if failed else OK,
            "reason": f"iteration limit reached by {failed} fits" if failed else None,
        }
        for method, (errors, n_iter, failed) in found.items()
    }


def chain(gram, y, C, folds, seed, tol, max_iter):
    """Errors, iterations and fits that did not converge of a chain over the folds, the first fit cold.

    Parameters
    ----------
    seed : callable
        Returns feasible signed variables for a Transition.
    """
    bounds = np.full(y.size, C)
    errors, n_iter, failed, solution = 0, 0, 0, None
    for h in range(int(folds.max()) + 1):
        out = np.flatnonzero(folds == h)
        start = None
        if solution is not None:
            f = solution.decision - solution.b - y
            enters = np.flatnonzero(folds == h - 1)
            theta = solution.alpha * y
            rng = np.random.default_rng(0)
            start = y * seed(Transition(gram, y, bounds, theta, f, -solution.b, out, enters, tol, rng))
        upper = bounds.copy()
        upper[out] = 0
        solution = solve_csvc(gram, y, upper, tol=tol, start=start, max_iter=max_iter, **PLAIN_SMO)
        errors += int(np.count_nonzero((solution.decision[out] >= 0) != (y[out] > 0)))
        n_iter += solution.n_iter
        failed += not solution.converged
    return errors, n_iter, failed
