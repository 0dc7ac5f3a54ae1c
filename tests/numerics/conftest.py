"""The real data sets."""

import os

import pytest

from svmselect.data import Dataset, fetch, load_registry, prepare


@pytest.fixture(scope="session")
def real_data(tmp_path_factory):
    """Load a real data set by name, from the mirror."""
    if not os.environ.get("SVMSELECT_MIRROR"):
        pytest.skip("SVMSELECT_MIRROR is not set: the real data sets are not at hand")
    registry = load_registry("config/datasets.yaml")
    folder = tmp_path_factory.mktemp("data")

    def load(name):
        fetch(registry[name], folder / "raw", progress=False)
        prepare(registry[name], folder / "raw", folder / f"{name}.npz")
        return Dataset.load(folder / f"{name}.npz")

    return load
