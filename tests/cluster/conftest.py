"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import pytest
from checkouts import Checkout


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)
