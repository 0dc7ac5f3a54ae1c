"""The real data sets, prepared, and the compiler of tests that build C code of the library."""

import os
import shlex
import shutil
from pathlib import Path

import pytest
from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare


@pytest.fixture(scope="session")
def real_data(registry, mirror, tmp_path_factory):
    """Load a real data set by name, from the mirror."""
    folder = tmp_path_factory.mktemp("data")

    def load(name):
        fetch(registry[name], folder / "raw", mirror=mirror, progress=False)
        prepare(registry[name], folder / "raw", folder / f"{name}.npz")
        return Dataset.load(folder / f"{name}.npz")

    return load


@pytest.fixture(scope="session")
def compiler():
    """The words of the C compiler that ``CC`` names, or gcc."""
    words = shlex.split(os.environ.get("CC", "gcc"))
    if shutil.which(words[0]) is None:
        pytest.skip(f"{words[0]}, which builds C code of the library, is not installed")
    return [*words, f"-I{Path(__file__).parents[2] / 'src/svmselect'}"]
