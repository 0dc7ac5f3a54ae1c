"""Exhibits drawn again from rows that are at hand."""

from __future__ import annotations

__all__ = ["with_rows"]


def with_rows(papers, results):
    """The papers whose rows are at hand, and of each other one the file that is not.

    Parameters
    ----------
    papers : dict of str to lib.papers.Paper
    results : Path
        Folder of the preset's results.

    Returns
    -------
    present : dict
        Of `papers`, those of which ``<results>/<paper>/rows/<stage>.parquet`` is there for every stage.
    missing : dict of str to Path
        Paper -> the first file that is not there.
    """
    present, missing = {}, {}
    for name, paper in papers.items():
        files = [results / name / "rows" / f"{stage}.parquet" for stage in paper.rows]
        absent = [file for file in files if not file.is_file()]
        if absent:
            missing[name] = absent[0]
        else:
            present[name] = paper
    return present, missing
