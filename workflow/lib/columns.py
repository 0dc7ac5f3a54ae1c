"""Columns of a row, from the result of a method."""

import numpy as np

from lib.rows import NOT_CONVERGED

# Columns that describe a solution, and columns that say what it took.
FIT = ("n_sv", "n_inbound", "objective", "kkt_gap", "n_iter")
COST = ("columns_requested", "kernel_values")


def taken(result, *names):
    """Return attributes of a result as columns of their names, as numbers of Python."""
    attributes = {name: getattr(result, name) for name in names}
    return {
        name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()
    }


def error_count(wrong):
    """Return columns that count errors (bool, shape (n,))."""
    count = int(np.count_nonzero(wrong))
    return {"errors": count, "rows_tested": len(wrong), "estimate": count / len(wrong)}


def unfinished(reason):
    """Return columns of a run whose solver stopped early."""
    return {"status": NOT_CONVERGED, "reason": reason}


def estimate_columns(result, *names, solved="minimisations"):
    """Return the columns of an estimate, a result with ``errors`` or ``bound``: its value, its degenerate
    points, and its status. `names` are further attributes, see `taken`; `solved` names the problems that may
    not have converged."""
    row = error_count(result.errors) if hasattr(result, "errors") else {"bound": result.bound}
    row |= taken(result, *names)
    if hasattr(result, "n_empty"):
        row["n_empty"] = result.n_empty
    if hasattr(result, "n_dependent"):
        row["n_degenerate"] = result.n_dependent + getattr(result, "n_without_span", 0)
    if getattr(result, "n_not_converged", 0):
        row |= unfinished(f"iteration limit reached by {result.n_not_converged} {solved}")
    return row
