"""What a solution and decision values must be, whoever computed them: checks against a Truth."""

from __future__ import annotations

from functools import cache

import numpy as np
from fuzz.truth import EPS, FLOOR, LONG

__all__ = ["Wrong", "check_decisions", "check_errors", "check_solution", "require"]

SNAP = 1e-12  # a variable that is so close to its bound is put on it
OFF_CENTRE = 16  # the uncertainty of products grows with the square of the distance from the origin
STALE = 1e-8  # relative: what is said of a solution that ran out of steps
GAVE_UP = 100  # a tolerance so many times above what rounding leaves has to be reached


class Wrong(AssertionError):
    """A wrong answer. Each check has a subclass of its own, by which hypothesis tells failures apart."""


@cache
def kind(what):
    """The subclass of one check."""
    return type(what, (Wrong,), {})


def require(condition, what, sentence):
    """A Wrong unless the condition holds."""
    if not condition:
        raise kind(what)(sentence)


def worst(excess):
    """Where a number is largest, and that number."""
    row = int(np.argmax(excess))
    return row, float(excess[row])


def check_solution(said, solution, tol, C=None, limit=None):
    """A Solution is feasible, has the gap that it claims, and fits its own alphas.

    `C` are the bounds that it was trained with, by default those of the problem. With a
    `limit` of steps it may have run out of them. Returns whether it converged.
    """
    truth, rows = said.truth, said.rows
    C = said.C if C is None else C
    alpha, y = solution.alpha, said.y
    require((solution.C == C).all(), "bounds", f"the solution's are {solution.C}, not {C}")
    for name in ("alpha", "decision"):
        require(np.isfinite(getattr(solution, name)).all(), "finite", f"{name} has a value that is not")
    outside = np.maximum(-alpha, alpha - C)
    row, excess = worst(outside)
    require(excess <= 0, "feasible", f"alpha is {alpha[row]!r} in row {row}, C {C[row]!r}")
    balance = abs(float((y * alpha.astype(LONG)).sum()))
    most = 8 * float(EPS) * alpha.size * alpha.sum() + SNAP * C.sum()
    require(balance <= most, "balance", f"sum(y alpha) is {balance:.3g}, rounding leaves {most:.3g}")

    K, E = truth.K[np.ix_(rows, rows)], truth.E[np.ix_(rows, rows)]
    theta = y * alpha.astype(LONG) / LONG(said.factor)
    f, noise = K @ theta, E @ np.abs(theta) + FLOOR
    breakpoints = y - f
    up = np.where(y > 0, alpha < C, alpha > 0) & (C > 0)
    low = np.where(y > 0, alpha > 0, alpha < C) & (C > 0)
    most, least = breakpoints[up].max(initial=-np.inf), breakpoints[low].min(initial=np.inf)
    unbalanced = abs(theta.sum()) * truth.lever
    gap, rounding = float(most - least), 2 * float(noise.max() + unbalanced)
    if solution.converged:
        require(
            gap <= tol + rounding,
            "gap",
            f"the KKT gap is {gap:.6g} where it converged to {tol:g} and rounding leaves {rounding:.3g}",
        )
    else:
        ran_out = limit is not None and solution.n_iter >= limit
        require(
            ran_out or tol < GAVE_UP * rounding,
            "gave up",
            f"it did not converge to {tol:g}, where rounding leaves {rounding:.3g}; the gap is {gap:.3g}",
        )
        rounding += STALE * (1 + abs(gap))
    off = abs(max(gap, 0.0) - solution.kkt_gap)
    require(
        off <= rounding, "claimed gap", f"it says {solution.kkt_gap:.12g}, it is {gap:.12g} +- {rounding:.3g}"
    )
    # of the threshold we know the centred one: decision values less those of the centred weight vector
    thresholds = solution.decision - f
    spread = float(np.ptp(thresholds))
    require(spread <= rounding, "decision", f"decision values are off by {spread:.3g} from K theta + b")
    b = thresholds.mean()
    ends = sorted((most, least))
    if np.isfinite(ends).all():
        inside = ends[0] - rounding <= b <= ends[1] + rounding
        require(inside, "threshold", f"{float(b):.9g} is outside of {[float(end) for end in ends]}")
    if truth.gamma is not None:
        require(abs(b - solution.b) <= rounding, "b", f"b is {solution.b!r}, the threshold {float(b)!r}")
    objective = float(theta @ f / 2 - abs(theta).sum())
    # E is that of centred rows, beside a row far off the library's may be measured from a few spreads away
    most = OFF_CENTRE * float(noise @ abs(theta)) + float(alpha.size * EPS * abs(theta).sum())
    off = abs(solution.objective / said.factor - objective)
    require(off <= most, "objective", f"off by {off:.3g} from {objective:.9g}, rounding leaves {most:.3g}")
    return solution.converged


def check_decisions(said, decision, bounds, tol, rows, what):
    """Decision values at some rows of what was asked are those of an optimal classifier for `bounds`."""
    low, high = said.truth.intervals(bounds, tol, said.rows[rows])
    value = said.sign * np.asarray(decision)[rows]
    off = np.maximum(low - value, value - high)
    row, excess = worst(off)
    require(
        excess <= 0,
        what,
        f"row {rows[row]} has {float(value[row]):.9g}, every optimum lies in "
        f"[{float(low[row]):.9g}, {float(high[row]):.9g}]",
    )


def check_errors(said, errors, bounds, tol, rows, what):
    """Points at some rows are errors where every optimal classifier for `bounds` says so, and only there.

    Returns how many were certain.
    """
    low, high = said.truth.intervals(bounds, tol, said.rows[rows])
    label = said.base.y[said.rows[rows]]
    certain = (low > 0) | (high < 0)
    wrong = np.where(low > 0, label < 0, label > 0)
    bad = np.flatnonzero(certain & (wrong != np.asarray(errors)[rows]))
    if bad.size:
        k = bad[0]
        is_one = "no" if wrong[k] else "an"
        interval = f"[{float(low[k]):.9g}, {float(high[k]):.9g}]"
        require(
            False,
            what,
            f"row {rows[k]} of class {label[k]:+.0f} is {is_one} error, "
            f"its decision value lies in {interval}; {bad.size} of {int(certain.sum())} are wrong",
        )
    return int(certain.sum())
