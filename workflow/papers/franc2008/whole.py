"""Results of data sets on which a method solves for every point.

It is apart from causes.py, so that a change here leaves the committed rows of causes.py up to date.
"""

from papers.franc2008 import causes


def errors_of_standard(rows):
    """Yield `causes.errors_of_standard` of the data sets and kernels without a sample: a least error of
    samples is too small."""
    standard = rows[rows["method"] == "standard"]
    most = standard.fillna({"stands_for": 1.0}).groupby(["dataset", "kernel"])["stands_for"].transform("max")
    yield from causes.errors_of_standard(standard[most <= 1])
