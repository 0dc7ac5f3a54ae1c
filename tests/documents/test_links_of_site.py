"""The check of the finished site, which "make docs" runs, finds links that lead nowhere."""

import importlib
import re
import sys
from types import SimpleNamespace

import pytest
from checkouts import ROOT

# Sphinx is in the group docs, which `make test` does not install
pytestmark = pytest.mark.slow


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


def test_what_is_loaded_from_another_site_is_found(broken, tmp_path):
    (tmp_path / "a.html").write_text(
        "<script src='https://other.org/x.js'></script><link rel='stylesheet' href='//other.org/y.css'>"
        "<a href='https://other.org/z'>1</a><img src='data:,'>"
    )
    result = sorted(link for _, link in broken(tmp_path))
    assert result == ["//other.org/y.css", "https://other.org/x.js"]


def test_formulas_are_mathml_and_a_wrong_one_ends_the_build(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs/_ext"))
    mathml = importlib.import_module("mathml")
    nodes = importlib.import_module("docutils.nodes")
    error = importlib.import_module("sphinx.errors").ExtensionError
    written = SimpleNamespace(body=[])
    with pytest.raises(nodes.SkipNode):
        mathml.block(written, nodes.math_block(text=r"\frac{1}{2} \alpha_i \le C"))
    assert re.fullmatch(r'<div class="formula"><math [^>]*display="block".*</math></div>', written.body[0])
    assert "<mfrac>" in written.body[0] and "\\" not in written.body[0]
    with pytest.raises(error, match=r"the formula '.*frac' cannot be shown"):
        mathml.inline(written, nodes.math(text=r"\frac"))
    with pytest.raises(error, match="a command is left in it"):
        mathml.inline(written, nodes.math(text=r"\Bigl\| x \Bigr\|"))
    sys.modules.pop("mathml")
