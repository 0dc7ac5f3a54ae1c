"""The word list of lint finds what it is for, and leaves other sentences alone."""

import pytest
from documents.prose import faults, main


@pytest.mark.parametrize(
    "text",
    [
        "A model on the sub-grid of every so manieth value.",
        "The papers whose rows are at hand.",
        "What is to be said of one model.",
        "# of the largest value\nROUND_OFF = 1e-15",
        "ROUND_OFF = 1e-15  # of the largest value",
        "    # Most memory of these\n    x = 1",
        "    seed : int\n        Of the shuffle.",
        '    """Those of the calling thread."""',
    ],
)
def test_a_fault_is_found(text):
    assert len(list(faults(text, code=True))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Most estimators need one fit. Of these, two are bounds.",
        "# The largest value\n# of a column\nx = 1",
        'url = "a#of the page"',
        "    seed : int\n        Seed of the shuffle.",
    ],
)
def test_other_sentences_pass(text):
    assert list(faults(text, code=True)) == []


def test_prose_may_begin_as_comments_may_not():
    assert list(faults("seed : int\n    Of the shuffle.", code=False)) == []


def test_the_place_is_printed(tmp_path, capsys):
    (tmp_path / "a.py").write_text("x = 1\ny = 2  # of x\n")
    assert main([str(tmp_path / "a.py")]) == 1
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'a.py'}:2: ")
    (tmp_path / "a.py").write_text("x = 1\n")
    assert main([str(tmp_path / "a.py")]) == 0
    assert capsys.readouterr().out == ""
