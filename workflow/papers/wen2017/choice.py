"""The choice of C and gamma on the scaled data."""

from __future__ import annotations

from svmselect import RBF, Gram, cross_validate_grid, stratified_folds

from papers.wen2017.problem import CHOSEN, load, training_rows

__all__ = ["run_choice"]


def run_choice(data, rows, folds, C, gamma, tol, seed, progress):
    """The model with the least error in k-fold cross-validation on the scaled data.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    rows : int
        Most rows to use, drawn at random.
    folds : int
    C, gamma : list of float
        Increasing; of several best models the one with the least gamma, and of these with the least C.
    tol : float
    seed : int
        Of the rows and folds.
    progress : callable

    Returns
    -------
    list of dict
        One row per model: ``gamma``, ``C``, ``errors``, ``rows``, ``error``, and ``chosen``, "yes" for one.
    """
    X, y, _ = load(data, CHOSEN)
    X, y = training_rows(X, y, rows, seed)
    gram = Gram(X, RBF(gamma[0]), dtype="float32")
    grid = cross_validate_grid(
        gram, y, C, gamma, stratified_folds(y, folds, seed), tol=tol, progress=progress
    )
    return [
        {
            "gamma": g,
            "C": c,
            "errors": int(grid.errors[i, j].sum()),
            "rows": y.size,
            "error": float(grid.error[i, j]),
            "chosen": "yes" if (g, c) == grid.best else "no",
        }
        for i, g in enumerate(gamma)
        for j, c in enumerate(C)
    ]
