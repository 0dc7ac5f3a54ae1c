"""The rows of a data set that a cell uses."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Part:
    """Training and test rows of one realisation."""

    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray  # labels are -1.0 and +1.0
    X_test: np.ndarray | sparse.csr_matrix | None
    y_test: np.ndarray | None
    identity: dict  # columns that name the rows used


def load_part(dataset, realisation):
    """Return all rows of a realisation of a data set, as a `Part`."""
    X, y, X_test, y_test, split = dataset.realisation(realisation)
    y_test = None if y_test is None else y_test.astype(float)
    return Part(
        X, y.astype(float), X_test, y_test, identity_of(dataset, realisation, split.origin, split.seed)
    )


def identity_of(dataset, realisation, origin, seed):
    """Return the columns that name the rows of a realisation. Without a seed the rows were not drawn."""
    return {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": origin,
        "seed": None if seed is None else [int(part) for part in seed],
    }
