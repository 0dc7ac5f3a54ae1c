"""Problems of several classes."""

import numpy as np


def blobs(seed, m=90, d=3, k=4):
    """Overlapping classes 0 to k - 1, shape (m, d)."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(m) % k)
    return rng.normal(size=(m, d)) + rng.normal(scale=1.5, size=(k, d))[y], y
