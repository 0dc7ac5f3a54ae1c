"""The real data sets, prepared."""

import pytest

from svmselect.data import Dataset, fetch, prepare


@pytest.fixture(scope="session")
def real_data(registry, mirror, tmp_path_factory):
    """Load a real data set by name, from the mirror."""
    folder = tmp_path_factory.mktemp("data")

    def load(name):
        fetch(registry[name], folder / "raw", mirror=mirror, progress=False)
        prepare(registry[name], folder / "raw", folder / f"{name}.npz")
        return Dataset.load(folder / f"{name}.npz")

    return load
