"""What is run: rows, features as they are or scaled, hyper-parameters printed or chosen, folds."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from svmselect import even_folds, stratified_folds
from svmselect.data import Dataset

# the paper's data and hyper-parameters, or data scaled to [0, 1] with hyper-parameters chosen on it
PUBLISHED, CHOSEN = "published", "chosen"
LOO = "loo"
CACHE_MB = 100  # LIBSVM's default, and the paper's


@dataclass(frozen=True)
class Problem:
    """Rows and the model that is cross-validated on them.

    Attributes
    ----------
    X : ndarray or csr_matrix, shape (m, d)
    y : ndarray, shape (m,)
    folds : ndarray, shape (m,)
        The fold of each row.
    C, gamma : float
    """

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    folds: np.ndarray
    C: float
    gamma: float


def load(data, settings):
    """Rows and labels, and the set's content hash.

    Parameters
    ----------
    data : path-like
        Prepared data set; all rows of its training part are used.
    settings : {"published", "chosen"}
        "chosen": each feature is divided by its range. That is scaling to [0, 1] up to a shift, which no RBF
        kernel value depends on and which would cost a sparse matrix its zeros.

    Returns
    -------
    X : ndarray or csr_matrix, shape (m, d)
    y : ndarray, shape (m,)
    sha256 : str
    """
    dataset = Dataset.load(data)
    X = dataset.X
    if settings == CHOSEN:
        low, high = (np.asarray(end.todense() if sparse.issparse(end) else end).ravel() for end in ends(X))
        factor = np.divide(1.0, high - low, out=np.ones(X.shape[1]), where=high > low)
        X = sparse.csr_matrix(X.multiply(factor)) if sparse.issparse(X) else X * factor
    return X, dataset.y.astype(float), dataset.sha256


def ends(X):
    """The least and the largest value of each feature."""
    return X.min(axis=0), X.max(axis=0)


def folds_of(y, k, seed):
    """The fold of each row: k stratified folds, or each row one of its own in a random order.

    Parameters
    ----------
    y : ndarray, shape (m,)
    k : str
        A number, or "loo".
    seed : int
        Of the shuffle.
    """
    return even_folds(y.size, y.size, seed) if k == LOO else stratified_folds(y, int(k), seed)


def training_rows(X, y, n, seed):
    """At most n rows, drawn without replacement, in their order."""
    if n >= y.size:
        return X, y
    rows = np.sort(np.random.default_rng(seed).permutation(y.size)[:n])
    return X[rows], y[rows]


def problem(job, k, model, settings, choice=None):
    """What a cell cross-validates; its job's identity gets the columns that all rows share.

    Parameters
    ----------
    job : Job
        Its identity has the ``settings`` of the data, see `load`.
    k : str
        Number of folds, or "loo".
    model : dict or None
        ``C`` and ``gamma``; None: those of the model that was chosen.
    settings : SimpleNamespace
        ``tol``, the KKT tolerance on LIBSVM's scale; ``seed`` of the folds; optionally ``rows``, how many to
        draw at most.
    choice : DataFrame, optional
        Rows of the choice of models.

    Returns
    -------
    Problem
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
    """``C`` and ``gamma`` with the fewest errors in the rows of a choice: of several models the one with the
    least gamma, and of these with the least C."""
    best = rows.sort_values(["errors", "gamma", "C"]).iloc[0]
    return {"C": float(best["C"]), "gamma": float(best["gamma"])}
