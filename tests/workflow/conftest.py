"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import sys

import pytest
from checkouts import ROOT, Checkout

sys.path.insert(0, str(ROOT / "workflow"))


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def scorecard_of(root):
    """A function: the scorecard of tidy rows of a paper; it raises where a figure has no counterpart."""
    from lib.papers import load_papers
    from lib.published import declared, read_printed, read_published
    from lib.scorecard import figures

    papers = load_papers()

    def of(paper, tidy):
        path = root / f"workflow/papers/{paper}/published.csv"
        extrapolated = declared(path)["extrapolated"]
        rules = papers[paper].claims["figures"]
        return figures(paper, read_printed(path), read_published(path), tidy, rules, extrapolated)

    return of
