"""The rule that chooses between blocks of rows and stored columns, for problems without stored columns."""

from typing import NamedTuple

import numpy as np

import svmselect.solver._active_set as _active_set
from svmselect.kernels import Linear
from svmselect.solver._blocked import BlockedDual
from svmselect.solver._smo import Dual

__all__ = ["Blocks", "blocks_by_rows", "choose_blocks", "dual_of"]

# Blocks pay from these many rows on; those of a linear kernel update the gradient by the weight vector.
ROWS, ROWS_LINEAR = 4_000, 2_000
# A block has one row in SHARE, but at least SMALLEST and at most LARGEST, and in-bound rows beside them.
SHARE, SMALLEST, LARGEST, MOST_INBOUND = 16, 256, 1_024, 8_192
# The whole matrix is faster where the share of in-bound rows exceeds the number of rows over ROWS_PER_SHARE,
# or a half from ROWS_STORED rows on. Where it does not fit its budget, blocks without growth are faster.
ROWS_PER_SHARE, ROWS_STORED = 20_000, 10_000
# Rows of the pilot, its tolerance in units of the linear term, and its steps per row.
PILOT_ROWS, PILOT_TOL, PILOT_STEPS = 512, 0.1, 10


class Blocks(NamedTuple):
    """Sizes of blocks."""

    size: int  # rows of a block, at least 2
    most_inbound: int  # in-bound rows by which a block grows at most; where there are more, it takes none


def choose_blocks(gram, p, lo, hi):
    """Return the blocks by which a dual problem is solved, or None where stored columns are faster.

    `p`, `lo` and `hi` are the linear term and the boxes of the signed variables. Where stored columns are
    faster and most rows have a box, all columns are computed here. ``docs/how_it_works.md`` has the rule, and
    ``benchmarks/fit_map.py`` measures it.
    """
    m, linear = gram.m, isinstance(gram.kernel, Linear)
    if m < (ROWS_LINEAR if linear else ROWS) or gram.has_columns:
        return None
    most_share = min(m, ROWS_STORED) / ROWS_PER_SHARE
    # with a linear kernel no more rows are in-bound than there are features, but for rows that depend
    if (linear and gram.width < most_share * m) or _inbound_share(gram, p, lo, hi) < most_share:
        return Blocks(min(max(m // SHARE, SMALLEST), LARGEST), MOST_INBOUND)
    if not gram.full:
        return Blocks(LARGEST, 0)
    if 2 * np.count_nonzero(lo < hi) > m:
        gram.compute()  # most columns will be asked for, and all at once take half the time
    return None


def dual_of(gram, p, blocks, active_set):
    """Return the dual problem with the linear term p, and the function that solves it.

    It is solved by `blocks`, or where these are None with stored columns: by the active-set method, or SMO
    alone.
    """
    if blocks is None:
        return Dual(gram, p), _active_set.solve if active_set else Dual.solve
    dual = BlockedDual(gram, p)
    dual.size, dual.most_inbound = blocks
    return dual, Dual.solve


def blocks_by_rows(gram):
    """Return the blocks of a problem for which no pilot is made, or None where columns are stored."""
    if gram.m < ROWS_STORED or gram.has_columns:
        return None
    return Blocks(LARGEST, MOST_INBOUND)


def _inbound_share(gram, p, lo, hi):
    """Return the share of in-bound rows in a loose fit of some hundred random rows, the pilot."""
    free = np.flatnonzero(lo < hi)
    rows = np.sort(np.random.default_rng(0).permutation(free)[:PILOT_ROWS])
    if rows.size == 0:
        return 0.0
    pilot = Dual(gram.restricted(rows), p[rows])
    pilot.confine(lo[rows], hi[rows], np.zeros(rows.size))
    pilot.solve("wss2", PILOT_TOL * float(np.abs(p[rows]).max()), PILOT_STEPS * rows.size)
    theta, _, lo, hi = pilot.arrays()
    return np.count_nonzero((lo < theta) & (theta < hi)) / rows.size
