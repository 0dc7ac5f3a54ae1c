"""The cells that ``snakemake verify`` computes again, and the comparison of their rows with the stored
ones."""

import fnmatch
import math
import random

import numpy as np
import pandas as pd

from lib.rows import unpack_bits

COLUMNS = [
    "paper", "stage", "cell", "rows", "numbers", "differing", "columns", "largest_difference", "time_ratio",
    "library_kept", "library_now", "cpu_kept", "cpu_now",
]  # fmt: skip

# Columns that are not compared: the library and the processor, times and memory, and the words that explain a
# failed run.
APART = ("library", "commit", "cpu", "timing_mode", "wall_s", "solving_cpu_s_sd", "peak_mb", "reason")
SECONDS = "cpu_s"
# What has to be the same whatever code computed it: another solver takes other steps to the same errors.
RESULTS = ("dataset", "method", "fold", "status", "rows_tested", "errors", "estimate", "error_pattern")
# A fit is known to its tolerance, so a test row that lies closer to the boundary has either label. Other code
# rounds otherwise, as another processor does: of the test rows this share may flip.
FLIPS = 1e-3
FLIPPED = ("errors", "estimate", "error_pattern")


def drawn(cells, which):
    """Return the cells to compute again, some of the `cells` (names ``paper/stage/cell``), each once.

    If `which` is a number, it is a share, above 0 and at most 1: so many cells of each paper are drawn at
    random, at least one. A text is a pattern of names, in which ``*`` stands for anything; a list has several
    patterns. A pattern that fits no name raises a `ValueError`.
    """
    if isinstance(which, str | list):
        chosen = {}
        for pattern in [which] if isinstance(which, str) else which:
            matches = fnmatch.filter(cells, pattern)
            if not matches:
                raise ValueError(
                    f"The configuration's verify names {pattern!r}, and no cell has such a name; one is "
                    f"{cells[0]!r}."
                )
            chosen |= dict.fromkeys(matches)
        return list(chosen)
    by_paper = {}
    for cell in cells:
        by_paper.setdefault(cell.split("/")[0], []).append(cell)
    return [
        cell
        for paper_cells in by_paper.values()
        for cell in random.sample(paper_cells, min(len(paper_cells), math.ceil(which * len(paper_cells))))
    ]


def compare(stored, again, tolerance):
    """Return the comparison of the `stored` rows (DataFrame) of a cell with those that were computed `again`:
    the `COLUMNS` after the first three.

    Two numbers may differ by the share `tolerance` of the larger one. Everything else has to be equal. Of
    rows that other code computed only the `RESULTS` are compared, not the steps by which a solver came to
    them. ``numbers`` counts the values that were compared, numbers and others, and ``differing`` those that
    differ, but for test rows that may flip; ``columns`` names their columns, and ``largest_difference`` is a
    share of the larger value, flips included. ``time_ratio`` is the CPU time now over the CPU time then.
    """
    comparison = {"rows": len(again), "numbers": 0, "differing": 0, "columns": "", "largest_difference": 0.0}
    for column in ("library", "cpu"):
        for name, rows in (("kept", stored), ("now", again)):
            comparison[f"{column}_{name}"] = ", ".join(
                sorted({str(value) for value in rows[column].dropna()})
            )
    comparison["time_ratio"] = _ratio(again[SECONDS].sum(), stored[SECONDS].sum())
    if len(stored) != len(again):
        return comparison | {
            "differing": abs(len(stored) - len(again)),
            "columns": "number of rows",
            "largest_difference": math.inf,
        }
    one_code = comparison["library_kept"] == comparison["library_now"]
    columns = []
    flipped = [
        not one_code and _may_flip(*pair)
        for pair in zip(stored.to_dict("records"), again.to_dict("records"), strict=True)
    ]
    for column in again.columns:
        if column in APART or column.endswith(SECONDS) or not (one_code or column in RESULTS):
            continue
        differences = [
            _difference(then, now) for then, now in zip(stored[column], again[column], strict=True)
        ]
        wrong = [
            difference
            for difference, flips in zip(differences, flipped, strict=True)
            if difference > tolerance and not (flips and column in FLIPPED)
        ]
        comparison["numbers"] += len(differences)
        comparison["differing"] += len(wrong)
        comparison["largest_difference"] = max([comparison["largest_difference"], *differences])
        columns += [column] if wrong else []
    return comparison | {"columns": ", ".join(columns)}


def _may_flip(then, now):
    """Return whether two rows (dicts) of a test error differ in no more test rows than may flip."""
    m = then.get("rows_tested")
    if {then.get("fold"), now.get("fold")} != {"test"} or m != now.get("rows_tested") or pd.isna(m):
        return False
    patterns = [row.get("error_pattern") for row in (then, now)]
    if all(isinstance(pattern, str) for pattern in patterns):
        differing = np.count_nonzero(np.logical_xor(*(unpack_bits(pattern, int(m)) for pattern in patterns)))
    else:
        differing = abs(then["errors"] - now["errors"])
    return bool(differing <= FLIPS * m)


def _difference(then, now):
    """Return the difference of two numbers as a share of the larger one; of other values 0 if they are equal,
    else infinity."""
    if isinstance(then, np.ndarray | list) and isinstance(now, np.ndarray | list):
        if len(then) != len(now):
            return math.inf
        return max((_difference(*pair) for pair in zip(then, now, strict=True)), default=0.0)
    if isinstance(then, np.ndarray | list) or isinstance(now, np.ndarray | list):
        return math.inf
    if pd.isna(then) or pd.isna(now):
        return 0.0 if pd.isna(then) and pd.isna(now) else math.inf
    if then == now:
        return 0.0
    if isinstance(then, str) or isinstance(now, str) or math.isinf(then) or math.isinf(now):
        return math.inf
    return abs(then - now) / max(abs(then), abs(now))


def _ratio(above, below):
    return above / below if below else math.nan
