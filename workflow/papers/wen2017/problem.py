"""Problems to cross-validate: rows, features as they are or scaled, hyper-parameters printed or chosen,
folds."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from svmselect import even_folds, stratified_folds

from data.dataset import Dataset

# the paper's data and hyper-parameters, or data scaled to [0, 1] with hyper-parameters chosen on it
PUBLISHED, CHOSEN = "published", "chosen"
LOO = "loo"
CACHE_MB = 100  # LIBSVM's default, and the paper's


@dataclass(frozen=True)
class Problem:
    """Rows and the model that is cross-validated on them: X of shape (m, d), dense or sparse; y and the
    fold of each row, of shape (m,); C and gamma."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    folds: np.ndarray
    C: float
    gamma: float


def load(data, settings):
    """Return all rows of the training part of a prepared data set, their labels, and the set's content hash.

    With the settings "chosen" each feature is divided by its range. That is scaling to [0, 1] up to a shift,
    which no RBF kernel value depends on and which would cost a sparse matrix its zeros.
    """
    dataset = Dataset.load(data)
    X = dataset.X
    if settings == CHOSEN:
        low, high = (np.asarray(end.todense() if sparse.issparse(end) else end).ravel() for end in ends(X))
        factor = np.divide(1.0, high - low, out=np.ones(X.shape[1]), where=high > low)
        X = sparse.csr_matrix(X.multiply(factor)) if sparse.issparse(X) else X * factor
    return X, dataset.y.astype(float), dataset.sha256


def ends(X):
    """Return the least and the largest value of each feature."""
    return X.min(axis=0), X.max(axis=0)


def folds_of(y, k, seed):
    """Return the fold of each row: k (text) stratified folds, or with "loo" a fold for each row, in a random
    order."""
    return even_folds(y.size, y.size, seed) if k == LOO else stratified_folds(y, int(k), seed)


def training_rows(X, y, n, seed):
    """Return at most n rows, drawn without replacement, in their order."""
    if n >= y.size:
        return X, y
    rows = np.sort(np.random.default_rng(seed).permutation(y.size)[:n])
    return X[rows], y[rows]


def problem(job, k, model, settings, choice=None):
    """Return the `Problem` that a cell cross-validates. The identity of its job, which has the ``settings``
    of the data (see `load`), gets the columns that all rows share.

    `k` is a number of folds as text, or "loo"; `model` has ``C`` and ``gamma``, or is None: those of the
    model that was chosen, by the rows `choice`. The settings are ``tol``, the KKT tolerance on LIBSVM's
    scale; ``seed`` of the folds; optionally ``rows``, how many to draw at most.
    """
    X, y, sha256 = load(job.data, job.identity["settings"])
    X, y = training_rows(X, y, getattr(settings, "rows", y.size), settings.seed)
    model = model or chosen_model(choice[choice["dataset"] == job.identity["dataset"]])
    job.identity |= {
        **model,
        "data_sha256": sha256,
        "seed": [settings.seed],
        "fold": k,
        "kernel": "rbf",
        "tol": settings.tol,
        "m": y.size,
    }
    return Problem(X, y, folds_of(y, k, settings.seed), **model)


def chosen_model(rows):
    """Return ``C`` and ``gamma`` with the fewest errors in the rows of a choice; of several models the one
    with the least gamma, and of these with the least C."""
    best = rows.sort_values(["errors", "gamma", "C"]).iloc[0]
    return {"C": float(best["C"]), "gamma": float(best["gamma"])}
