"""The parts that make a file an exhibit, and the sentence of planning about one that lacks any."""

import subprocess
import sys

import pandas as pd
import papers
import pytest
from lib.exhibits import check_stages, load_exhibits
from lib.papers import load_papers
from lib.tables import Table

EXHIBITS = [exhibit for paper in load_papers().values() for exhibit in paper.exhibits.values()]
WHOLE = '''"""Table 1: errors of a model.

Table of errors.

On {{ settings["dataset"] }} with a {{ config["preset"] }}.
"""

STAGES = ("cells",)


def tidy(rows, context):
    return []


def table(tidy, context):
    return None
'''
# what is taken from the text of a whole exhibit, and what is then lacking
LACKING = {
    "docstring": (WHOLE.split("STAGES")[0], "docstring"),
    "title": ("Table 1: errors", "docstring"),
    "caption": (
        '\nTable of errors.\n\nOn {{ settings["dataset"] }} with a {{ config["preset"] }}.\n',
        "caption",
    ),
    "stages": ('STAGES = ("cells",)', "STAGES"),
    "tidy": ("def tidy(rows, context):\n    return []\n", "tidy(rows, context)"),
    "table or figure": ("def table(tidy, context):\n    return None\n", "figure(tidy, context)"),
}


@pytest.fixture
def paper(tmp_path, monkeypatch):
    """A function: a paper whose one exhibit has the given text."""
    folder = tmp_path / "papers/made2026/exhibits"
    folder.mkdir(parents=True)
    monkeypatch.setattr(papers, "__path__", [*papers.__path__, str(tmp_path / "papers")])
    for name in [name for name in sys.modules if name.startswith("papers.made2026")]:
        monkeypatch.delitem(sys.modules, name)

    def write(text):
        (folder / "__init__.py").write_text(
            "from papers.made2026.exhibits import table1\n\nEXHIBITS = (table1,)\n"
        )
        (folder / "table1.py").write_text(text)
        return "made2026"

    return write


def test_a_module_is_an_exhibit(paper):
    (exhibit,) = load_exhibits(paper(WHOLE)).values()
    assert (exhibit.key, exhibit.kind, exhibit.stages) == ("table1", "table", ("cells",))
    assert (exhibit.name, exhibit.subject, exhibit.alt) == (
        "Table 1",
        "errors of a model",
        "Table of errors.",
    )
    caption = exhibit.caption_of({"preset": "demo"}, {"settings": {"dataset": "iris"}})
    assert caption == "Table of errors.\n\nOn iris with a demo."
    assert exhibit.files_of("") == ["table1.csv", "table1.md", "table1.tex"]
    assert exhibit.shown_files == exhibit.tidy_files == ["table1.csv"]


@pytest.mark.parametrize("lacking", LACKING)
def test_planning_says_what_an_exhibit_lacks(paper, lacking):
    part, words = LACKING[lacking]
    assert part in WHOLE
    with pytest.raises(ValueError, match=r"made2026.*papers/made2026/exhibits/table1\.py") as caught:
        load_exhibits(paper(WHOLE.replace(part, "")))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_an_exhibit_is_a_table_or_a_figure_and_not_both(paper):
    with pytest.raises(ValueError, match=r"table1\.py lacks .* figure\(tidy, context\)"):
        load_exhibits(paper(f"{WHOLE}\n\ndef figure(tidy, context):\n    return None\n"))


def test_planning_says_which_stage_the_plan_lacks(paper):
    key = paper(WHOLE)
    exhibits = load_exhibits(key).values()
    check_stages(key, exhibits, ["cells", "test"])
    with pytest.raises(ValueError, match=r"made2026.*exhibits/table1\.py.*'cells'.*: test\."):
        check_stages(key, exhibits, ["test"])


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_a_caption_begins_with_the_description_of_its_picture(exhibit):
    assert 60 < len(exhibit.alt) < 300 and exhibit.alt.endswith(".") and "{{" not in exhibit.alt
    assert exhibit.caption != exhibit.alt


def test_planning_draws_nothing():
    """To import Matplotlib takes longer than to plan a paper."""
    program = (
        "import sys; from lib.papers import load_papers; load_papers(); print('matplotlib' in sys.modules)"
    )
    command = [sys.executable, "-c", f"import sys; sys.path = {sys.path!r}; {program}"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


def test_columns_of_words_and_columns_of_numbers():
    columns = [("", "Data | set"), ("", "Kernel"), ("Time", "ours"), ("Time", "theirs"), ("", "Ratio")]
    body = [["a|b", "linear", "1.0", "n/a", "2 ± 1"], ["wdbc", "n/a", "n/a", "3", "k"]]
    table = Table(pd.DataFrame(body, columns=pd.MultiIndex.from_tuples(columns)), ["A note."])
    assert table.classes == ["text", "text", "number", "number", "number"]
    assert table.groups == [("", 2), ("Time", 2), ("", 1)]
    head, _, first, *_ = table.markdown().splitlines()
    assert "Data \\| set" in head and "Time: theirs" in head and "a\\|b" in first
