"""The origin of rows: library, commit and processor of each stage, the commits of all rows, and the exhibits
whose rows another library computed."""

import pandas as pd
import pyarrow.parquet as pq

ORIGIN = ["library", "commit", "cpu"]
COLUMNS = ["paper", "stage", *ORIGIN, "rows", "present"]


def libraries(paths, stages, present):
    """Return the libraries that rows come from: one line per stage, library, commit and processor, with the
    columns `COLUMNS`. Commit and processor are empty if rows do not say.

    `paths` are files of rows, `stages` the paper and the stage of each, and `present` the digests of the code
    that makes its rows now: ``present`` is "yes" if theirs is among them, else "no".
    """
    lines = []
    for path, (paper, stage), digests in zip(paths, stages, present, strict=True):
        for origin, count in _origins(path).value_counts().sort_index().items():
            now = origin[0].rpartition("+")[2] in digests
            lines.append((paper, stage, *origin, count, "yes" if now else "no"))
    return pd.DataFrame(lines, columns=COLUMNS)


def _origins(path):
    """Return the columns `ORIGIN` of a file of rows, empty if rows do not say."""
    named = [name for name in ORIGIN if name in pq.read_schema(path).names]
    rows = pq.read_table(path, columns=named, partitioning=None).to_pandas().reindex(columns=ORIGIN)
    return rows.astype(object).fillna("")


def commits(paths):
    """Return the commits that rows name, each paired with its processor; the pair of the most rows comes
    first."""
    rows = pd.concat([_origins(path)[["commit", "cpu"]] for path in paths])
    return rows[rows["commit"] != ""].value_counts().index.tolist()


def outdated_libraries(libraries, paper, stages):
    """Return, in words, the libraries of an exhibit's rows that the present code did not compute; empty if
    there are none. `libraries` is from the function of that name, and `stages` are those that the exhibit
    shows."""
    outdated = libraries[(libraries["paper"] == paper) & (libraries["present"] == "no")]
    named = {stage: list(outdated.loc[outdated["stage"] == stage, "library"].unique()) for stage in stages}
    return "; ".join(f"{stage}: {', '.join(names)}" for stage, names in named.items() if names)


def with_origins(places, libraries):
    """Return how each exhibit is made (see `lib.papers.Paper.places`), by paper and exhibit, with the
    ``origins`` of its rows, lines of `libraries` as dicts."""
    with_lines = {}
    for paper, paper_places in places.items():
        paper_lines = libraries[libraries["paper"] == paper]
        for exhibit, place in paper_places.items():
            origins = paper_lines[paper_lines["stage"].isin(place["stages"])].to_dict("records")
            with_lines[paper, exhibit] = {**place, "origins": origins}
    return with_lines
