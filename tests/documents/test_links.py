"""Links and pictures of the documents lead somewhere."""

import re
import subprocess
from pathlib import Path

import pytest
from checkouts import ROOT
from documents.fences import documents
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

RESULTS = "results/paper/README.md"
DOCUMENTS = {**documents(), RESULTS: (ROOT / RESULTS).read_text()}


@pytest.fixture(scope="module")
def tracked():
    """Tracked files, and the folders that hold them."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = files.splitlines()
    return {*names, *(str(parent) for name in names for parent in Path(name).parents)}


def children(text):
    """What stands within the lines of a text."""
    for token in MarkdownIt().enable("table").parse(text):
        yield from token.children or ()


def links(text):
    """Targets of links and pictures that are no addresses."""
    results = [child.attrs.get("href", child.attrs.get("src")) for child in children(text)]
    return [target for target in results if target and not re.match(r"[a-z]+:", target)]


def anchors(text):
    """Names of the headings of a text, as GitHub and the site make them."""
    nodes = SyntaxTreeNode(MarkdownIt().parse(text)).children
    headings = [node.children[0].content.lower() for node in nodes if node.type == "heading"]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}


def broken(name, text, tracked):
    """Links of a document that lead nowhere."""
    for target in links(text):
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent.joinpath(path).resolve() if path else ROOT / name
        relative = str(file.relative_to(ROOT)) if file.is_relative_to(ROOT) else target
        # pages that the site's build writes
        if relative.startswith(("docs/auto_examples/", "docs/reproduction/")):
            continue
        if relative not in tracked or (anchor and anchor not in anchors(file.read_text() if path else text)):
            yield target


def test_broken_links_are_found(tracked):
    text = "# A heading\n\n[a](README.md) [b](#a-heading) ![c](none.svg) [d](README.md#none) [e](../x) [f](https://x)"
    assert list(broken("CHANGELOG.md", text, tracked)) == ["none.svg", "README.md#none", "../x"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name, tracked):
    assert list(broken(name, DOCUMENTS[name], tracked)) == []
