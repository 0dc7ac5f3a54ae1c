"""The dialect of names of lint finds what breaks it, and leaves other names alone."""

import pytest
from documents.names import faults, main

HERE = "src/svmselect/gram/rows.py"
ALONE = "rows is used here alone: _rows"
PRIVATE = "_rows is used elsewhere: without the underscore"
NOT_LISTED = "rows is used elsewhere, but not in __all__"
FUNCTION, CLASS = "def rows():\n    pass\n", "class Rows:\n    pass\n"
LISTED = f'__all__ = ["rows"]\n\n\n{FUNCTION}'


@pytest.mark.parametrize(
    ("text", "beside", "found"),
    [
        (FUNCTION, "", ALONE),
        (LISTED, "", ALONE),
        (f"{FUNCTION}\n\nrows()\n", "", ALONE),
        (FUNCTION, "from svmselect.cv.rows import rows", ALONE),
        ("_ROWS = 3\n", "", "_ROWS is a constant: ROWS"),
        ("_ROWS: int = 3\n", "", "_ROWS is a constant: ROWS"),
        (FUNCTION, "rows = 3  # rows() of others", ALONE),
        (CLASS, "# Rows are many", "Rows is used here alone: _Rows"),
        ("def _rows():\n    pass\n", "from svmselect.gram.rows import _rows", PRIVATE),
        ("def _rows():\n    pass\n", "from svmselect.gram import rows\n\nrows._rows()", PRIVATE),
        (f"__all__ = []\n\n\n{FUNCTION}", "from svmselect.gram.rows import rows", NOT_LISTED),
    ],
)
def test_a_fault_is_found(text, beside, found):
    texts = {HERE: text, "src/svmselect/gram/matrix.py": beside}
    assert [fault for path, _, fault in faults(texts) if path.as_posix() == HERE] == [found]


@pytest.mark.parametrize(
    ("text", "path", "beside"),
    [
        ("def _rows():\n    pass\n", "src/svmselect/gram/matrix.py", ""),
        ("ROWS = 3\n_rows = 3\n", "src/svmselect/gram/matrix.py", ""),
        (FUNCTION, "src/svmselect/solver/_smo.pyx", "from svmselect.gram.rows import slices, rows"),
        (
            LISTED,
            "workflow/lib/rows.smk",
            "from svmselect.gram.rows import (\n    slices,\n    rows as r,\n)",
        ),
        (LISTED, "docs/library.md", "    >>> from svmselect.gram.rows import rows"),
        (LISTED, "tests/numerics/test_gram.py", "from svmselect.gram import rows as module\n\nmodule.rows()"),
        (LISTED, "tests/numerics/test_gram.py", 'from svmselect.gram import rows\n\npatch(rows, "rows", 1)'),
        (LISTED, "src/svmselect/gram/main.py", 'late("rows", "rows")'),
        (CLASS, "src/svmselect/gram/matrix.py", '"""Rows.\n\n    data : Rows\n"""'),
        (CLASS, "src/svmselect/gram/matrix.py", '"""The Rows of a matrix."""'),
    ],
)
def test_other_names_pass(text, path, beside):
    texts = {HERE: text, path: beside}
    assert [fault for where, _, fault in faults(texts) if where.as_posix() == HERE] == []


def test_the_library_keeps_to_it(capsys):
    assert main() == 0, capsys.readouterr().out
