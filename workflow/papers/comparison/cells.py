"""The runs: an estimate of the test error, on the models of one realisation, as rows.

A cell is one estimator, so that a new one, or a changed one, computes its own cells only. In each cell every
model is trained from zero; the estimates of one fit come from that solution, and leave-one-out starts from
it. Cross-validation trains its own fits, each from zero. A Gram matrix is computed before any clock starts.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse
from svmselect import RBF, Gram, even_folds, smallest_enclosing_sphere, solve_csvc, stratified_folds

from data.dataset import Dataset
from lib.cell import Cell, Method, estimate_columns, load_part
from lib.timing import timed
from papers.bakir2004.problem import scaled
from papers.comparison.estimator import TEST, Model, load_estimators

# seeds the assignments to folds
FOLDS_SEED = 2026


def training_part(dataset, realisation):
    """Return training and test rows of a realisation, dense, as a `Part`. Each feature has the mean and the
    deviation of the training rows taken out."""
    part = load_part(dataset, realisation)
    X, X_test = (part.toarray() if sparse.issparse(part) else part for part in (part.X, part.X_test))
    X, X_test = scaled(X, X_test, "deviation")
    return replace(part, X=X, X_test=X_test)


def assignment(y, k):
    """Return the fold of each point: stratified, or of equal size only if no class has k points, which would
    leave folds empty."""
    if np.unique(y, return_counts=True)[1].max() < k:
        return even_folds(len(y), k, FOLDS_SEED)
    return stratified_folds(y, k, FOLDS_SEED)


def run_estimator(job, realisation, estimator, kernels, settings):
    """Run an estimator (the name of its file), or the test error (`TEST`), on the models of a grid. One row
    per model, and for cross-validation one per model and number of folds.

    Kernels are dicts of ``gamma`` (None for the linear kernel) and ``C``, a list of values. The settings are
    ``tol``, ``max_iter``, and ``folds``, a list of their numbers for an estimator of folds.
    """
    cell = Cell(job, training_part(Dataset.load(job.data), realisation))
    job.identity["tol"] = settings.tol
    declared = None if estimator == TEST else load_estimators()[estimator]
    job.warm_up(partial(_run_once, declared))
    options = {"tol": settings.tol, "max_iter": settings.max_iter}

    def run(kernel):
        cell.set_kernel(kernel["gamma"])
        sphere = None
        if declared is not None and declared.needs_sphere:
            with timed("shared") as clock:
                sphere = smallest_enclosing_sphere(cell.gram)
            cell.columns["sphere_cpu_s"] = clock.cpu_s
        methods = (
            []
            if declared is None
            else list(_methods(cell, estimator, declared, sphere, settings.folds, options))
        )
        rows = cell.run([({"C": C}, C, methods) for C in kernel["C"]], options)
        return [row for row in rows if row["method"] == estimator]

    return job.batches(kernels, run)


def _methods(cell, name, estimator, sphere, ks, options):
    """Return the estimator as a method, once for every number of folds if it needs folds."""

    def method(k):
        folds = None if k is None else assignment(cell.y, k)

        def run(C, fit):
            return estimator.run(Model(cell.gram, cell.y, C, fit, sphere, folds, options))

        return Method(
            name, run, _columns, {"k": k, "fold": estimator.fold}, from_fit=estimator.fold == "train"
        )

    return map(method, ks if estimator.needs_folds else [None])


def _columns(result):
    counts = ["n_iter"] if hasattr(result, "n_iter") else []
    return estimate_columns(result, *counts, solved="runs of the solver")


def _run_once(estimator, X, y):
    """Call a fit, and the estimator if there is one."""
    gram = Gram(X, RBF(1.0))
    solution = solve_csvc(gram, y, 1.0)
    if estimator is not None:
        sphere = smallest_enclosing_sphere(gram) if estimator.needs_sphere else None
        estimator.run(Model(gram, y, 1.0, solution, sphere, assignment(y, 5), {}))
