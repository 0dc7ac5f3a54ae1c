"""Which library, commit and processor the rows of each stage come from, the commits of all rows, and the
exhibits whose rows another library computed."""

import pandas as pd
import pyarrow.parquet as pq

ORIGIN = ["library", "commit", "cpu"]
COLUMNS = ["paper", "stage", *ORIGIN, "rows", "present"]


def libraries(paths, stages, present):
    """The libraries that rows come from: one line per stage, library, commit and processor, with the columns
    `COLUMNS`. Commit and processor are empty where rows do not say.

    `paths` are files of rows, `stages` the paper and the stage of each, and `present` the digests of the code
    that makes its rows now: ``present`` is "yes" if theirs is among them, else "no".
    """
    found = []
    for path, (paper, stage), digests in zip(paths, stages, present, strict=True):
        for origin, count in _origins(path).value_counts().sort_index().items():
            now = origin[0].rpartition("+")[2] in digests
            found.append((paper, stage, *origin, count, "yes" if now else "no"))
    return pd.DataFrame(found, columns=COLUMNS)


def _origins(path):
    """The columns `ORIGIN` of a file of rows; empty where rows do not say."""
    named = [name for name in ORIGIN if name in pq.read_schema(path).names]
    rows = pq.read_table(path, columns=named, partitioning=None).to_pandas().reindex(columns=ORIGIN)
    return rows.astype(object).fillna("")


def commits(paths):
    """The commits that rows name, each with its processor: pairs, those of the most rows first."""
    rows = pd.concat([_origins(path)[["commit", "cpu"]] for path in paths])
    return rows[rows["commit"] != ""].value_counts().index.tolist()


def others(libraries, paper, stages):
    """The libraries of rows that are not of the present code, in words, of the stages that an exhibit
    shows; empty if there are none. `libraries` is from the function of that name."""
    of = libraries[(libraries["paper"] == paper) & (libraries["present"] == "no")]
    named = {stage: list(of.loc[of["stage"] == stage, "library"].unique()) for stage in stages}
    return "; ".join(f"{stage}: {', '.join(names)}" for stage, names in named.items() if names)


def with_origins(places, libraries):
    """By paper and exhibit how it is made (see `lib.papers.Paper.places`), with the ``origins`` of its rows,
    lines of `libraries` as dicts."""
    found = {}
    for paper, made in places.items():
        of = libraries[libraries["paper"] == paper]
        for exhibit, place in made.items():
            origins = of[of["stage"].isin(place["stages"])].to_dict("records")
            found[paper, exhibit] = {**place, "origins": origins}
    return found
