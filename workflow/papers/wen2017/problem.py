"""What is run: rows, features as they are or scaled, hyper-parameters printed or chosen, folds."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse
from svmselect import even_folds, stratified_folds
from svmselect.data import Dataset

__all__ = [
    "CACHE_MB",
    "CHOSEN",
    "LOO",
    "PUBLISHED",
    "chosen_model",
    "folds_of",
    "load",
    "problem",
    "training_rows",
]

# the paper's data and hyper-parameters, or data scaled to [0, 1] with hyper-parameters chosen on it
PUBLISHED, CHOSEN = "published", "chosen"
LOO = "loo"
CACHE_MB = 100  # LIBSVM's default, and the paper's


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


def problem(data, identity, model, k, tol, seed, timing):
    """Rows, labels and the full identity of a cell, which every row of it has."""
    X, y, sha256 = load(data, identity["settings"])
    identity = {
        **identity,
        **model,
        "data_sha256": sha256,
        "seed": None if seed is None else [seed],
        "fold": k,
        "kernel": "rbf",
        "tol": tol,
        "m": y.size,
        "timing_mode": timing,
    }
    return X, y, identity


def chosen_model(path):
    """``C`` and ``gamma`` of the model that was chosen, from the table of all."""
    table = pd.read_csv(path)
    model = table[table["chosen"] == "yes"].iloc[0]
    return {"C": float(model["C"]), "gamma": float(model["gamma"])}
