"""The choice of C and gamma on the scaled data."""

import pandas as pd
from svmselect import RBF, Gram, cross_validate_grid, stratified_folds

from lib.joblog import Progress
from lib.rows import OK
from papers.wen2017.problem import chosen_model, load, training_rows


def run_choice(job, settings):
    """Count the errors of k-fold cross-validation on the scaled data, of all models of a grid. One row per
    model, whose ``C`` and ``gamma`` have ten digits; `papers.wen2017.problem.chosen_model` says which is
    chosen.

    The settings are ``rows``: at most so many, drawn at random; ``folds``, their number; ``C`` and ``gamma``,
    increasing; ``tol``; and ``seed`` of the rows and folds.
    """
    X, y, sha256 = load(job.data, job.identity["settings"])
    X, y = training_rows(X, y, settings.rows, settings.seed)
    job.identity |= {
        "data_sha256": sha256,
        "seed": [settings.seed],
        "fold": str(settings.folds),
        "kernel": "rbf",
        "tol": settings.tol,
        "m": y.size,
        "k": settings.folds,
        "gram_dtype": "float32",
    }
    gram = Gram(X, RBF(settings.gamma[0]), dtype="float32")
    folds = stratified_folds(y, settings.folds, settings.seed)
    progress = Progress(job.log, "grid", "gammas")
    grid = cross_validate_grid(
        gram, y, settings.C, settings.gamma, folds, tol=settings.tol, progress=progress
    )
    rows = [
        {
            "gamma": _ten_digits(gamma),
            "C": _ten_digits(C),
            "method": "grid",
            "errors": int(grid.errors[i, j].sum()),
            "rows_tested": y.size,
            "estimate": float(grid.error[i, j]),
            "status": OK,
        }
        for i, gamma in enumerate(settings.gamma)
        for j, C in enumerate(settings.C)
    ]
    job.log.info("chosen: %s", chosen_model(pd.DataFrame(rows)))
    return rows


def _ten_digits(value):
    """Return a number to ten digits, as cells of the chosen model read it."""
    return float(f"{value:.10g}")
