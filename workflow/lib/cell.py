"""A part of a data set and its Gram matrix, on which methods evaluate one model after the other."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from svmselect import RBF, Gram, Linear, solve_csvc
from svmselect.errors import misclassified

from lib.columns import FIT, error_count, estimate_columns, taken, unfinished
from lib.timing import timed

# This many kernel values between test rows and training rows are held at a time.
BLOCK_VALUES = 2**24


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
