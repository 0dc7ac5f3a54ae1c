"""Exact leave-one-out of a nu-SVR: predictions of every row by the model trained without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from svmselect.checks import check_float64, check_options, frozen
from svmselect.gram import Gram
from svmselect.loo.regression import (
    EXACT,
    NEARLY_EXACT,
    FullRegression,
    LeaveOneOutRegression,
    ScaledRegression,
    counter,
    leave_one_out_svr,
)
from svmselect.svr import check_regression, check_share, solve_nusvr
from svmselect.threads import one_blas_thread
from svmselect.unlearning._certify import SLACK
from svmselect.unlearning._paths import Outcome
from svmselect.unlearning.epsilon import NuEnd, end_of, path_to_sum
from svmselect.unlearning.points import GAP
from svmselect.unlearning.regression import largest_gap, unlearn_rows

__all__ = ["leave_one_out_nusvr"]

LOOSE = 1e-6  # KKT gap of a fit that tells the in-bound rows, relative to the targets' size
ROWS = 256  # models that are held at once


@one_blas_thread()
def leave_one_out_nusvr(
    gram: Gram,
    z: ArrayLike,
    C: ArrayLike,
    nu: float = 0.5,
    max_iter: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    models: tuple[np.ndarray, np.ndarray] | None = None,
) -> LeaveOneOutRegression:
    """Compute the prediction of every row by the nu-SVR trained without it, exactly.

    Parameters
    ----------
    gram : Gram
        Kernel matrix of the m rows, float64; the whole matrix is copied once.
    z, C, nu
        See `solve_nusvr`. At least two rows need a positive bound.
    max_iter, progress, models
        See `leave_one_out_svr`.

    Returns
    -------
    LeaveOneOutRegression
        A row is "unlearned" if paths led to its model, and "retrained" otherwise.

    Raises
    ------
    ValueError
        For a bad argument, values in float32, or a kernel that is not positive semi-definite.

    Notes
    -----
    Without row r the sum of ``|theta|`` is at most ``nu (sum(C) - C_r)``. Two paths lead there from the model
    of all rows. The first one takes theta_r to 0 at the epsilon of all rows, as in `leave_one_out_svr`. Along
    the second one epsilon changes until the sum is right. Where epsilon comes to 0, or rows depend on each
    other, the model is trained anew. If epsilon is 0 with all rows, the paths are those of ``epsilon = 0``,
    wherever they lead to variables whose sum is allowed.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out_nusvr
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> loo = leave_one_out_nusvr(Gram(X, RBF(0.5)), np.sin(X[:, 0]), C=10, nu=0.5)
    >>> loo.predictions.round(2)
    array([ 0.44,  0.56,  0.88,  0.07, -0.59, -0.89, -0.09,  0.07])
    """
    # 1) arguments
    z, C, _ = check_regression(gram, z, C, 0.0)
    nu = check_share(nu)
    check_float64(gram)
    gram.check_definite()
    max_iter = check_options(EXACT, "wss2", max_iter, gram.m)
    trained = np.flatnonzero(C > 0)
    if trained.size < 2:
        raise ValueError(f"C must be positive at two rows, got n_samples = {trained.size} with C > 0")
    # 2) the model of all rows, in units of the targets' size, and that of its epsilon to round-off
    counts = gram.thread_counts
    gram.compute()
    begin = time.process_time()
    scaled = ScaledRegression.scaling(z, C, 0.0)
    nu_fit = solve_nusvr(gram, scaled.z, scaled.C, nu, tol=NEARLY_EXACT, max_iter=max_iter)
    scaled = replace(scaled, epsilon=nu_fit.epsilon)
    if nu_fit.epsilon == 0:
        return _without_tube(gram, z, C, nu, scaled.unit * nu_fit.theta, max_iter, progress, models)
    full = FullRegression(gram, scaled, trained, scaled.unit * nu_fit.theta, max_iter)
    solution = replace(full.solution(counts), converged=nu_fit.kkt_gap <= GAP)
    run = _NuPaths(full, nu, max_iter)
    # 3) every row by paths, or by training without it
    predictions, kkt_gap = solution.prediction.copy(), np.full(gram.m, solution.kkt_gap)
    resolved_by, failed = np.full(gram.m, "unlearned", dtype="<U9"), np.zeros(gram.m, dtype=bool)
    resolved_by[C == 0] = "inside"
    report, n_iter = counter(progress, trained.size), nu_fit.n_iter + solution.n_iter
    left = None if models is None else (np.empty((trained.size, full.theta.size)), np.empty(trained.size))
    for places in np.array_split(np.arange(trained.size), -(-trained.size // ROWS)):
        for place, end in zip(places, run.ends(places), strict=True):
            row = trained[place]
            if end is None:
                end, steps = run.train_without(place)
                resolved_by[row], n_iter = "retrained", n_iter + steps
            predictions[row] = end.f[full.group[place]] + scaled.z[row] + end.b
            kkt_gap[row], failed[row] = end.gap, end.gap > GAP
            if left is not None:
                left[0][place], left[1][place] = end.theta, end.b
            report(1)
    # 4) results in the units of the targets
    predictions = scaled.middle + scaled.unit * predictions
    if models is not None:
        full.restore_models(models, solution, left)
    columns, values = gram.thread_counts
    return LeaveOneOutRegression(
        predictions=frozen(predictions),
        residuals=frozen(z - predictions),
        resolved_by=resolved_by,
        kkt_gap=frozen(kkt_gap * scaled.unit),
        n_iter=n_iter,
        columns_requested=columns - counts[0],
        kernel_values=values - counts[1],
        cpu_s=time.process_time() - begin,
        not_converged=frozen(np.flatnonzero(failed)),
        solution=scaled.restored(solution, C, scaled.unit * scaled.epsilon),
    )


def _without_tube(gram, z, C, nu, start, max_iter, progress, models):
    """Return the leave-one-out of a nu-SVR with epsilon = 0: that of the SVR, if its variables are small."""
    held = (np.empty((gram.m, gram.m)), np.empty(gram.m)) if models is None else models
    loo = leave_one_out_svr(gram, z, C, 0.0, start=start, max_iter=max_iter, progress=progress, models=held)
    unit = float(np.ptp(z[C > 0])) or 1.0
    predictions, kkt_gap, resolved_by = (
        values.copy() for values in (loo.predictions, loo.kkt_gap, loo.resolved_by)
    )
    failed, n_iter = loo.not_converged, loo.n_iter
    # where the sum is just reached, other epsilons have the same variables
    reached = np.abs(held[0]).sum(axis=1) > nu * (C.sum() - C) * (1 - SLACK)
    for row in np.flatnonzero(reached & (C > 0)):
        left = np.where(np.arange(gram.m) == row, 0.0, C)
        solution = solve_nusvr(gram, z, left, nu, tol=EXACT * unit, max_iter=max_iter)
        predictions[row], kkt_gap[row], resolved_by[row] = (
            solution.prediction[row],
            solution.kkt_gap,
            "retrained",
        )
        held[0][row], held[1][row] = solution.theta, solution.b
        known = solution.kkt_gap <= GAP * unit
        failed = np.setdiff1d(failed, row) if known else np.union1d(failed, row)
        n_iter += solution.n_iter
    return replace(
        loo,
        predictions=frozen(predictions),
        residuals=frozen(z - predictions),
        resolved_by=resolved_by,
        kkt_gap=frozen(kkt_gap),
        n_iter=n_iter,
        not_converged=frozen(failed),
    )


class _NuPaths:
    """The paths from the model of all rows, a nu-SVR, to the models without each row."""

    def __init__(self, full, nu, max_iter):
        self.full, self.nu, self.max_iter = full, nu, max_iter
        self.z, everything = full.scaled.z[full.first], np.arange(full.first.size)
        self.K = full.dual.gram.block(everything).astype(np.float64, copy=False)
        self.b = full.dual.state()[2]
        self.f = full.dual.state()[1] + full.dual.linear_term() - self.z

    def ends(self, places):
        """Yield the NuEnd without each of some rows, or None where paths do not lead to it."""
        full, scaled = self.full, self.full.scaled
        theta, b = np.tile(full.theta, (places.size, 1)), np.full(places.size, self.b)
        known = np.full(places.size, full.dual.reached(GAP))
        # 1) theta_r to 0, or to the bound of the other rows of its group
        moving = np.flatnonzero(full.moves()[places])
        if known.any() and moving.size:
            ends, rows = (np.empty((moving.size, full.theta.size)), np.empty(moving.size)), places[moving]
            _, outcome, _ = unlearn_rows(
                full.dual, scaled.epsilon, full.group[rows], full.bound_left[rows], None, ends
            )
            theta[moving], b[moving] = ends
            known[moving] = outcome == Outcome.REACHED
        # 2) epsilon, until the sum is that of nu
        f = self.f + (theta - full.theta) @ self.K
        for k, place in enumerate(places):
            yield self.to_sum(place, theta[k], f[k], b[k]) if known[k] else None

    def bounds_without(self, place):
        """Return the bounds of the groups without a row, and the sum of all variables that nu allows."""
        C = self.full.bound.copy()
        C[self.full.group[place]] = self.full.bound_left[place]
        return C, self.nu * C.sum()

    def to_sum(self, place, theta, f, b):
        """Return the NuEnd without a row, from its model at the epsilon of all rows, or None."""
        C, total = self.bounds_without(place)
        end = path_to_sum(self.K, self.z, C, theta, f, b, self.full.scaled.epsilon, total)
        return end if self.confirmed(end) else None

    def confirmed(self, end):
        """Return whether a NuEnd is the solution, up to the gap that the end of a path may have."""
        return end is not None and end.epsilon >= 0 and end.gap <= largest_gap(self.full.dual)

    def train_without(self, place):
        """Return the NuEnd without a row by training, and the number of steps.

        The in-bound rows of a loose fit mostly are those of the solution.
        """
        C, total = self.bounds_without(place)
        options = dict(max_iter=self.max_iter)
        loose = solve_nusvr(self.full.dual.gram, self.z, C, self.nu, tol=LOOSE, **options)
        end = end_of(self.K, self.z, C, loose.theta, total) if loose.epsilon > 0 else None
        if self.confirmed(end):
            return end, loose.n_iter
        solution = solve_nusvr(self.full.dual.gram, self.z, C, self.nu, tol=EXACT, **options)
        f = solution.prediction - solution.b - self.z
        return NuEnd(solution.theta, f, solution.b, solution.epsilon, solution.kkt_gap), (
            loose.n_iter + solution.n_iter
        )
