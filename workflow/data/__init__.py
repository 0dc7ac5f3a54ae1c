"""Data sets of the papers: a registry, verified downloads, parsers, splits and synthetic sets.

>>> registry = load_registry("config/datasets.yaml")
>>> fetch(registry["banana"], "resources/raw")
>>> prepare(registry["banana"], "resources/raw", "resources/data/banana.npz")
>>> dataset = Dataset.load("resources/data/banana.npz")
>>> X_train, y_train, X_test, y_test, split = dataset.realisation(1)
"""
