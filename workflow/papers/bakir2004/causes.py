"""Variants of the protocol for results that ours miss."""

import numpy as np

from papers.bakir2004.exhibits import figure3, table1

PRINTED_DEVIATION = "gaussians 4"


def figure3_of_deviation(rows):
    """Figure 3 of classes with another deviation, in the place of the printed one."""
    for row in figure3(rows):
        yield {**row, "dataset": PRINTED_DEVIATION}


def table1_of_splice(rows):
    """Table 1 of another file of splice, in its place."""
    for row in table1(rows):
        yield {**row, "dataset": "splice"}


def draws_of_table1(rows):
    """The deviations of Table 1's results from draw to draw: of the rows, of the subsets, and of the folds or
    validation rows that choose C."""
    for row in table1(rows):
        if row["metric"] in ("accuracy", "svs") and np.isfinite(row["spread"]):
            yield row
