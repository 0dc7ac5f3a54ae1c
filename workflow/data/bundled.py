"""Real data sets that need no download: four come with scikit-learn, and the Titanic is one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

# Survivors and victims of the Titanic by (class, age, sex): Dawson, "The 'unusual episode' data revisited",
# Journal of Statistics Education 3(3), 1995. Class 1, 2, 3 and 4 (crew); age 0 adult, 1 child; sex 0 female,
# 1 male.
TITANIC_TABLE = {
    # (class, age, sex): (died, survived)
    (1, 0, 0): (4, 140),
    (1, 0, 1): (118, 57),
    (1, 1, 0): (0, 1),
    (1, 1, 1): (0, 5),
    (2, 0, 0): (13, 80),
    (2, 0, 1): (154, 14),
    (2, 1, 0): (0, 13),
    (2, 1, 1): (0, 11),
    (3, 0, 0): (89, 76),
    (3, 0, 1): (387, 75),
    (3, 1, 0): (17, 14),
    (3, 1, 1): (35, 13),
    (4, 0, 0): (3, 20),
    (4, 0, 1): (670, 192),
}


def load_titanic() -> tuple[np.ndarray, np.ndarray]:
    """The 2,201 people aboard the Titanic: class, age, sex, and whether they survived (+1) or not (-1).

    The IDA set is this table: class 1, 2, 3, 4 (crew), age 0 (adult) or 1 (child), sex 0 (female) or 1
    (male), each standardised. Rows are in the order of `TITANIC_TABLE`.

    Returns
    -------
    X : ndarray (2201, 3) float64
    y : ndarray (2201,) int8
    """
    people = np.array(list(TITANIC_TABLE), dtype=np.float64)
    counts = np.array(list(TITANIC_TABLE.values()))
    X = np.repeat(people, counts.sum(axis=1), axis=0)
    y = np.repeat(np.tile([-1, 1], len(people)), counts.ravel()).astype(np.int8)
    return X, y


def _load_scikit_learn(file: str, skip_rows: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of a data set in the installed scikit-learn; the last column is the label.

    The file is read without an import of scikit-learn, which takes a second or two.
    """
    spec = find_spec("sklearn")
    assert spec is not None and spec.submodule_search_locations
    path = Path(spec.submodule_search_locations[0], "datasets/data", file)
    table = np.loadtxt(path, delimiter=",", skiprows=skip_rows)
    return table[:, :-1], table[:, -1]


BUNDLED: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "breast_cancer": partial(_load_scikit_learn, "breast_cancer.csv"),
    "digits": partial(_load_scikit_learn, "digits.csv.gz", skip_rows=0),
    "iris": partial(_load_scikit_learn, "iris.csv"),
    "titanic": load_titanic,
    "wine": partial(_load_scikit_learn, "wine_data.csv"),
}


def load_bundled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features (n, d) float64 and labels (n,) float64 of a data set in `BUNDLED`."""
    X, labels = BUNDLED[name]()
    return np.asarray(X, dtype=np.float64), np.asarray(labels, dtype=np.float64)
