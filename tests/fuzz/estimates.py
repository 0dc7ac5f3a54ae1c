"""The estimates and bounds that one fit gives, against their definitions in long double.

The library is given its own solution, to 1e-9; what an estimate makes of it is recomputed from the alphas.
Where an estimate depends on the origin of a linear kernel's rows, it is that of the Gram matrix.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from fuzz.checks import require
from fuzz.truth import EPS, LONG, LONG_EPS
from numerics.problems import minimise

from svmselect import (
    jaakkola_haussler,
    opper_winther,
    radius_margin,
    rescaled_radius_margin,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    sv_count,
    xi_alpha,
)

CLOSE = 1e-6  # of the largest kernel value: what spans are compared to
UNSURE = 1e-7  # pivots from here down to long double's rounding are neither dependent nor independent
SPHERE = 1e-6  # the sphere's own tolerance


class Fit:
    """A tight solution of a problem as it is said, and the kernel matrices in the units of its base.

    Attributes
    ----------
    solution : Solution
    alpha : ndarray, shape (m,)
        In the units of the base.
    K, moved, E : ndarray, shape (m, m)
        See Truth.
    noise : ndarray, shape (m,)
        Of decision values.
    """

    def __init__(self, said):
        self.said, self.gram = said, said.gram()
        self.y = said.y
        # on the whole matrix: of few columns, a tight solution computes hundreds of thousands
        whole = replace(said, few=False).gram()
        self.solution = solve_csvc(whole, said.y, said.C, tol=1e-9)
        self.alpha = self.solution.alpha.astype(LONG) / LONG(said.factor)
        block = np.ix_(said.rows, said.rows)
        truth = said.truth
        self.K, self.moved, self.E = truth.K[block], truth.moved[block], truth.E[block]
        self.noise = self.E @ self.alpha + self.E.max() * self.alpha.sum() + 1e-9
        inside = self.solution.alpha < self.solution.C
        self.inbound = np.flatnonzero((self.solution.alpha > 0) & inside)
        self.bounded = np.flatnonzero((self.solution.alpha > 0) & ~inside)
        self.margin = self.y * self.solution.decision

    def counted(self, estimate, left, left_off, check):
        """``errors`` are the SVs with ``left >= y f``, where that is clear."""
        sv = self.alpha > 0
        off = left_off + self.noise
        with np.errstate(invalid="ignore"):
            clear = sv & (np.abs(left - self.margin) > off)
        want = left >= self.margin
        wrong = np.flatnonzero((clear & (want != estimate.errors)) | (~sv & estimate.errors))
        if wrong.size:
            p = wrong[0]
            require(
                False,
                check,
                f"SV {p}: {float(left[p]):.9g} against y f = {float(self.margin[p]):.9g} "
                f"+- {float(off[p]):.3g} is said to be {bool(estimate.errors[p])}",
            )
        require(
            abs(estimate.error - estimate.errors.mean()) < 1e-12, check, f"{estimate.error} of its own errors"
        )


def hull_distance(K, hull, point, affine):
    """Least and greatest squared distance of a point from a hull, by elimination in long double.

    The greatest is that from points of the hull that are independent beyond doubt; they differ where a pivot
    is unsure.
    """
    members = np.append(hull, point)
    G = K[np.ix_(members, members)].copy()
    scale = np.diag(K).max()
    if affine:
        first = G[0].copy()
        G = G - first[:, None] - first[None] + first[0]
        G, n = G[1:, 1:], hull.size - 1
    else:
        n = hull.size
    free = np.ones(n, dtype=bool)
    greatest = None
    while free.any():
        t = np.flatnonzero(free)[np.argmax(np.diag(G)[:n][free])]
        pivot = G[t, t]
        if pivot <= 64 * members.size * LONG_EPS * scale:
            break
        if pivot <= UNSURE * scale and greatest is None:
            greatest = G[-1, -1]
        free[t] = False
        G = G - np.outer(G[:, t], G[t]) / pivot
    least = max(G[-1, -1], LONG(0))
    return least, least if greatest is None else max(greatest, least)


def spans(said, rng):
    fit = Fit(said)
    if not fit.solution.converged:
        return
    rule = span_rule(fit.gram, said.y, fit.solution)
    distances(fit, rule, rule.squared_span, fit.K, True, "span")
    linear = opper_winther(fit.gram, said.y, fit.solution)
    distances(fit, linear, linear.squared_distance, fit.moved, False, "distance")


def distances(fit, estimate, squared, K, affine, check):
    """Squared distances of SVs from the hull of the in-bound ones, and the errors that they make."""
    scale = float(np.diag(K).max()) or 1.0
    want = np.zeros(fit.y.size, dtype=LONG)
    off = np.full(fit.y.size, LONG(np.inf))
    for p in np.concatenate([fit.inbound, fit.bounded]):
        hull = fit.inbound[fit.inbound != p]
        got = squared[p] * fit.said.factor
        if hull.size == 0:
            if affine:
                require(np.isinf(got), check, f"of SV {p}, alone, is {got}")
                want[p], off[p] = np.inf, 0
                continue
            least = greatest = K[p, p]
        else:
            least, greatest = hull_distance(K, hull, p, affine)
        if CLOSE * scale < float(fit.E.max()) * 1e6:
            continue
        require(
            least - CLOSE * scale <= got <= greatest + CLOSE * scale,
            check,
            f"squared, of SV {p} it is {got:.9g}, not in [{float(least):.9g}, {float(greatest):.9g}]; "
            f"kernel values up to {scale:.3g}",
        )
        want[p], off[p] = (least + greatest) / 2, (greatest - least) / 2 + CLOSE * scale
    with np.errstate(invalid="ignore"):
        fit.counted(estimate, np.where(np.isinf(want), np.inf, fit.alpha * want), fit.alpha * off, check)


def counts(said, rng):
    """The estimates that need no span."""
    fit = Fit(said)
    m = said.problem.m
    share = sv_count(fit.gram, said.y, fit.solution)
    require((share.errors == (fit.solution.alpha > 0)).all(), "support vectors", "are counted wrongly")
    ours = jaakkola_haussler(fit.gram, said.y, fit.solution)
    fit.counted(ours, fit.alpha * np.diag(fit.moved), fit.alpha * np.diag(fit.E), "Jaakkola-Haussler")
    squared_radius, off = LONG(1), LONG(0)
    if said.truth.gamma is None:
        squared_radius = (np.diag(fit.moved)[:, None] - fit.moved).max()
        off = 2 * fit.E.max()
    result = xi_alpha(fit.gram, said.y, fit.solution)
    left = 2 * fit.alpha * squared_radius - 1 + np.maximum(0, 1 - fit.margin) + fit.margin
    fit.counted(result, left, 2 * fit.alpha * off + fit.noise, "xi-alpha")
    require(result.errors.size == m, "xi-alpha", f"has {result.errors.size} errors of {m}")


def sphere(said, rng):
    """It encloses the rows, and no sphere is smaller than its dual value; radius-margin is made of it."""
    fit = Fit(said)
    points = np.arange(said.problem.m)
    if rng.random() < 0.3:
        points = np.flatnonzero(rng.random(points.size) < 0.7)
        points = np.array([0]) if points.size == 0 else points
    result = smallest_enclosing_sphere(fit.gram, points, tol=SPHERE)
    weight, diagonal = result.weight.astype(LONG), np.diag(fit.K)
    scale = float(diagonal.max())
    rounding = 16 * float(fit.E.max()) + 64 * float(EPS) * scale
    require((weight >= 0).all() and abs(weight.sum() - 1) < 1e-12, "sphere", f"weights sum to {weight.sum()}")
    require(np.flatnonzero(weight).size <= points.size, "sphere", "has weight outside of its points")
    distance = (diagonal - 2 * fit.K @ weight + weight @ fit.K @ weight)[points]
    squared_radius = result.squared_radius * said.factor
    off = abs(float(distance.max()) - squared_radius)
    require(
        off <= rounding, "sphere", f"the farthest point is {off:.3g} off the sphere of {squared_radius:.9g}"
    )
    if result.converged:
        least = float(weight[points] @ distance)
        most = SPHERE * squared_radius + rounding
        excess = squared_radius - least
        require(excess <= most, "sphere", f"may be {excess:.3g} too large, of {squared_radius:.9g}")
    whole = smallest_enclosing_sphere(fit.gram)
    bound = radius_margin(fit.gram, said.y, fit.solution, whole)
    theta = said.y * fit.alpha
    norm, most = float(theta @ fit.K @ theta), float(fit.noise @ fit.alpha)
    off = abs(bound.squared_norm / said.factor - norm)
    require(off <= most, "norm", f"squared, it is off by {off:.3g} from {norm:.9g}")


def boxed_spans(said, rng):
    """Spans with the box against an interior-point solver, and the bound made of them."""
    fit = Fit(said)
    if not fit.solution.converged or fit.inbound.size == 0:
        return
    result = span_bound(fit.gram, said.y, fit.solution)
    V = fit.inbound
    K = fit.K[np.ix_(V, V)].astype(float)
    scale = float(np.diag(fit.K).max()) or 1.0
    y, alpha, C = said.y[V], fit.solution.alpha[V], fit.solution.C[V]
    got = result.squared_span[V] * said.factor
    up, down = np.where(y > 0, C - alpha, alpha), np.where(y > 0, alpha, C - alpha)
    for k in np.flatnonzero(np.isfinite(got)):
        rest = np.flatnonzero(np.arange(V.size) != k)
        # lambda_k = -1, the others sum to 1
        low, high = (-down, up) if y[k] > 0 else (-up, down)
        low, high = low[rest] / alpha[k], high[rest] / alpha[k]
        if rest.size == 0 or high.sum() < 1 or (high > 1e6).any() or (low < -1e6).any():
            continue  # the reference solver wants one scale
        try:
            P = K[np.ix_(rest, rest)] / scale
            shares = minimise(P, K[rest, k] / scale, low, high, np.ones((1, rest.size)), np.ones(1))
        except AssertionError:
            continue
        if abs(shares.sum() - 1) > 1e-8:
            continue
        share = shares.astype(LONG)
        block = fit.K[np.ix_(V[rest], V[rest])]
        value = float(share @ block @ share - 2 * fit.K[V[rest], V[k]] @ share + fit.K[V[k], V[k]])
        most = (CLOSE * scale + 2 * float(fit.E.max())) * (1 + np.abs(shares).sum()) ** 2
        off = abs(got[k] - value)
        require(
            off <= most, "span in the box", f"of SV {V[k]} is {got[k]:.9g} where {value:.9g} is the least"
        )
    require(result.n_bounded == fit.bounded.size, "span bound", f"counts {result.n_bounded} bounded SVs")
    ours = np.sqrt(np.nanmax(result.squared_span, initial=0))
    require(ours == result.span, "span bound", f"S is {result.span}, not {ours}")
    those = np.flatnonzero(np.isfinite(result.squared_span))
    weight = np.maximum(result.diameter, fit.solution.C[those] ** -0.5) @ fit.solution.alpha[those]
    want = (ours * weight + result.n_empty + result.n_bounded) / said.problem.m
    off = abs(result.bound - want)
    require(off <= 1e-9 * max(want, 1), "span bound", f"is {result.bound:.12g}, not {want:.12g}")


def rescaled(said, rng):
    """Where the principal directions are unique."""
    fit = Fit(said)
    result = rescaled_radius_margin(fit.gram, said.y, fit.solution)
    K = fit.K - fit.K.mean(axis=0)
    K = (K - K.mean(axis=1)[:, None]).astype(float)
    values, vectors = np.linalg.eigh(K)
    top = values[-1]
    remaining = values > 1e-6 * top
    if (values[~remaining] > 1e-13 * top).any() or float(fit.E.max()) > 1e-12 * top:
        return
    if (np.diff(values[remaining]) < 1e-3 * top).any():
        return
    values, vectors = values[remaining], vectors[:, remaining]
    parts = (said.y * fit.alpha.astype(float)) @ vectors
    want = float((values**2 * (vectors**2).max(axis=0)) @ parts**2) / said.problem.m
    most = 1e-6 * want + 1e-9 * float(top * fit.noise.max() * fit.alpha.sum())
    off = abs(result.bound - want)
    require(off <= most, "rescaled", f"{result.bound:.9g}, not {want:.9g}, of rank {values.size}")


ESTIMATES = {
    "spans": spans,
    "counts": counts,
    "sphere": sphere,
    "spans in the box": boxed_spans,
    "rescaled radius-margin": rescaled,
}
