"""The figures that the papers print, under the names that the results have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from lib.tables import TIDY_COLUMNS

__all__ = ["EXTRAPOLATED", "read_printed", "read_published"]

# data sets as a paper calls them -> as the registry does
NAMES = {
    "sarafis2018": {"adult": "a1a", "parkinsons-speech": "parkinson", "splice": "splice-libsvm"},
    "wen2017": {"heart": "heart-statlog"},
}
# what a table without settings is about -> the setting that its reproduction has
SETTINGS = {"wen2017": {"table2": "published"}}
# figures that a paper extrapolated itself: paper -> exhibit, data set, setting, method
EXTRAPOLATED = {"wen2017": {("table3", "mnist", "k=100", "libsvm")}}


def read_printed(path):
    """A file of published figures as it stands: a DataFrame of text, one row per figure.

    Raises
    ------
    ValueError
        If the columns are not `lib.tables.TIDY_COLUMNS`.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != TIDY_COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, wanted {TIDY_COLUMNS}")
    return frame


def read_published(path):
    """Published figures as tidy rows that join with those of the exhibits.

    Parameters
    ----------
    path : path-like
        ``config/published/<paper>.csv``.

    Returns
    -------
    DataFrame
        As `lib.tables.read_tidy` has it, under the registry's names of data sets. The index counts the rows
        of the file: subsets printed as "5x200" are two rows of one index, ``subsets`` and ``subset_size``, of
        the data set and no method.
    """
    paper = Path(path).stem
    frame = read_printed(path)
    frame["dataset"] = frame["dataset"].replace(NAMES.get(paper, {}))
    for exhibit, setting in SETTINGS.get(paper, {}).items():
        frame.loc[frame["exhibit"] == exhibit, "setting"] = setting
    products = frame["metric"] == "subsets"
    pair = frame.loc[products, "value"].str.split("x", expand=True)
    parts = [
        frame[products].assign(method="", metric=metric, value=pair[place], unit="count")
        for place, metric in enumerate(("subsets", "subset_size"))
        if len(pair)
    ]
    frame = pd.concat([frame[~products], *parts]).sort_index(kind="stable")
    frame = frame.replace("", np.nan)
    return frame.astype({"value": float, "spread": float})
