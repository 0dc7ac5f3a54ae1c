"""Mark rows of other commits as outdated, so that the next run computes them again.

Call it from the project's folder as ``PYTHONPATH=workflow python -m lib.fresh results/paper``. Called again
with the same commit it changes nothing, so that a run that was stopped goes on.
"""

import sys
from dataclasses import replace
from pathlib import Path

from lib.environment import commit
from lib.rows import read_cells, rewrite_cells

OTHER = "of another commit: "  # before the library of such cells


def forget_other_commits(path, present):
    """Mark the cells of a file of rows that have rows of another commit than the `present` one, and return
    how many these are. Their rows stay as they are."""
    before, cells, count = read_cells(path).values(), [], 0
    for record, rows in before:
        other = "commit" not in rows.column_names or set(rows["commit"].to_pylist()) != {present}
        marked = other and not record.library.startswith(OTHER)
        cells.append(replace(record, library=OTHER + record.library) if marked else record)
        count += other
    if cells != [record for record, _ in before]:
        rewrite_cells(path, cells)
    return count


def main(folder):
    present = commit()
    if present is None or present.endswith("+changes"):
        sys.exit(
            "Rows are to name one commit, and files differ from that which is checked out: commit them first."
        )
    files = sorted(Path(folder).glob("*/rows/*.parquet"))
    count = sum(forget_other_commits(path, present) for path in files)
    print(f"{count} cells of {len(files)} files are of other commits than {present}: they are computed anew.")


if __name__ == "__main__":
    main(*sys.argv[1:])
