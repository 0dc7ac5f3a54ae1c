"""Which library the rows of each stage come from, and the exhibits whose rows another one computed."""

import pandas as pd
import pyarrow.parquet as pq

COLUMNS = ["paper", "stage", "library", "rows", "present"]


def libraries(paths, stages, present):
    """The libraries that rows come from: one line per stage and library, with the columns `COLUMNS`.

    `paths` are files of rows, `stages` the paper and the stage of each, and `present` the digests of the code
    that makes its rows now: ``present`` is "yes" if theirs is among them, else "no".
    """
    found = []
    for path, (paper, stage), digests in zip(paths, stages, present, strict=True):
        column = pq.read_table(path, columns=["library"], partitioning=None)["library"].to_pandas()
        for library, count in column.value_counts().sort_index().items():
            now = library.rpartition("+")[2] in digests
            found.append((paper, stage, library, count, "yes" if now else "no"))
    return pd.DataFrame(found, columns=COLUMNS)


def others(libraries, paper, stages):
    """The libraries of rows that are not of the present code, in words, of the stages that an exhibit
    shows; empty if there are none. `libraries` is from the function of that name."""
    of = libraries[(libraries["paper"] == paper) & (libraries["present"] == "no")]
    named = {stage: list(of.loc[of["stage"] == stage, "library"]) for stage in stages}
    return "; ".join(f"{stage}: {', '.join(names)}" for stage, names in named.items() if names)
