"""Data sets of the papers: a registry, verified downloads, parsers, splits and synthetic sets.

>>> registry = load_registry("config/datasets.yaml")
>>> fetch(registry["banana"], "resources/raw")
>>> prepare(registry["banana"], "resources/raw", "resources/data/banana.npz")
>>> dataset = Dataset.load("resources/data/banana.npz")
>>> X_train, y_train, X_test, y_test, split = dataset.realisation(1)
"""

from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.registry import Entry, Registry, load_registry
from data.splits import Split

__all__ = ["Dataset", "Entry", "Registry", "Split", "fetch", "load_registry", "prepare"]
