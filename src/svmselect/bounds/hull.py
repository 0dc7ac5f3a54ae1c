"""Distances of support vectors from the hull of the in-bound ones."""

from __future__ import annotations

import numpy as np

from svmselect.loo.unlearn import DEPENDENT, Tableau

# an in-bound SV whose part in a dependent one is larger than this is a combination of others itself
PART = DEPENDENT**0.5


def squared_distances(gram, inbound, bounded, threshold):
    """Squared distances in feature space from the affine hull of the in-bound SVs other than the point.

    One Cholesky factor of the bordered Gram matrix of the in-bound SVs serves all of them. It leaves out
    in-bound SVs that depend on others, as duplicates do; their distance is 0, and so is that of every in-bound
    SV that they depend on.

    Parameters
    ----------
    gram : Gram
    inbound, bounded : ndarray of intp
        Row numbers of the support vectors.
    threshold : bool
        Without one, from the linear hull.

    Returns
    -------
    squared_distance : ndarray
        Of the in-bound SVs, then of the bounded ones; infinite where there is no other in-bound SV.
    n_dependent : int
        In-bound SVs that are a combination of other ones.
    """
    if inbound.size == 0:
        if threshold:
            return np.full(bounded.size, np.inf), 0
        return gram.diagonal[bounded], 0
    tableau = Tableau(gram, inbound, bounded, threshold)
    bends = np.maximum(tableau.bends(), 0)
    s, n = tableau.s, inbound.size
    n_dependent = n - s
    if n_dependent:
        parts, _, _ = tableau.response(np.arange(s, n))
        needed = np.flatnonzero(np.abs(parts).max(axis=0) > PART)
        bends[s:n] = 0
        bends[needed] = 0
        n_dependent += needed.size
    return bends[tableau.number[np.concatenate([inbound, bounded])]], n_dependent
