"""The check of the finished site, which "make docs" runs, finds links that lead nowhere."""

import importlib
import sys

import pytest
from checkouts import ROOT


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_ext"))
    yield importlib.import_module("links").broken
    sys.modules.pop("links")


def test_links_that_lead_nowhere_are_found(broken, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        "<h1 id='top-of-a'></h1><a href='sub/b.html#there'>1</a><a href='#top-of-a'>2</a><a href='#'>3</a>"
        "<a href='https://elsewhere.org/x'>4</a><img src='picture.svg'>"
    )
    (tmp_path / "sub/b.html").write_text("<p id='there'></p><a href='../a.html'>1</a>")
    (tmp_path / "picture.svg").touch()
    assert list(broken(tmp_path)) == []
    (tmp_path / "picture.svg").unlink()
    (tmp_path / "sub/b.html").write_text("<p id='here'></p><a href='../none.html'>1</a>")
    assert sorted(link for _, link in broken(tmp_path)) == ["../none.html", "picture.svg", "sub/b.html#there"]
