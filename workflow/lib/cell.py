"""A part of a data set and its Gram matrix, on which methods evaluate one model after the other; the columns
of their rows, and the methods that several papers share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from scipy import sparse
from svmselect import RBF, Gram, Linear, cross_validate, leave_one_out, solve_csvc
from svmselect.errors import misclassified

from lib.rows import NOT_CONVERGED
from lib.timing import timed

# Columns that describe a solution, and columns that say what it took.
FIT = ("n_sv", "n_inbound", "objective", "kkt_gap", "n_iter")
COST = ("columns_requested", "kernel_values")
# This many kernel values between test rows and training rows are held at a time.
BLOCK_VALUES = 2**24


def taken(result, *names):
    """Return attributes of a result as columns of their names, as numbers of Python."""
    attributes = {name: getattr(result, name) for name in names}
    return {
        name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()
    }


def error_count(wrong):
    """Return columns that count errors (bool, shape (n,))."""
    count = int(np.count_nonzero(wrong))
    return {"errors": count, "rows_tested": len(wrong), "estimate": count / len(wrong)}


def unfinished(reason):
    """Return columns of a run whose solver stopped early."""
    return {"status": NOT_CONVERGED, "reason": reason}


def estimate_columns(result, *names, solved="minimisations"):
    """Return the columns of an estimate, a result with ``errors`` or ``bound``: its value, its degenerate
    points, and its status. `names` are further attributes, see `taken`; `solved` names the problems that may
    not have converged."""
    row = error_count(result.errors) if hasattr(result, "errors") else {"bound": result.bound}
    row |= taken(result, *names)
    if hasattr(result, "n_empty"):
        row["n_empty"] = result.n_empty
    if hasattr(result, "n_dependent"):
        row["n_degenerate"] = result.n_dependent + getattr(result, "n_without_span", 0)
    if getattr(result, "n_not_converged", 0):
        row |= unfinished(f"iteration limit reached by {result.n_not_converged} {solved}")
    return row


@dataclass(frozen=True)
class Method:
    """A method that evaluates a model."""

    name: str
    run: Callable  # called with the bound C of the model and its fit, a Solution or None; returns a result
    columns: Callable = estimate_columns  # the columns of the row, from the result
    fixed: dict = field(default_factory=dict)  # columns that are known before
    # whether it needs the fit: without one it fails too, and of an unfinished fit it is as unfinished
    from_fit: bool = False


class Cell:
    """The training rows of a `part` and their Gram matrix, on which the models of a cell are trained and
    evaluated. The matrix stays within `memory_mb` and has the kernel that was set last. The identity of the
    job gets the columns of the part."""

    def __init__(self, job, part, memory_mb=2048):
        self.job, self.part, self.y, self.memory_mb = job, part, part.y, memory_mb
        self.gram, self.columns = None, {}
        job.identity |= {**part.identity, "m": len(part.y)}

    def set_kernel(self, gamma):
        """Compute the matrix of the RBF kernel; without gamma, of the linear one."""
        kernel = kernel_of(gamma)
        if self.gram is None:
            self.gram = Gram(self.part.X, kernel, memory_mb=self.memory_mb).compute()
            # the first use of the memory pays for page faults: it is not one of those that are timed
            solve_csvc(self.gram, self.y, 1e-3, tol=1.0)
        self.gram.set_kernel(kernel)
        with timed("shared") as clock:
            self.gram.compute()
            self.gram.squared_radius()
        self.columns = {"kernel": kernel.name, "gamma": gamma, "gram_cpu_s": clock.cpu_s}
        details = kernel.name, gamma, self.gram.m, clock.cpu_s
        self.job.log.info("%s kernel, gamma=%s: Gram matrix of %d rows in %.3f s of CPU time", *details)

    def run(self, models, options, names=FIT):
        """Return the rows of every method of some models, without the columns that the cells' rows share. The
        first row of each model is "test", with the errors of its fit on the test rows; the rows of its
        methods follow.

        Parameters
        ----------
        models : list of tuple
            For each model its columns (dict), its bound C (float, or ndarray of shape (m,)), and a list of
            `Method`.
        options : dict
            Options of every fit: ``tol`` and ``max_iter``.
        names : tuple of str
            Attributes of a fit that its row has.
        """
        rows, fits = [], []
        for columns, C, methods in models:
            fit, model_rows = self._run_model(columns, C, methods, options, names)
            rows += [{**self.columns, **columns, **row} for row in model_rows]
            if fit is not None:
                fits.append((rows[-len(model_rows)], fit))
        self._test(fits)
        return rows

    def _run_model(self, columns, C, methods, options, names):
        """Return the fit, None if it failed, and the rows of one model."""
        attempt = partial(self.job.attempt, model_name=f"{self.columns['kernel']}, {columns}")
        fit, failed = attempt("test", partial(solve_csvc, self.gram, self.y, C, **options))
        stopped = {} if fit is None or fit.converged else unfinished("iteration limit reached")
        fit_columns = {} if fit is None else taken(fit, *names)
        rows = [{**failed, **fit_columns, **stopped, "fold": "test"}]
        for method in methods:
            if method.from_fit and fit is None:
                rows.append({**failed, "method": method.name, **method.fixed})
                continue
            result, row = attempt(method.name, partial(method.run, C, fit))
            if result is not None:
                row |= {**method.columns(result), **(stopped if method.from_fit else {})}
            rows.append({**row, **method.fixed})
        return fit, rows

    def _test(self, fits):
        """Add the test errors of some fits to their rows, all of them by one pass over the test rows."""
        if not fits:
            return
        X, y = self.part.X_test, self.part.y_test
        theta = np.column_stack([fit.alpha * self.y for _, fit in fits])
        b = [fit.b for _, fit in fits]
        everyone = np.arange(self.gram.m)
        size = max(1, BLOCK_VALUES // self.gram.m)
        wrong = np.empty((len(y), len(fits)), dtype=bool)
        for begin in range(0, len(y), size):
            block = slice(begin, begin + size)
            decision = self.gram.cross(X[block], everyone) @ theta + b
            wrong[block] = misclassified(y[block, None], decision)
        for (row, _), errors in zip(fits, wrong.T, strict=True):
            row |= error_count(errors)


def kernel_of(gamma):
    """Return the RBF kernel, or without gamma the linear one."""
    return Linear() if gamma is None else RBF(gamma)


@dataclass(frozen=True)
class Part:
    """Training and test rows of one realisation."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray  # labels are -1.0 and +1.0
    X_test: np.ndarray | sparse.csr_matrix | None
    y_test: np.ndarray | None
    identity: dict  # columns that name the rows used


def load_part(dataset, realisation):
    """Return all rows of a realisation of a data set, as a `Part`."""
    X, y, X_test, y_test, split = dataset.realisation(realisation)
    y_test = None if y_test is None else y_test.astype(float)
    return Part(
        X, y.astype(float), X_test, y_test, identity_of(dataset, realisation, split.origin, split.seed)
    )


def identity_of(dataset, realisation, origin, seed):
    """Return the columns that name the rows of a realisation. Without a seed the rows were not drawn."""
    return {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": origin,
        "seed": None if seed is None else [int(part) for part in seed],
    }


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
