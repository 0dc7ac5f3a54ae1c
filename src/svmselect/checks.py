"""Checks of arguments of the numerical core, whose errors name the argument and the value."""

import numbers

import numpy as np

__all__ = [
    "as_numbers",
    "check_amounts",
    "check_bounds",
    "check_float64",
    "check_labels",
    "check_match",
    "check_options",
    "check_start",
    "check_sums",
    "check_targets",
    "check_weights",
    "frozen",
    "largest_C",
]

# C times the sum of a row's kernel values stays below this: the solvers square such sums.
LARGEST_BOUND = 1e140
# Sums of kernel values stay below this: the solvers take VEC_OUT, 1e300, for infinity.
LARGEST_SUM = 1e290
WORKING_SETS = ("mvp", "wss2")
# A solver gives up after MOST_STEPS steps, or MOST_STEPS_PER_ROW per row if these are more.
MOST_STEPS, MOST_STEPS_PER_ROW = 1_000_000, 100_000


def _check_gram(gram):
    """Raise a ValueError for anything but a Gram matrix."""
    if not hasattr(gram, "kernel_values"):
        raise ValueError(f"gram must be a Gram, made of rows and a kernel, got {type(gram).__name__}")


def check_float64(gram):
    """Raise a ValueError for a Gram matrix of float32, whose round-off no KKT gap shows."""
    if gram.dtype != np.float64:
        raise ValueError(f"gram must hold float64 values for exact leave-one-out, got {gram.dtype}")


def check_targets(gram, z):
    """Return targets as float64 of shape (m,); raise a ValueError unless they are finite numbers."""
    _check_gram(gram)
    z = as_numbers(z, "z")
    if z.shape != (gram.m,):
        raise ValueError(f"z must have shape ({gram.m},) to match the Gram matrix, got {z.shape}")
    bad = np.flatnonzero(~(np.abs(z) <= LARGEST_BOUND))
    if bad.size:
        raise ValueError(
            f"z must be finite, and at most {LARGEST_BOUND:g} in size, got {z[bad[0]]} at row {bad[0]}"
        )
    return z


def check_labels(gram, y):
    """Return labels as float64 of shape (m,); raise a ValueError for labels other than -1 and +1."""
    _check_gram(gram)
    y = np.asarray(y)
    if y.shape != (gram.m,):
        raise ValueError(f"y must have shape ({gram.m},) to match the Gram matrix, got {y.shape}")
    if not np.all((y == 1) | (y == -1)):
        raise ValueError(f"y must hold the labels -1 and +1 only, got {np.unique(y)[:5].tolist()}")
    return np.ascontiguousarray(y, dtype=np.float64)


def as_numbers(values, name):
    """Return a copy as float64; raise a ValueError for text and other values that are no numbers."""
    array = np.asarray(values)
    try:
        if array.dtype.kind in "USc" or (array.shape == () and array.dtype == object):
            raise TypeError
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, got {values!r}") from None


def largest_C(gram):
    """Return the largest bound of alpha, which replaces larger ones: squares of larger alphas overflow."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.float64(LARGEST_BOUND) / (gram.m * max(float(gram.diagonal.max()), 0.0))


def check_bounds(gram, y, C):
    """Return upper bounds of alpha as float64 of shape (m,), at most `largest_C`; see `check_weights`."""
    return np.minimum(check_weights(gram, y, C, "C"), largest_C(gram))


def check_sums(gram, weight, model):
    """Return the largest kernel value; raise a ValueError if its weighted sums would overflow."""
    largest = float(gram.diagonal.max())
    total = float(weight.sum())
    if not largest * total * max(total, 1.0) < LARGEST_SUM:
        raise ValueError(
            f"X is too large for {model}: sums of kernel values up to {largest:.3g}, with weights up to "
            f"{weight.max():.3g}, overflow float64"
        )
    return largest


def check_weights(gram, y, C, name):
    """Return amounts of points, of which both classes have positive ones; see `check_amounts`."""
    C = check_amounts(gram, C, name)
    if not (C[y > 0] > 0).any() or not (C[y < 0] > 0).any():
        raise ValueError(f"y must hold both classes among the points with {name} > 0")
    return C


def check_amounts(gram, C, name):
    """Return a number for all points, or one for each, as float64, shape (m,): finite, >= 0, not all 0."""
    if isinstance(C, numbers.Real):
        if not (np.isfinite(C) and C > 0):
            raise ValueError(f"{name} must be a positive finite number, got {C!r}")
        C = np.full(gram.m, float(C))
    else:
        C = as_numbers(C, name)
        if C.shape != (gram.m,):
            raise ValueError(f"{name} must be a number or have shape ({gram.m},), got shape {C.shape}")
        bad = np.flatnonzero(~(np.isfinite(C) & (C >= 0)))
        if bad.size:
            raise ValueError(
                f"{name} must be finite and not negative at every point, got {C[bad[0]]} at point {bad[0]}"
            )
        if not C.any():
            raise ValueError(f"{name} must be positive at a point, got 0 at all {gram.m}")
    return C


def check_options(tol, working_set, max_iter, m):
    """Return the step limit of a problem of m rows; raise a ValueError for a bad option."""
    if not (isinstance(tol, numbers.Real) and np.isfinite(tol) and tol > 0):
        raise ValueError(f"tol must be a positive finite number, got {tol!r}")
    if not (isinstance(working_set, str) and working_set in WORKING_SETS):
        raise ValueError(f"working_set must be one of {sorted(WORKING_SETS)}, got {working_set!r}")
    if max_iter is None:
        return max(MOST_STEPS, MOST_STEPS_PER_ROW * m)
    if not (isinstance(max_iter, numbers.Integral) and max_iter >= 0):
        raise ValueError(f"max_iter must be None or an integer >= 0, got {max_iter!r}")
    return int(max_iter)


def check_start(start, y, C):
    """Return a feasible start as signed variables of shape (m,); raise a ValueError for an infeasible one."""
    start = as_numbers(start, "start")
    if start.shape != y.shape:
        raise ValueError(f"start must have shape {y.shape}, got {start.shape}")
    outside = np.flatnonzero(~((start >= 0) & (start <= C)))
    if outside.size:
        i = outside[0]
        raise ValueError(f"start must lie in [0, C], got {start[i]} at point {i} where C is {C[i]}")
    balance = float(start @ y)
    if abs(balance) > 1e-9 * max(float(start.sum()), C.max()):
        raise ValueError(f"start must satisfy sum(y * alpha) = 0, got {balance:.3g}")
    return start * y


def check_match(gram, solution, kind):
    """Raise a ValueError unless this is a solution, of this class, of the Gram matrix's rows."""
    if not isinstance(solution, kind):
        raise ValueError(f"solution must be a {kind.__name__}, got {type(solution).__name__}")
    if solution.C.size != gram.m:
        raise ValueError(
            f"solution must be of the {gram.m} rows of the Gram matrix, got one of {solution.C.size} rows"
        )


def frozen(array):
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array
