"""LIBSVM itself, through scikit-learn: the baseline, as rows.

In a file of its own, as its runs take longest and depend on nothing that the solver is made of.
"""

import numpy as np
from sklearn.svm import SVC

from lib.rows import OK
from lib.timing import timed
from papers.wen2017.problem import CACHE_MB, problem


def run_libsvm(job, k, model, settings, choice=None):
    """Run LIBSVM itself, through scikit-learn, on whole folds: all of them, or as many as the budget holds.
    One row, of the folds run, which are in the checkpoint.

    For the arguments, ``tol`` and ``seed`` see `papers.wen2017.cells.run_seeds`. ``budget_s`` are CPU
    seconds: the first fold is always run, another one only if it fits when it takes as long as the mean of
    those before.
    """
    cv_problem = problem(job, k, model, settings, choice)
    n_folds = int(cv_problem.folds.max()) + 1
    done, spent = [], 0
    for fold in job.points(
        [[h] for h in range(n_folds)], lambda h: _fold(job, cv_problem, cv_problem.folds == h)
    ):
        done.append(fold)
        spent += fold["cpu_s"]
        if spent * (1 + 1 / len(done)) > settings.budget_s:
            break
    row = {
        "method": "libsvm",
        "rounds": len(done),
        "k": n_folds,
        **{key: sum(fold[key] for fold in done) for key in ("rows_tested", "errors", "n_iter", "cpu_s")},
        "cache_mb": CACHE_MB,
        "status": OK,
        "round_n_iter": [fold["n_iter"] for fold in done],
        "round_training_cpu_s": [fold["cpu_s"] for fold in done],
    }
    return [{**row, "estimate": row["errors"] / row["rows_tested"]}]


def _fold(job, cv_problem, held_out):
    """Run one fold and return its iterations, CPU time of the fit and of the held-out points, and errors."""
    machine = SVC(C=cv_problem.C, gamma=cv_problem.gamma, tol=job.identity["tol"], cache_size=CACHE_MB)
    X_train, X_test = cv_problem.X[~held_out], cv_problem.X[held_out]
    with timed(job.timing) as clock:
        predicted = machine.fit(X_train, cv_problem.y[~held_out]).predict(X_test)
    return {
        "n_iter": int(machine.n_iter_[0]),
        "cpu_s": clock.cpu_s,
        "errors": int(np.count_nonzero(predicted != cv_problem.y[held_out])),
        "rows_tested": int(np.count_nonzero(held_out)),
        "status": OK,
    }
