"""Which library the rows of each stage come from, and the exhibits whose rows another one computed."""

import pandas as pd
import pyarrow.parquet as pq

COLUMNS = ["paper", "stage", "library", "rows", "present"]


def libraries(paths, stages, present):
    """The libraries that rows come from.

    Parameters
    ----------
    paths : iterable of path-like
        Files of rows.
    stages : iterable of (str, str)
        Paper and stage of each.
    present : iterable of list of str
        Digests of the code that makes the rows of each now.

    Returns
    -------
    DataFrame
        One row per stage and library, with the columns `COLUMNS`: ``rows``, their number, and ``present``,
        "yes" if it is the present code, else "no".
    """
    found = []
    for path, (paper, stage), digests in zip(paths, stages, present, strict=True):
        column = pq.read_table(path, columns=["library"], partitioning=None)["library"].to_pandas()
        for library, count in column.value_counts().sort_index().items():
            now = library.rpartition("+")[2] in digests
            found.append((paper, stage, library, count, "yes" if now else "no"))
    return pd.DataFrame(found, columns=COLUMNS)


def others(libraries, paper, stages):
    """The libraries of rows that are not of the present code, in words; empty if there are none.

    Parameters
    ----------
    libraries : DataFrame
        From the function of that name.
    paper : str
    stages : list of str
        Those that an exhibit shows.
    """
    of = libraries[(libraries["paper"] == paper) & (libraries["present"] == "no")]
    named = {stage: list(of.loc[of["stage"] == stage, "library"]) for stage in stages}
    return "; ".join(f"{stage}: {', '.join(names)}" for stage, names in named.items() if names)
