"""Methods, each of which evaluates a model, that several papers share."""

import numpy as np
from svmselect import RBF, Gram, cross_validate, leave_one_out, solve_csvc

from lib.cell import Method
from lib.columns import estimate_columns


def estimate_of_fit(cell, name, function, **given):
    """Return a `Method` that estimates the error of a fit by a function of Gram matrix, labels, fit and the
    given arguments."""
    return Method(
        name, lambda _, fit: function(cell.gram, cell.y, fit, **given), fixed={"fold": "train"}, from_fit=True
    )


def cross_validation(cell, folds, options, by_fold=False, **columns):
    """Return a `Method` for cross-validation on given folds, with options of `svmselect.cross_validate`,
    further columns of its row, and on request errors and CPU time ``by_fold``."""

    def judged_by_fold(cv):
        row = estimate_columns(cv, "n_iter", solved="fits")
        if by_fold:
            row["fold_errors"] = np.bincount(folds[cv.errors], minlength=len(cv.rounds)).tolist()
            row["fold_cpu_s"] = [fit.training_cpu_s for fit in cv.rounds]
        return row

    return Method(
        "kfold",
        lambda C, _: cross_validate(cell.gram, cell.y, C, folds, **options),
        judged_by_fold,
        {"fold": "cv", **columns},
    )


def unlearning(cell, options):
    """Return a `Method` for exact leave-one-out by unlearning from the fit, with options of
    `svmselect.leave_one_out`."""

    def run(C, fit):
        start = None if fit is None else fit.alpha
        return leave_one_out(cell.gram, cell.y, C, "unlearn", start=start, **options)

    return Method(
        "loo", run, lambda loo: estimate_columns(loo, "n_iter", solved="solutions"), {"fold": "loo"}
    )


def warm_up(job, estimates):
    """Call some estimates of a fit, cross-validation and leave-one-out; see `lib.job.Job.warm_up`."""

    def run(X, y):
        gram = Gram(X, RBF(1.0))
        solution = solve_csvc(gram, y, 1.0)
        for estimate in estimates:
            estimate(gram, y, solution)
        cross_validate(gram, y, 1.0, 5)
        leave_one_out(gram, y, 1.0)

    job.warm_up(run)
