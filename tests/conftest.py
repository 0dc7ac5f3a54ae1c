"""What all tests share: the project's registry of data sets, and the mirror with the real ones."""

import os
from pathlib import Path

import pytest
from browser import Browser, chromium
from data.registry import load_registry
from hypothesis import settings

# the same examples everywhere; "pytest --hypothesis-profile=default" draws new ones
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items):
    """Runs of the workflow first: they take longest, and nothing is left to wait for at the end."""
    items.sort(key=lambda item: {"checkout", "redrawn"}.isdisjoint(item.fixturenames))


@pytest.fixture(scope="session")
def registry():
    return load_registry(Path(__file__).parents[1] / "config" / "datasets.yaml")


@pytest.fixture(scope="module")
def browser():
    program = chromium()
    if program is None:
        pytest.skip("no Chromium on PATH: pages are not looked at in a browser")
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def axe():
    """The accessibility checker axe, a script for a page."""
    reason = "axe-core-python is not installed: accessibility is not checked"
    package = pytest.importorskip("axe_core_python", reason=reason)
    return Path(package.__file__).with_name("axe.min.js").read_text()


@pytest.fixture(scope="session")
def mirror():
    """The mirror with the real data sets."""
    place = os.environ.get("SVMSELECT_MIRROR")
    if not place:
        pytest.skip("SVMSELECT_MIRROR is not set: the real data sets are not at hand")
    return place
