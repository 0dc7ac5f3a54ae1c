"""Spans of in-bound support vectors with the box.

With theta = y alpha, lo and hi the boxes of _smo, the span of an in-bound SV p is the minimum of ``lambda'K
lambda`` over ``lambda_p = -1``, ``sum(lambda) = 0`` and ``lo_i <= theta_i + theta_p lambda_i <= hi_i``: of
``|w' - w|^2 / theta_p^2`` over all w' that the other in-bound SVs can reach when p is left out. So it is what
*unlearning* p costs in a problem of the in-bound SVs alone whose linear term makes the present theta its
unconstrained optimum: the paths of leave-one-out find it, exact to round-off, from one factor for all p.
Where a path is degenerate, the solver minimises.
"""

import numpy as np

import svmselect.solver._active_set as _active_set
from svmselect.kernels.panels import slices
from svmselect.solver._smo import Dual
from svmselect.unlearning._paths import Outcome
from svmselect.unlearning.points import PointStart
from svmselect.unlearning.tableau import Tableau

# Smaller differences are round-off: of sums, relative to C, and of KKT gaps, relative to the largest kernel
# value.
ROUND_OFF = 1e-14
# An alpha below this, relative to the largest, is too close to the round-off of a path. Relative to the
# largest kernel value, this is also the round-off that the KKT gap of a span may have.
SMALL = 1e-6


def span_exists(y, C, inbound, bounded):
    """Return whether ``Lambda_p`` of each in-bound SV has a point (Sarafis et al. 2018, Lemma 1)."""
    balance = y[bounded] @ C[bounded]
    room_of_class = {label: C[inbound][y[inbound] == label].sum() + label * balance for label in (-1, 1)}
    rest = np.where(y[inbound] > 0, room_of_class[1], room_of_class[-1]) - C[inbound]
    return rest >= -ROUND_OFF * (C[inbound].sum() + C[bounded].sum())


def squared_boxed_spans(gram, y, solution, inbound, exists, tol, max_iter):
    """Return ``S_p^2`` of the in-bound SVs (Sarafis et al. 2018, eq. 28-32), NaN where there is none.

    `inbound` are their row numbers, and `exists` is the result of `span_exists`. Where the solver minimises,
    `tol` is its KKT gap relative to ``S_p^2``, and `max_iter` its largest number of steps for each span. The
    second result is the number of spans whose solver ran out of steps, and which are therefore too large.
    """
    squared_span = np.full(inbound.size, np.nan)
    points = np.flatnonzero(exists)
    if points.size == 0:
        return squared_span, 0
    part = gram.restricted(inbound).compute()
    y, alpha, C = y[inbound], solution.alpha[inbound], solution.C[inbound]
    by_path = points[alpha[points] > SMALL * alpha.max()]
    squared_span[by_path] = spans_by_path(part, y, alpha, C, by_path, tol)
    rest = points[np.isnan(squared_span[points])]
    squared_span[rest], n_not_converged = spans_by_solver(part, y, alpha, C, rest, tol, max_iter)
    return squared_span, n_not_converged


def spans_by_path(part, y, alpha, C, points, tol):
    """Return ``S_p^2`` of some points of a problem without bounded SVs.

    It is NaN where the path is degenerate, or where the Gram matrix shows that its end is not the minimum.
    """
    tableau = Tableau(part, np.arange(part.m))
    # the span does not change with the unit of alpha, which is here the unit of the path's tolerances
    alpha, C = alpha / alpha.max(), C / alpha.max()
    lo, hi = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
    largest = float(part.diagonal.max())
    start = PointStart(tableau, y, y * alpha, np.zeros(part.m), lo, hi, 0.0, largest)
    squared_span = np.full(points.size, np.nan)
    ends = start.ends
    for places in slices(points.size, len(ends.theta)):
        numbers, none = tableau.number[points[places]], np.zeros(points[places].size)
        x, b, _ = tableau.response(numbers)
        start.paths.keep(numbers, tableau.columns(numbers, x, b))
        outcome = start.paths.walk(numbers, none, start.y, False, ends)
        change = ends.theta[: numbers.size] - start.theta
        g = ends.g[: numbers.size]
        g[:] = tableau.times_gram(change)
        gap, *_ = start.conditions(numbers, none)
        value = np.maximum(np.einsum("ij,ij->i", change, g), 0) / alpha[points[places]] ** 2
        minimal = gap <= alpha[points[places]] * np.maximum(tol * value, ROUND_OFF * largest)
        squared_span[places] = np.where((outcome == Outcome.REACHED) & minimal, value, np.nan)
    return squared_span


def spans_by_solver(part, y, alpha, C, points, tol, max_iter):
    """Return squared spans by SMO and the active-set method, and how many of them ran out of steps."""
    squared_span, n_not_converged = np.empty(points.size), 0
    if points.size == 0:
        return squared_span, n_not_converged
    dual = Dual(part, np.zeros(part.m))
    up, down = np.where(y > 0, C - alpha, alpha), np.where(y > 0, alpha, C - alpha)
    least = ROUND_OFF * part.diagonal.max()
    for k, p in enumerate(points):
        lo, hi = (-down, up) if y[p] > 0 else (-up, down)
        room = np.delete(hi, p).sum()
        if room == 0:  # alpha_p is what rounding left of the sum of the others
            squared_span[k], n_not_converged = part.diagonal[p], n_not_converged + 1
            continue
        share = hi / room
        with np.errstate(over="ignore"):  # a bound that is no float restricts nothing
            lo, hi = lo / alpha[p], hi / alpha[p]
        hi[p] = 0
        start = np.minimum(hi, share)
        lo[p] = hi[p] = start[p] = -1
        dual.confine(lo, hi, start)
        value, gap, reached = 2 * dual.state()[3], np.inf, True
        # the gap is relative to a minimum that is not known before
        while reached and gap > max(tol * value, least):
            gap = max(tol * value / 2, least)
            reached = _active_set.solve(dual, "wss2", gap, max_iter)
            value = 2 * dual.state()[3]
        squared_span[k] = max(value, 0.0)
        # a tolerance below rounding is met where rounding alone is left, if that is little
        left = dual.gap_now() <= dual.rounding() <= SMALL * part.diagonal.max()
        n_not_converged += not (reached or left)
    return squared_span, n_not_converged
