"""Pages of the site in a browser: axe finds nothing serious, and figures are those of the theme."""

import shutil
import subprocess
import sys

import pytest
from checkouts import ROOT

pytestmark = pytest.mark.slow

# built in seconds, without examples and the API
PAGES = ("index", "reproduction/index", "reproduction/chapelle1999", "how_it_works", "command_line")
EXTENSIONS = "command_help,links,mathml,myst_parser,numpydoc,results,sphinx.ext.autodoc"
LAPTOP, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with these pages. Links to others are not there, which Sphinx says and which is no matter."""
    project = tmp_path_factory.mktemp("project")
    generated = shutil.ignore_patterns("auto_examples", "generated", "reproduction", "__pycache__")
    shutil.copytree(ROOT / "docs", project / "docs", ignore=generated)
    for path in ROOT.iterdir():
        if path.name not in ("docs", "build"):
            (project / path.name).symlink_to(path)
    command = [sys.executable, "-m", "sphinx", "-D", f"extensions={EXTENSIONS}", "docs", "site"]
    command += [f"docs/{page}.md" for page in PAGES]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return project / "site"


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_site_are_accessible(site, browser, axe, page):
    for size, dark in ((LAPTOP, False), (PHONE, True)):
        browser.open(site / f"{page}.html", size, dark)
        assert browser.findings(axe) == [], (size, dark)
        assert browser.value("document.documentElement.scrollWidth") <= size[0]


def test_figures_are_those_of_the_theme(site, browser):
    shown = """[...document.querySelectorAll('article img')].filter(
      image => image.getBoundingClientRect().height > 50).map(image => image.className)"""
    for dark, name in ((False, "only-light"), (True, "only-dark")):
        browser.open(site / "reproduction/chapelle1999.html", LAPTOP, dark)
        assert [name in classes.split() for classes in browser.value(shown)] == [True, True, True]


def test_what_is_not_accessible_is_found(browser, axe, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><html lang='en'><title>T</title><main><h1>T</h1><img src='data:,'>"
        "<p style='color: #aaa; background: #fff'>Pale</p></main></html>"
    )
    browser.open(page, LAPTOP)
    assert {name for name, *_ in browser.findings(axe)} == {"color-contrast", "image-alt"}
