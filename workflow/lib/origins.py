"""The origin of rows: library, commit and processor of each stage."""

import pandas as pd
import pyarrow.parquet as pq

ORIGIN = ["library", "commit", "cpu"]
COLUMNS = ["paper", "stage", *ORIGIN, "rows"]


def libraries(paths, stages):
    """Return the libraries that rows come from: one line per stage, library, commit and processor, with the
    columns `COLUMNS`. Commit and processor are empty if rows do not say. `paths` are files of rows, `stages`
    the paper and the stage of each."""
    lines = [
        (*stage, *origin, count)
        for path, stage in zip(paths, stages, strict=True)
        for origin, count in _origins(path).value_counts().sort_index().items()
    ]
    return pd.DataFrame(lines, columns=COLUMNS)


def _origins(path):
    """Return the columns `ORIGIN` of a file of rows, empty if rows do not say."""
    named = [name for name in ORIGIN if name in pq.read_schema(path).names]
    rows = pq.read_table(path, columns=named, partitioning=None).to_pandas().reindex(columns=ORIGIN)
    return rows.astype(object).fillna("")


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
