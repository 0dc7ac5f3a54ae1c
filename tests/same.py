"""Compare the results of two runs, which have to be the same but for times and memory: same.py HERE OTHER

Both are folders of results, such as results/demo. Every file of rows and every tidy table of the first is
compared with its like in the second; the other files are made from these.
"""

import re
import sys
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workflow"))

from lib.rows import OK, read_rows
from lib.tables import KEY, TIDY_COLUMNS, read_tidy

# columns of rows, and metrics of tables, that another run measures anew
MEASURED = re.compile(r"^cpu$|^commit$|cpu_s|wall_s|peak_mb")
# "fits" is a time, in units of one fit
COSTS = re.compile(r"time|memory|fits")


def assert_same_rows(here, other, rtol=1e-9):
    """Compare two files of rows."""
    ours, theirs = read_rows([here]), read_rows([other])
    # on small sets some methods end in an error, in both runs
    assert (theirs["status"] == OK).any(), other
    same = [column for column in ours if not MEASURED.search(column)]
    pd.testing.assert_frame_equal(ours[same], theirs[same], rtol=rtol, obj=str(other))


def assert_same_table(here, other, rtol=1e-9):
    """Compare two tidy tables."""
    ours, theirs = read_tidy(here), read_tidy(other)
    assert ours[KEY].equals(theirs[KEY]), other
    same = ~ours["metric"].str.contains(COSTS)
    pd.testing.assert_frame_equal(ours[same], theirs[same], rtol=rtol, obj=str(other))


def assert_same_results(here, other):
    """Compare two folders; return how many files of each kind were compared."""
    here, other = Path(here), Path(other)
    rows = [path.relative_to(here) for path in sorted(here.glob("*/rows/*.parquet"))]
    tables = [
        path.relative_to(here)
        for path in sorted(here.rglob("*.csv"))
        if path.read_text().partition("\n")[0] == ",".join(TIDY_COLUMNS)
    ]
    assert rows and tables, f"no results are in {here}"
    for name in rows:
        assert_same_rows(here / name, other / name)
    for name in tables:
        assert_same_table(here / name, other / name)
    return len(rows), len(tables)


if __name__ == "__main__":
    print("the same but for times: {} files of rows, {} tables".format(*assert_same_results(*sys.argv[1:])))
