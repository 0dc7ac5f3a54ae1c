"""Kernels and failures in words."""

from lib.shown import dataset_in_words, setting_in_words
from lib.tables import listed

KERNEL_NAMES = {"linear": "Linear kernel", "rbf": "RBF kernel"}


def kernel_in_words(key):
    """Return the name of a kernel in a column of kernels; ``both`` of all sets stays."""
    return {"rbf": "RBF"}.get(key, key)


def failures(tidy, metric, heading):
    """Return a note that names the data sets and kernels with failures, or none."""
    return listed(
        tidy,
        metric,
        heading,
        lambda row: f"{dataset_in_words(row.dataset)}, {setting_in_words(row.setting)}: {row.value:.0f}",
    )
