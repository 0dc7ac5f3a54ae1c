"""LIBSVM itself, through scikit-learn: the yardstick, as rows.

In a file of its own, as its runs take longest and depend on nothing that the solver is made of.
"""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from lib.checkpoint import Checkpoint
from lib.rows import OK
from lib.timing import timed
from papers.wen2017.problem import CACHE_MB, folds_of, problem

__all__ = ["run_libsvm"]


def run_libsvm(data, identity, model, k, budget_s, tol, seed, timing, checkpoint, log):
    """LIBSVM itself, through scikit-learn, on whole folds: all of them, or as many as the budget holds.

    Parameters
    ----------
    budget_s : float
        CPU seconds. The first fold is always run, another one only if it fits when it takes as long as the
        mean of those before.
    data, identity, model, k, tol, seed, timing, checkpoint, log
        See `papers.wen2017.cells.run_seeds`. The checkpoint keeps folds.

    Returns
    -------
    rows : list of dict
        One, of the folds run.
    checkpoint : Checkpoint
    """
    X, y, identity = problem(data, identity, model, k, tol, seed, timing)
    folds = folds_of(y, k, seed)
    n_folds = int(folds.max()) + 1
    saved = Checkpoint(checkpoint, identity)
    done = []
    while len(done) < n_folds:
        spent = sum(fold["training_cpu_s"] for fold in done)
        if done and spent * (1 + 1 / len(done)) > budget_s:
            break
        h = len(done)
        fold = saved.get([h])
        if fold is None:
            fold = _libsvm_fold(X, y, folds == h, model, tol, timing)
            saved.add([h], fold)
            cost = fold["n_iter"], fold["training_cpu_s"]
            log.info("fold %d of %d: %d iterations, %.1f s of CPU time", h + 1, n_folds, *cost)
        done.append(fold)
    row = {
        "method": "libsvm",
        "rounds": len(done),
        "k": n_folds,
        "rows_tested": sum(fold["rows_tested"] for fold in done),
        "errors": sum(fold["errors"] for fold in done),
        "n_iter": sum(fold["n_iter"] for fold in done),
        "cpu_s": sum(fold["training_cpu_s"] for fold in done),
        "cache_mb": CACHE_MB,
        "status": OK,
        **{f"round_{key}": [fold[key] for fold in done] for key in ("n_iter", "training_cpu_s")},
    }
    row["estimate"] = row["errors"] / row["rows_tested"]
    return [{**identity, **row}], saved


def _libsvm_fold(X, y, held_out, model, tol, timing):
    """One fold: iterations, CPU time of the fit and of the held-out points, and their errors."""
    machine = SVC(C=model["C"], gamma=model["gamma"], tol=tol, cache_size=CACHE_MB)
    X_train, X_test = X[~held_out], X[held_out]
    with timed(timing) as clock:
        predicted = machine.fit(X_train, y[~held_out]).predict(X_test)
    return {
        "n_iter": int(machine.n_iter_[0]),
        "training_cpu_s": clock.cpu_s,
        "errors": int(np.count_nonzero(predicted != y[held_out])),
        "rows_tested": int(np.count_nonzero(held_out)),
    }
