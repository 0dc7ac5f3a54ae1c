"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import sys

import pytest
from checkouts import ROOT, Checkout

sys.path.insert(0, str(ROOT / "workflow"))


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)
