"""The sufficiency checks of Franc, Laskov and Mueller (2008), by which most points need no training."""

import numpy as np

from svmselect.errors import misclassified

__all__ = ["sufficiency_checks"]

# The room of in-bound SVs is a sum of alphas: round-off may make it larger by this, relative to alpha.
ROUNDING_OF_ROOM = 1e-9


def sufficiency_checks(gram, y, solution, zero=0.0):
    """Return the check that resolves each point, "check1" to "check3", or "" (Franc et al. 2008, Table 1).

    1. ``alpha_r = 0``: correct. 2. ``y_r`` is not the sign of ``f(x_r)``: an error. 3. The solution is stable
    and ``2 alpha_r R^2 + xi_r < 1``: correct. The first that applies is recorded. So that checks hold for the
    threshold that retraining gives, an interval's midpoint included, two of them ask for more than the paper
    does (proof in ``docs/how_it_works.md``): without in-bound SV, check 1 leaves out the points at which the
    threshold's interval ends, and check 3 asks that the in-bound SVs other than r have more room in their
    boxes than ``alpha_r``. Check 3 proves that the margin of the left-out point is above `zero`.
    """
    alpha, C = solution.alpha, solution.C
    inbound = (alpha > 0) & (alpha < C)
    # moving theta = y alpha up by alpha_r raises the alphas of class +1 and lowers those of class -1
    up = np.where(inbound, np.where(y > 0, C - alpha, alpha), 0)
    down = np.where(inbound, np.where(y > 0, alpha, C - alpha), 0)
    room = np.where(y > 0, up.sum() - up, down.sum() - down)
    slack = np.maximum(0, 1 - y * solution.decision)
    resolved_by = np.full(gram.m, "", dtype="U9")
    has_room = room > alpha * (1 + ROUNDING_OF_ROOM)
    resolved_by[has_room & (2 * alpha * gram.squared_radius() + slack < 1 - zero)] = "check3"
    resolved_by[misclassified(y, solution.decision)] = "check2"
    unused = alpha == 0
    if not inbound.any():
        unused[_ends_of_interval(y, solution)] = False
    resolved_by[unused] = "check1"
    return resolved_by


def _ends_of_interval(y, solution):
    """Return the two rows at which the threshold's interval ends, of a solution without in-bound SVs."""
    # -b is at most f where theta = y alpha can grow, and at least f where it can shrink
    f, can_grow = solution.decision - y, (y > 0) == (solution.alpha == 0)
    return [np.where(can_grow, f, np.inf).argmin(), np.where(can_grow, -np.inf, f).argmax()]
