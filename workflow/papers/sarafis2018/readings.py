"""Other readings of the paper's computations: bounds with another radius, and each span by a QP."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.svm import SVC
from svmselect import Gram, smallest_enclosing_sphere, solve_csvc, span_bound, span_rule, stratified_folds
from svmselect.bounds import span_by_qp

from lib.cell import Method, error_count, estimate_columns, estimate_of_fit, taken
from lib.rows import OK
from lib.timing import timed
from papers.sarafis2018.cells import FOLDS_SEED, cell_of, fold_columns, libsvm_folds
from papers.sarafis2018.grid import stripes, weights

SAMPLED = 20  # support vectors of each model whose QPs are solved; they stand for all others


def run_radius(job, m, part, settings):
    """Compute test errors, xi-alpha with ``R^2`` = 1 less the least kernel value of the training rows, and
    the span bound with the radius of the sphere in place of its diameter. One row per model and method.

    Parameters
    ----------
    job, m, part, settings
        See `papers.sarafis2018.cells.run_models`.
    """
    cell, q = cell_of(job, m, settings)
    squared_radius = 1 - cell.gram.matrix().min()
    sphere = smallest_enclosing_sphere(cell.gram)
    half = replace(sphere, squared_radius=sphere.squared_radius / 4)

    def errors(C, fit):
        slack = np.maximum(0, 1 - cell.y * fit.decision)
        return (fit.alpha > 0) & (2 * fit.alpha * squared_radius + slack >= 1)

    methods = [
        Method("xi_alpha", errors, error_count, from_fit=True),
        estimate_of_fit(cell, "span_bound", span_bound, sphere=half),
    ]
    return rows_of(cell, q, settings, methods)


def run_qp(job, m, part, settings):
    """Measure CPU times of a fit with the span rule by one QP for each support vector, and of LIBSVM's
    cross-validation. One row per model and method; ``bound`` is the mean of the squared spans.

    Parameters
    ----------
    job, m, part, settings
        See `papers.sarafis2018.cells.run_models`.
    """
    cell, q = cell_of(job, m, settings)
    X, y = cell.part.X, cell.y
    folds = stratified_folds(y, settings.folds, FOLDS_SEED)

    by_qp = fit_with_spans(job, cell, settings, partial(span_by_qp, cell.gram))

    def libsvm(C, _):
        return libsvm_folds(X, y, C, folds, range(settings.folds), cell.gram.kernel.gamma, settings)

    # what is loaded on first use is not timed
    by_qp(np.ones(m), solve_csvc(cell.gram, y, 1.0))
    libsvm(np.ones(m), None)
    methods = [
        Method("span_rule_qp", by_qp, dict, from_fit=True),
        Method("kfold_libsvm", libsvm, fold_columns, {"fold": "cv"}),
    ]
    return rows_of(cell, q, settings, methods)


def run_libsvm_spans(job, m, part, settings):
    """Compute test errors and span rule of LIBSVM's own fits, of the models whose ``C_positive`` and
    ``C_negative`` lie within the limits ``box``. Two rows per model.

    Parameters
    ----------
    job, m, part, settings
        See `papers.sarafis2018.cells.run_models`; also ``box``, the least and the largest log2 of each.
    """
    cell, _ = cell_of(job, m, settings)
    gram, y, test = cell.gram, cell.y, cell.part
    models = [
        {name: model[name] for name in settings.box}
        for stripe in stripes(job.identity["experiment"], settings.axes)
        for model in stripe
        if all(low <= np.log2(model[name]) <= high for name, (low, high) in settings.box.items())
    ]

    def run(C_positive, C_negative):
        C = weights({"C_positive": C_positive, "C_negative": C_negative}, y, None)
        svc = SVC(C=1.0, gamma=gram.kernel.gamma, tol=settings.tol, cache_size=settings.cache_mb)
        with timed("shared") as clock:
            svc.fit(test.X, y, sample_weight=C)
        alpha = np.zeros(m)
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        # no step is taken from alphas that are optimal to this gap
        fit = solve_csvc(gram, y, C, tol=1.0, start=alpha)
        columns = {**cell.columns, "C_positive": C_positive, "C_negative": C_negative, "status": OK}
        taken_of_fit = taken(fit, "n_sv", "n_inbound", "kkt_gap", "n_iter")
        wrong = error_count(svc.predict(test.X_test) != test.y_test)
        return [
            {**columns, "method": "test", **taken_of_fit, **wrong, "cpu_s": clock.cpu_s},
            {**columns, "method": "span_rule", **estimate_columns(span_rule(gram, y, fit))},
        ]

    return job.batches(models, lambda model: run(**model))


def fit_with_spans(job, cell, settings, squared_span):
    """Return the function of a `Method` that solves a QP for each span. The function returns the CPU time of
    a fit and of all spans, estimated from a sample of them, and the mean of the sample.

    Parameters
    ----------
    job, settings
        See `papers.sarafis2018.cells.run_models`.
    cell : lib.cell.Cell
        The training rows with their matrix.
    squared_span : callable
        Squared span of a row from the in-bound support vectors other than it; called with the number of the
        row and those of all in-bound support vectors.
    """

    def fit_with_sample(C, fit):
        with timed(job.timing) as fit_clock:
            lazy = Gram(cell.part.X, cell.gram.kernel, dtype="float32", memory_mb=settings.cache_mb)
            solve_csvc(lazy, cell.y, C, tol=settings.tol, max_iter=settings.max_iter, working_set="wss2")
        support = np.flatnonzero(fit.alpha)
        inbound = np.flatnonzero((fit.alpha > 0) & (fit.alpha < C))
        # without another in-bound SV there is nothing to solve
        solved = [p for p in support if np.any(inbound != p)]
        sample = np.random.default_rng(0).permutation(solved)[:SAMPLED]
        with timed(job.timing) as sample_clock:
            spans = [squared_span(p, inbound) for p in sample]
        cpu_s = fit_clock.cpu_s + sample_clock.cpu_s * len(solved) / max(len(sample), 1)
        return {"cpu_s": cpu_s, "bound": float(np.mean(spans)) if spans else 0.0}

    return fit_with_sample


def rows_of(cell, q, settings, methods):
    """Return the rows of all models."""
    options = {"tol": settings.tol, "max_iter": settings.max_iter}
    models = [
        ({name: value for name, value in model.items() if name != "at"}, weights(model, cell.y, q), methods)
        for stripe in stripes(cell.job.identity["experiment"], settings.axes, settings.every)
        for model in stripe
    ]
    return cell.run(models, options)
