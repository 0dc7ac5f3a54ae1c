"""Calls of the functions of exhibits, as the programs of the workflow make them."""

from lib.exhibits import Context
from lib.figures import save
from lib.tables import read_tidy, write_tidy


def read_back(folder, rows):
    """Return tidy rows as they are read from their CSV file."""
    write_tidy(folder / "some.csv", rows)
    return read_tidy(folder / "some.csv")


def tidy_of(folder, module, rows, **context):
    """Return the tidy rows of an exhibit; `rows` are those of its stages, or of all of them."""
    stages = rows if isinstance(rows, dict) else dict.fromkeys(module.STAGES, rows)
    return read_back(folder, module.tidy(stages, Context(**context)))


def table_of(module, tidy, **context):
    """Return the cells of a table as lists of texts, and its notes. Check that Markdown and LaTeX have all of
    its lines."""
    table = module.table(tidy, Context(**context))
    body = table.cells.to_numpy().tolist()
    assert table.markdown().count("\n| ") == len(body)
    assert table.tex("Title").count("\\\\\n") == len(body) + 1 + (len(table.groups) > 1)
    return body, table.notes


def assert_stable(folder, module, tidy, **context):
    """Check that a figure drawn twice has the same bytes, and that its picture has its description."""
    for name in "ab":
        fig = module.figure(tidy, Context(**context))
        save(fig, folder / f"{name}.pdf", folder / f"{name}.svg", "Figure", "A description.")
    for kind in ("pdf", "svg"):
        assert (folder / f"a.{kind}").read_bytes() == (folder / f"b.{kind}").read_bytes()
    assert "A description." in (folder / "a.svg").read_text()
