"""The figures that the papers print, under the names that the results have."""

from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from lib.tables import TIDY_COLUMNS


def declared(path):
    """Return the declaration of the published figures in the paper.yaml beside their file. ``datasets`` has
    the registry's names of data sets; ``settings`` has the setting of exhibits that print none;
    ``extrapolated`` has the figures that the paper extrapolated itself (exhibit, data set, setting and
    method); ``stand_ins`` has data sets of the same distribution, see `lib.scorecard.figures`."""
    declaration = yaml.safe_load(Path(path).with_name("paper.yaml").read_text()).get("published", {})
    extrapolated = {tuple(figure) for figure in declaration.get("extrapolated", [])}
    return {"datasets": {}, "settings": {}, "stand_ins": {}, **declaration, "extrapolated": extrapolated}


def read_printed(path):
    """Return a file of published figures as it stands: a DataFrame of text, one row per figure, with the
    columns `lib.tables.TIDY_COLUMNS`."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != TIDY_COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, wanted {TIDY_COLUMNS}")
    return frame


def read_published(path):
    """Return the published figures of ``papers/<paper>/published.csv`` as tidy rows that join with those of
    the exhibits.

    They are as `lib.tables.read_tidy` has them, under the registry's names of data sets, and have a column
    ``printed``, the values as text, which shows how they are rounded. The index counts the rows of the file:
    subsets printed as "5x200" are two rows of one index, ``subsets`` and ``subset_size``, of the data set and
    no method.
    """
    declaration, frame = declared(path), read_printed(path)
    frame["dataset"] = frame["dataset"].replace(declaration["datasets"])
    for exhibit, setting in declaration["settings"].items():
        frame.loc[frame["exhibit"] == exhibit, "setting"] = setting
    products = frame["metric"] == "subsets"
    pair = frame.loc[products, "value"].str.split("x", expand=True)
    parts = [
        frame[products].assign(method="", metric=metric, value=pair[place], unit="count")
        for place, metric in enumerate(("subsets", "subset_size"))
        if len(pair)
    ]
    frame = pd.concat([frame[~products], *parts]).sort_index(kind="stable")
    frame = frame.assign(printed=frame["value"]).replace("", np.nan)
    return frame.astype({"value": float, "spread": float})
