"""What a solution and decision values must be, whoever computed them: checks against a Truth."""

from __future__ import annotations

from functools import cache
from math import fsum

import numpy as np
from fuzz.truth import EPS, FLOOR, LONG
from scipy.sparse import issparse

__all__ = [
    "Wrong",
    "check_decisions",
    "check_errors",
    "check_hopeless",
    "check_origin",
    "check_retrained",
    "check_solution",
    "left_by_steps",
    "require",
]

SNAP = 1e-12  # a variable that is so close to its bound is put on it
STALE = 1e-8  # relative: what is said of a solution that ran out of steps
STEPS_LEAVE = 0.01, 1e-9  # in a gap: of the tolerance, and of the margin; Dual.solve computes f anew beyond
GAVE_UP = 100  # a tolerance so many times above what rounding leaves has to be reached


class Wrong(AssertionError):
    """A wrong answer. Each check has a subclass of its own, by which hypothesis tells failures apart."""


@cache
def kind(check):
    """The subclass of one check."""
    return type(check, (Wrong,), {})


def require(condition, check, sentence):
    """A Wrong unless the condition holds."""
    if not condition:
        raise kind(check)(sentence)


def left_by_steps(tol):
    """Most that rounding in a solver's steps leaves in a difference of decision values, beyond that of
    computing them from the alphas."""
    tol_share, margin_share = STEPS_LEAVE
    return min(tol_share * tol, margin_share)


def worst(excess):
    """Where a number is largest, and that number."""
    row = int(np.argmax(excess))
    return row, float(excess[row])


def check_origin(said):
    """Dense rows are measured from at most twice the range of their values away, sparse ones from 0."""
    origin = said.gram().origin
    if issparse(said.X):
        require(origin is None, "origin", f"of sparse rows is {origin}, not 0")
        return
    X = said.problem.X.astype(LONG)
    low, high = X.min(axis=0), X.max(axis=0)
    off = np.abs((low + high) / 2 - (0 if origin is None else origin)) - 2 * (high - low)
    feature, excess = worst(off)
    require(
        excess <= 0,
        "origin",
        f"feature {feature} in [{low[feature]}, {high[feature]}] is measured from "
        f"{0 if origin is None else origin[feature]}",
    )


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
    balance = abs(fsum(y * alpha))
    most = 8 * float(EPS) * alpha.size * alpha.sum()
    if np.minimum(alpha, C - alpha).max() <= balance:  # none can take what those put on a bound leave
        most += SNAP * C.sum()
    require(balance <= most, "balance", f"sum(y alpha) is {balance:.3g}, rounding leaves {most:.3g}")

    K, E = truth.moved[np.ix_(rows, rows)], truth.E[np.ix_(rows, rows)]
    theta = y * alpha.astype(LONG) / LONG(said.factor)
    f, noise = K @ theta, E @ np.abs(theta) + FLOOR
    breakpoints = y - f
    up = np.where(y > 0, alpha < C, alpha > 0) & (C > 0)
    low = np.where(y > 0, alpha > 0, alpha < C) & (C > 0)
    most, least = breakpoints[up].max(initial=-np.inf), breakpoints[low].min(initial=np.inf)
    gap, steps_share = float(most - least), left_by_steps(tol)
    rounding = 2 * float(noise.max()) + steps_share
    if solution.converged:
        require(
            gap <= tol + rounding,
            "gap",
            f"the KKT gap is {gap:.6g} where it converged to {tol:g} and rounding leaves {rounding:.3g}",
        )
    else:
        if limit is None or solution.n_iter < limit:
            check_hopeless(said, tol, said.alphas(C), alpha, f"the gap is {gap:.3g}")
        rounding += STALE * (1 + abs(gap))
    off = abs(max(gap, 0.0) - solution.kkt_gap)
    require(
        off <= rounding, "claimed gap", f"it says {solution.kkt_gap:.12g}, it is {gap:.12g} +- {rounding:.3g}"
    )
    thresholds = solution.decision - f
    spread = float(np.ptp(thresholds))
    require(spread <= rounding, "decision", f"decision values are off by {spread:.3g} from K theta + b")
    b = thresholds.mean()
    ends = sorted((most, least))
    if np.isfinite(ends).all():
        inside = ends[0] - rounding <= b <= ends[1] + rounding
        require(inside, "threshold", f"{float(b):.9g} is outside of {[float(end) for end in ends]}")
    require(abs(b - solution.b) <= rounding, "b", f"b is {solution.b!r}, the threshold {float(b)!r}")
    objective = float(theta @ f / 2 - abs(theta).sum())
    most = float(noise @ abs(theta)) + float((alpha.size * EPS + steps_share / 4) * abs(theta).sum())
    off = abs(solution.objective / said.factor - objective)
    require(off <= most, "objective", f"off by {off:.3g} from {objective:.9g}, rounding leaves {most:.3g}")
    return solution.converged


def check_hopeless(said, tol, bounds, alpha, detail):
    """A solver may give up on bounds of `base` where rounding hides the tolerance: at the alphas that it
    came to, or at optimal ones."""
    truth = said.truth
    known = said.alphas(alpha), truth.reference(bounds).best
    rounding = 2 * max(float(truth.noise(alpha).max()) for alpha in known)
    require(
        tol < GAVE_UP * rounding,
        "gave up",
        f"it did not converge to {tol:g}, where rounding leaves {rounding:.3g}; {detail}",
    )


def check_decisions(said, decision, bounds, tol, rows, check):
    """Decision values at some rows of a problem are those of an optimal classifier for `bounds`."""
    low, high = said.truth.intervals(bounds, tol, said.rows[rows])
    value = said.sign * np.asarray(decision)[rows]
    off = np.maximum(low - value, value - high)
    row, excess = worst(off)
    require(
        excess <= 0,
        check,
        f"row {rows[row]} has {float(value[row]):.9g}, every optimum lies in "
        f"[{float(low[row]):.9g}, {float(high[row]):.9g}]",
    )


def check_errors(said, errors, bounds, tol, rows, check):
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
            check,
            f"row {rows[k]} of class {label[k]:+.0f} is {is_one} error, "
            f"its decision value lies in {interval}; {bad.size} of {int(certain.sum())} are wrong",
        )
    return int(certain.sum())


def check_retrained(said, errors, bounds, tol, row, check):
    """A left-out row is an error if the classifiers that this library and LIBSVM train without it say so.

    Intervals hold every optimal threshold; these classifiers have the midpoint where it is not unique. They
    decide where both have the same sign, and their difference and the tolerance are small beside the values.
    """
    values = said.truth.retrained(bounds, said.rows[row])
    least, apart = min(map(abs, values)), abs(values[0] - values[1])
    noise = 2 * float(said.truth.noise(np.asarray(bounds, dtype=LONG)).max())
    if values[0] * values[1] <= 0 or least <= 10 * (apart + tol + noise):
        return
    wrong = (values[0] >= 0) != (said.base.y[said.rows[row]] > 0)
    require(
        wrong == bool(errors[row]),
        check,
        f"row {row} is {'an' if wrong else 'no'} error by retraining, which gives {values[0]:.9g} and by "
        f"LIBSVM {values[1]:.9g}",
    )
