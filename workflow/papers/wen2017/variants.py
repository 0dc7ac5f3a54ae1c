"""Variants of the folds and of the seeds: other draws of folds, a seed that leaves out a step of the paper,
and their effect on the counts."""

from dataclasses import replace

import numpy as np
from svmselect import RBF, Gram, cross_validate, even_folds, solve_csvc, stratified_folds
from svmselect.cv.folds import check_folds
from svmselect.cv.seeds.transition import Transition
from svmselect.errors import misclassified
from svmselect.gram import matrix_mb

from lib.cell import error_count
from lib.rows import ERROR
from papers.wen2017.cells import PLAIN_SMO, status
from papers.wen2017.problem import problem


def zero(change):
    """Seed by 0 for the points that enter, which are moved only to keep the equality constraint."""
    return change.feasible(change.without_leaving(), change.enters)


def positive(change, moved):
    """Seed by SIR that hands an alpha only to a point whose kernel value with it is above 0 in the matrix'
    precision, else to nobody. Some points are then `moved` by one amount until the equality constraint
    holds."""
    theta = change.without_leaving()
    free = np.ones(change.enters.size, dtype=bool)
    for p in change.giving:
        similarity = change.gram.submatrix(change.enters, [p])[:, 0]
        same = free & (change.y[change.enters] == change.y[p]) & (similarity > 0)
        if same.any():
            t = np.where(same, similarity, -1).argmax()
            free[t] = False
            theta[change.enters[t]] = change.theta[p]
    return change.feasible(theta, moved)


def positive_on_entering(change):
    """Seed by `positive`; the points that enter are moved."""
    return positive(change, change.enters)


ADDED_SEEDS = {"sir_positive": positive_on_entering, "zero": zero}


def run_variants(job, k, model, seedings, settings):
    """Run each seed on many assignments of the rows to folds. One row per assignment and seed; ``folds``
    names the assignment's kind.

    Parameters
    ----------
    job, k, model
        See `papers.wen2017.cells.run_seeds`.
    seedings : list of str
        Seedings of the library; the two of this module follow them.
    settings : SimpleNamespace
        ``dtype``, ``tol`` and ``max_iter``, as there; ``stratified`` and ``unstratified``: shuffles to draw,
        with the seeds 0, 1, ...; the order of the file comes on top.
    """
    cv_problem = problem(job, k, model, settings)
    gram = Gram(
        cv_problem.X,
        RBF(cv_problem.gamma),
        dtype=settings.dtype,
        memory_mb=matrix_mb(cv_problem.y.size, settings.dtype),
    )
    gram.compute()
    k = int(k)
    kinds = {
        "stratified": [stratified_folds(cv_problem.y, k, seed) for seed in range(settings.stratified)],
        "stratified, file order": [stratified_folds(cv_problem.y, k, None)],
        "unstratified": [even_folds(cv_problem.y.size, k, seed) for seed in range(settings.unstratified)],
        "unstratified, file order": [even_folds(cv_problem.y.size, k, None)],
    }
    options = {"tol": settings.tol, "max_iter": settings.max_iter, **PLAIN_SMO}
    rows = []
    for kind, assignments in kinds.items():
        shared = {"folds": kind, "k": k, "rounds": k, "gram_dtype": settings.dtype}
        for seed, folds in enumerate(assignments):
            columns_by_method = counts(gram, replace(cv_problem, folds=folds), seedings, options)
            job.log.info("%s folds, shuffle %d: %s", kind, seed, columns_by_method)
            shared |= {"seed": None if "file" in kind else [seed], "rows_tested": cv_problem.y.size}
            rows += [{**shared, "method": method, **columns} for method, columns in columns_by_method.items()]
    return rows


def counts(gram, cv_problem, seedings, options):
    """Run each seed on one assignment and return its counts: columns of a row by method.

    A file that is sorted by class has none that is in its order: its rows say so.
    """
    try:
        check_folds(cv_problem.folds, cv_problem.y)
    except ValueError as error:
        return {method: {"status": ERROR, "reason": str(error)} for method in (*seedings, *ADDED_SEEDS)}
    results = {}
    for method in seedings:
        cv = cross_validate(gram, cv_problem.y, cv_problem.C, cv_problem.folds, method, **options)
        results[method] = cv.errors, cv.n_iter, cv.n_not_converged
    results |= {method: chain(gram, cv_problem, start, options) for method, start in ADDED_SEEDS.items()}
    return {
        method: {**error_count(errors), "n_iter": n_iter, **status(failed)}
        for method, (errors, n_iter, failed) in results.items()
    }


def chain(gram, cv_problem, seed, options):
    """Run a chain over the folds, the first fit cold. Return its errors (bool, shape (m,)), iterations and
    the number of fits that did not converge.

    Parameters
    ----------
    seed : callable
        Returns feasible signed variables for a Transition.
    """
    y, folds, bounds = cv_problem.y, cv_problem.folds, np.full(cv_problem.y.size, cv_problem.C)
    errors, n_iter, failed, solution = np.zeros(y.size, dtype=bool), 0, 0, None
    for h in range(int(folds.max()) + 1):
        out = np.flatnonzero(folds == h)
        start = None
        if solution is not None:
            f = solution.decision - solution.b - y
            enters = np.flatnonzero(folds == h - 1)
            theta = solution.alpha * y
            rng = np.random.default_rng(0)
            change = Transition(gram, y, bounds, theta, f, -solution.b, out, enters, options["tol"], rng)
            start = y * seed(change)
        upper = bounds.copy()
        upper[out] = 0
        solution = solve_csvc(gram, y, upper, start=start, **options)
        errors[out] = misclassified(y, solution.decision)[out]
        n_iter += solution.n_iter
        failed += not solution.converged
    return errors, n_iter, failed
