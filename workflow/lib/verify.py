"""The comparison of cells that are computed again with the rows of a preset."""

import fnmatch
import math
import random

import numpy as np

# Columns of results; the others are costs, steps of a solver, and origins.
RESULTS = ("dataset", "method", "fold", "status", "rows_tested", "errors", "estimate", "bound")
# A fit is known to its tolerance of 1e-3. So another library, which rounds kernel values in another way, may
# put this share of the test rows on the other side of the boundary, and move a bound by this share of it.
TEST_SHARE, BOUND_SHARE = 1e-3, 5e-3


def drawn(cells, which):
    """Return those of the `cells` (dict by name ``paper/stage/cell``) to compute again.

    `which` is a share, above 0 and at most 1: so many cells of each paper, at least one, drawn at random. Or
    it is a list of patterns of names, in which ``*`` stands for anything; a pattern that fits no name raises
    a `ValueError`.
    """
    if isinstance(which, list):
        names = []
        for pattern in which:
            matches = fnmatch.filter(cells, pattern)
            if not matches:
                raise ValueError(
                    f"The configuration's verify.cells names {pattern!r}; no cell has such a name."
                )
            names += matches
        return {name: cells[name] for name in dict.fromkeys(names)}
    names_by_paper = {}
    for name in cells:
        names_by_paper.setdefault(name.split("/")[0], []).append(name)
    return {
        name: cells[name]
        for names in names_by_paper.values()
        for name in random.sample(names, math.ceil(which * len(names)))
    }


def compare(stored, again, tolerance):
    """Return the names of the `RESULTS` in which the `stored` rows of a cell (DataFrame) and those that were
    computed `again` differ, and the CPU time now over the CPU time then.

    Two numbers may differ by the share `tolerance` of the larger one, errors on test rows by `TEST_SHARE` of
    these rows, and bounds of another library by `BOUND_SHARE`.
    """
    # older rows may have no times
    before = stored["cpu_s"].sum()
    ratio = again["cpu_s"].sum() / before if before else np.nan
    if len(stored) != len(again):
        return ["number of rows"], ratio
    allowed = np.where(stored["fold"] == "test", TEST_SHARE, 0.0)
    other_library = (stored["library"].to_numpy() != again["library"].to_numpy()).any()
    differing = []
    for column in RESULTS:
        if column not in again:
            continue
        then, now = stored[column].to_numpy(), again[column].to_numpy()
        if column in ("errors", "estimate", "bound"):
            scale = stored["rows_tested"].fillna(0).to_numpy(float) if column == "errors" else 1.0
            then, now = then.astype(float), now.astype(float)
            same = (then == now) | (np.isnan(then) & np.isnan(now))
            close = ~same & np.isfinite(then) & np.isfinite(now)
            share = max(tolerance, BOUND_SHARE) if column == "bound" and other_library else tolerance
            slack = np.fmax(share * np.fmax(abs(then), abs(now))[close], (allowed * scale)[close])
            same[close] = abs(then[close] - now[close]) <= slack
        else:
            same = (then == now) | (stored[column].isna().to_numpy() & again[column].isna().to_numpy())
        if not same.all():
            differing.append(column)
    return differing, ratio
