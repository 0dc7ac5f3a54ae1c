"""A judge of small problems that shares nothing with the library.

PIQP solves the dual, a linear system on the free variables polishes it,
and thresholds are the middles of the intervals in which the primal objective is least, by its break points.
"""

import numpy as np
import piqp

NEAR = (1e-6, 1e-8, 1e-4, 1e-10)  # a variable this close to a bound, relative to its box, is on it
SAME = 1e-9  # break points this close, relative to the values' size, are one


def _program(K, p, A, b, hi):
    """Return the minimiser of x'K x / 2 - p'x with A x = b and 0 <= x <= hi."""
    solver = piqp.DenseSolver()
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, 1e-12)
    solver.settings.max_iter, solver.settings.verbose = 300, False
    unit, scale = hi.max(), max(np.abs(K).max() * hi.max(), np.abs(p).max(), 1e-300)
    solver.setup(K * unit / scale, -p / scale, A, b / unit, None, None, None, np.zeros(hi.size), hi / unit)
    solver.solve()
    return np.array(solver.result.x) * unit


def _polished(K, p, A, b, hi, x, near):
    """Return x with variables near a bound on it, and the others by the linear system of their conditions."""
    free = (x > near * hi) & (x < (1 - near) * hi)
    y = np.where(free, 0.0, np.where(x > 0.5 * hi, hi, 0.0))
    F, n = np.flatnonzero(free), len(A)
    if F.size:
        system = np.block([[K[np.ix_(F, F)], A[:, F].T], [A[:, F], np.zeros((n, n))]])
        right = np.concatenate([p[F] - K[F] @ y, b - A @ y])
        # the solution that is closest to x where the system is singular
        now = np.append(
            x[F], np.linalg.lstsq(A[:, F].T, p[F] - K[F] @ (y + np.where(free, x, 0)), rcond=None)[0]
        )
        y[F] = (now + np.linalg.lstsq(system, right - system @ now, rcond=1e-11)[0])[: F.size]
    return np.clip(y, 0, hi)


def minimiser(K, p, A, b, hi):
    """Return the minimiser of the program and its KKT gap, in units of K x."""
    x = _program(K, p, A, b, hi)
    best, gap = x, np.inf
    for near in NEAR:
        y = _polished(K, p, A, b, hi, x, near)
        g = K @ y - p
        # signed by its equality, g is at most the level where a variable can shrink, and at least where it
        # can grow
        largest = np.abs(A @ y - b).max() * max(np.abs(K).max(), 1.0)
        for signs in A:
            can_grow, can_shrink = y < hi * (1 - 1e-13), y > hi * 1e-13
            up = np.where(signs > 0, can_grow, (signs < 0) & can_shrink)
            low = np.where(signs > 0, can_shrink, (signs < 0) & can_grow)
            largest = max(
                largest, (signs * g)[low].max(initial=-np.inf) - (signs * g)[up].min(initial=np.inf)
            )
        if largest < gap:
            best, gap = y, largest
    return best, gap


def least_of_hinges(points, weight, slope, size):
    """Return the interval of t at which ``slope t + sum(weight max(0, points - t))`` is least."""
    order = np.argsort(points)
    points, weight = points[order], weight[order]
    starts = np.flatnonzero(np.diff(points, prepend=-np.inf) > SAME * size)
    sums = np.add.reduceat(weight, starts)
    # the slope beyond each break point
    beyond = slope - (weight.sum() - np.cumsum(sums))
    k = int(np.flatnonzero(beyond >= -1e-12 * weight.sum())[0])
    low = points[starts[k]]
    flat = abs(beyond[k]) <= 1e-12 * weight.sum() and k + 1 < starts.size
    return low, points[starts[k + 1]] if flat else low


def one_class(K, weight, nu):
    """Return decision values of all rows and the KKT gap; rows of weight 0 are not trained on."""
    rows = np.flatnonzero(weight > 0)
    total = nu * weight.sum()
    a, gap = minimiser(
        K[np.ix_(rows, rows)], np.zeros(rows.size), np.ones((1, rows.size)), np.array([total]), weight[rows]
    )
    f = K[:, rows] @ a
    # rho minimises -total rho + sum(w max(0, rho - f)): hinges of -f at -rho
    low, high = least_of_hinges(-f[rows], weight[rows], total, max(np.abs(f).max(), 1e-300))
    return f + 0.5 * (low + high), gap


def _regression(K, p, A, b, C, rows):
    """Return f of all rows and the KKT gap of a regression with variables of both sides of the tube."""
    n = rows.size
    part = K[np.ix_(rows, rows)]
    both = np.block([[part, -part], [-part, part]])
    x, gap = minimiser(both, p, A, b, np.tile(C[rows], 2))
    return K[:, rows] @ (x[:n] - x[n:]), gap, x


def svr(K, z, C, epsilon):
    """Return predictions of all rows and the KKT gap of an epsilon-SVR."""
    rows = np.flatnonzero(C > 0)
    n = rows.size
    A = np.concatenate([np.ones(n), -np.ones(n)])[None]
    f, gap, _ = _regression(
        K, np.concatenate([z[rows] - epsilon, -z[rows] - epsilon]), A, np.zeros(1), C, rows
    )
    size, residual = max(np.ptp(z[rows]), np.abs(f).max(), epsilon, 1e-300), (z - f)[rows]
    # sum(C max(0, |r - b| - epsilon)) = sum(C max(0, r - epsilon - b)) + sum(C max(0, b - r - epsilon)),
    # where max(0, b - u) = max(0, u - b) + b - u
    points, weight = np.concatenate([residual - epsilon, residual + epsilon]), np.tile(C[rows], 2)
    low, high = least_of_hinges(points, weight, C[rows].sum(), size)
    return f + 0.5 * (low + high), gap


def nu_svr(K, z, C, nu):
    """Return predictions of all rows and the KKT gap of a nu-SVR."""
    rows = np.flatnonzero(C > 0)
    n, half = rows.size, 0.5 * nu * C.sum()
    sides = np.concatenate([np.ones(n), np.zeros(n)])
    f, gap, _ = _regression(
        K, np.concatenate([z[rows], -z[rows]]), np.stack([sides, 1 - sides]), np.array([half, half]), C, rows
    )
    size, residual = max(np.ptp(z[rows]), np.abs(f).max(), 1e-300), (z - f)[rows]
    upper = 0.5 * sum(least_of_hinges(residual, C[rows], half, size))
    lower = -0.5 * sum(least_of_hinges(-residual, C[rows], half, size))
    if upper - lower > 1e-9 * size:
        return f + 0.5 * (upper + lower), gap
    return svr(K, z, C, 0.0)
