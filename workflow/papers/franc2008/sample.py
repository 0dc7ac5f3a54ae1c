"""Baselines on a sample of the points: their cost, the cost of all points, and the points on which methods
differ."""

import time

import numpy as np
import pandas as pd

from lib.cell import error_count
from lib.rows import pack_bits, unpack_bits
from lib.sample import variance_of_total

# columns that count or measure what is done point by point
COUNTED = ("n_solved", "n_certified", "n_retrained")
# cost -> the part of it that is solving for points
SOLVING = {"cpu_s": "solving_cpu_s", "columns_requested": "solving_columns"}


class Costs:
    """The cost of each point that `leave_one_out` solves for with this Gram matrix. It is called as the
    progress of `leave_one_out`, and calls another progress in turn."""

    def __init__(self, gram, progress):
        self.gram, self.progress, self.marks = gram, progress, []

    def __call__(self, done, total):
        self.marks.append((time.process_time(), self.gram.columns_requested))
        self.progress(done, total)

    def sample_columns(self, loo):
        """Return the columns of a row whose points are a sample; none if they are all.

        The clock cannot be read where the first point begins: it counts as the others do on average.
        """
        decided = loo.stands_for > 0
        if decided.all():
            return {}
        each = np.diff(np.array(self.marks), axis=0)
        (cpu_s, columns), (cpu_s_sd, columns_sd) = loo.n_solved * each.mean(axis=0), each.std(axis=0, ddof=1)
        return {
            **error_count(loo.errors[decided]),
            "estimate": loo.error,
            "decided": pack_bits(decided),
            "stands_for": float(loo.stands_for.max()),
            "solving_cpu_s": float(cpu_s),
            "solving_cpu_s_sd": float(cpu_s_sd),
            "solving_columns": float(columns),
            "solving_columns_sd": float(columns_sd),
        }


def for_all_points(rows):
    """Return the rows with the costs that all points would have: points of a sample count for those that they
    stand for.

    These are `COUNTED` and the costs of `SOLVING`, and for each of the latter there is a column
    ``<cost>_variance``, 0 where all points were solved for.
    """
    # rows of before baselines could be sampled lack the columns
    columns = ["stands_for", *(f"{name}{sd}" for name in SOLVING.values() for sd in ("", "_sd"))]
    rows = rows.reindex(columns=[*rows.columns, *(name for name in columns if name not in rows)])
    every = rows["stands_for"].astype(float).fillna(1.0)
    scaled = rows.assign(**{name: rows[name] * every for name in COUNTED})
    for cost, solving in SOLVING.items():
        scaled[cost] = rows[cost] + (every - 1) * rows[solving].astype(float).fillna(0.0)
        spread = rows[f"{solving}_sd"].astype(float).fillna(0.0)
        scaled[f"{cost}_variance"] = variance_of_total(spread, rows["n_solved"], rows["n_solved"] * every)
    return scaled


def decided_by_all(rows, m):
    """Return the points that the method of every row (dict) decided: bool, shape (m,)."""
    decided = np.ones(m, dtype=bool)
    for row in rows:
        if not pd.isna(row.get("decided")):
            decided &= unpack_bits(row["decided"], m)
    return decided


def differing_points(rows, m):
    """Return the points that all rows (dicts) decided and on whose error they disagree."""
    patterns = np.array([unpack_bits(row["error_pattern"], m) for row in rows])
    return np.flatnonzero(patterns.any(axis=0) & ~patterns.all(axis=0) & decided_by_all(rows, m))
