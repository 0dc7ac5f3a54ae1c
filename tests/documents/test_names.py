"""The rules for names report what breaks them, and leave other names alone."""

import pytest
from documents.names import banned_names, faults, main, repeated_files

HERE = "src/svmselect/gram/rows.py"
ALONE = "rows is used here alone: _rows"
PRIVATE = "_rows is used elsewhere: without the underscore"
NOT_LISTED = "rows is used elsewhere, but not in __all__"
FUNCTION, CLASS = "def rows():\n    pass\n", "class Rows:\n    pass\n"
LISTED = f'__all__ = ["rows"]\n\n\n{FUNCTION}'


@pytest.mark.parametrize(
    ("text", "beside", "fault"),
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
def test_a_fault_is_found(text, beside, fault):
    texts = {HERE: text, "src/svmselect/gram/matrix.py": beside}
    assert [text for path, _, text in faults(texts) if path.as_posix() == HERE] == [fault]


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


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("def judge():\n    pass\n", "judge"),
        ("class of_rows:\n    pass\n", "of_rows"),
        ("def f(what):\n    pass\n", "what"),
        ("f = lambda own: 1\n", "own"),
        ("_kept, *found = 1, 2\n", "_kept"),
        ("rows = [1 for others in x]\n", "others"),
        ("if (made := 3):\n    pass\n", "made"),
        ("class A:\n    wanted: int = 0\n", "wanted"),
        ("self.asked = 1\n", "asked"),
        ("for at in x:\n    pass\n", "at"),
        ("with x as these:\n    pass\n", "these"),
        ("try:\n    pass\nexcept E as there:\n    pass\n", "there"),
        ("from x import y as of\n", "of"),
    ],
)
def test_a_word_that_is_no_name_is_reported(text, name):
    assert f"{name} is no name" in [fault for _, _, fault in banned_names({"tests/rows.py": text})]


def test_names_of_files_are_checked():
    texts = dict.fromkeys(["tests/test_judge.py", "src/found.py", "workflow/lib/rows.py", "docs/of.md"], "")
    assert [path.name for path, _, _ in banned_names(texts)] == ["test_judge.py", "found.py"]
    paths = [
        "src/a/rows.py",
        "src/b/rows.py",
        "tests/rows.py",
        "workflow/papers/x/cells.py",
        "tests/cells.py",
    ]
    assert [path.as_posix() for path, *_ in repeated_files([*paths, "src/cells.py"])] == paths[:3]


@pytest.mark.parametrize("text", ["judges = 1\n", "x.found\n", "f(what=1)\n", "# of\n", "offset = own\n"])
def test_a_use_of_a_name_passes(text):
    assert banned_names({"tests/rows.py": text}) == []


@pytest.mark.slow
def test_the_library_keeps_to_it(capsys):
    assert main() == 0, capsys.readouterr().out
