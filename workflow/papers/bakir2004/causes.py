"""Variants of the protocol for results that ours miss."""

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
