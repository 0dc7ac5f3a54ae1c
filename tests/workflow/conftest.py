"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import sys

import pytest
import yaml
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
    from lib.published import read_printed, read_published
    from lib.scorecard import figures

    def of(paper, tidy):
        path = root / f"config/published/{paper}.csv"
        rules = yaml.safe_load((root / "config/claims.yaml").read_text())[paper]["figures"]
        return figures(paper, read_printed(path), read_published(path), tidy, rules)

    return of
