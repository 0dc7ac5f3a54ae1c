"""One run of a numerical method, as a row."""

from __future__ import annotations

import traceback

import numpy as np

from lib.rows import ERROR, NOT_CONVERGED, OK
from lib.timing import timed

__all__ = ["attempt", "error_count", "unfinished"]

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


def attempt(run, timing, log, what):
    """Run a method under the clock.

    Parameters
    ----------
    run : callable
        Called without arguments.
    timing : {"shared", "exclusive"}
        See `lib.timing.timed`.
    log : logging.Logger
    what : str
        Names the run in the log, if it fails.

    Returns
    -------
    result : object
        What the method returned; None if it failed.
    row : dict
        Its status, and what it cost or why it failed.
    """
    try:
        with timed(timing) as clock:
            result = run()
    except NUMERICAL_ERRORS as error:
        log.error("%s: %s", what, traceback.format_exc())
        return None, {"status": ERROR, "reason": f"{type(error).__name__}: {error}"}
    return result, {"status": OK, "cpu_s": clock.cpu_s, "wall_s": clock.wall_s}


def error_count(wrong):
    """Columns of a row that count errors (bool, shape (n,))."""
    count = int(np.count_nonzero(wrong))
    return {"errors": count, "rows_tested": len(wrong), "estimate": count / len(wrong)}


def unfinished(reason):
    """Columns of a row whose solver stopped early."""
    return {"status": NOT_CONVERGED, "reason": reason}
