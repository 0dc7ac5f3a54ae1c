"""Estimates of a total from a sample, drawn without replacement by a recorded seed, and their error: points
of a model, folds of a cross-validation."""

import numpy as np
from scipy.special import stdtrit

# half of a 95 % interval, in standard errors
INTERVAL = 1.96


def variance_of_total(spread, n, units):
    """Return the variance of the total over all `units` that is estimated from n of them, whose costs have
    the standard deviation `spread` (n - 1). It is 0 if all were measured and NaN if one of several was. It is
    widened so that the interval that `half_width` makes of it is Student's. Arguments are numbers, or arrays
    of one shape."""
    n, units = np.asarray(n, dtype=float), np.asarray(units, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        wider = np.where(n > 1, stdtrit(n - 1, 0.975) / INTERVAL, np.nan)
        variance = units * (units - n) * (wider * spread) ** 2 / n
    return np.where(n < units, variance, 0.0)[()]


def total(measured, units, relative_spread=None):
    """Return the total over all `units`, estimated from the costs that were measured of some, and its
    variance. With one measured cost the spread has to be known from elsewhere: `relative_spread` is that of
    something that costs vary with."""
    measured = np.asarray(measured, dtype=float)
    n, mean = measured.size, measured.mean()
    if n == units:
        return float(measured.sum()), 0.0
    if n == 1 and relative_spread is not None:
        return float(units * mean), float(units * (units - 1) * (relative_spread * mean) ** 2)
    spread = measured.std(ddof=1) if n > 1 else np.nan
    return float(units * mean), float(variance_of_total(spread, n, units))


def half_width(ratio, *parts):
    """Return half of the 95 % interval of a ratio of two totals, each a pair with its variance, or of one
    total alone; NaN if all are known."""
    relative = sum(variance / total**2 for total, variance in parts if total)
    return INTERVAL * abs(ratio) * np.sqrt(relative) if relative else np.nan
