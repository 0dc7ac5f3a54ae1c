"""Distances of support vectors from the hull of the in-bound ones."""

import numpy as np

from svmselect.bounds.estimate import counted, spread_over_points, support_sets
from svmselect.unlearning.tableau import DEPENDENT, Tableau

# Relative round-off of the largest kernel value, and squared distances that stand clear of it.
ROUND_OFF = 1e-15
CLEAR = 1e-12


def squared_distances(gram, inbound, bounded, threshold):
    """Return squared distances of support vectors from the affine hull of the other in-bound ones.

    The distances of the in-bound SVs come first, then those of the bounded ones; infinite where there is no
    other in-bound SV. The second result is the number of in-bound SVs that are combinations of other ones, to
    1e-10 of the largest kernel value. Without a `threshold` the hull is linear.

    One Cholesky factor of the bordered Gram matrix of the in-bound SVs serves all points. It leaves out
    in-bound SVs that depend on others, as duplicates do. Such a t, at a squared distance r from the hull of
    the rest, may bring that hull closer to p: if p has the part x in the combination closest to t, the
    inverse squared distance of p grows by ``x^2 / r``.
    """
    if inbound.size == 0:
        if threshold:
            return np.full(bounded.size, np.inf), 0
        return gram.diagonal[bounded], 0
    tableau = Tableau(gram, inbound, bounded, threshold)
    s, n = tableau.s, inbound.size
    # without a threshold, zero vectors have a hull of no dimension
    bends = np.maximum(tableau.bends() if s else tableau.diagonal, 0)
    largest = gram.diagonal.max() + tableau.shift
    if s == 0:
        bends[:n] = 0
    elif s < n:
        parts, _, _ = tableau.response(np.arange(s, n))
        noise = ROUND_OFF * largest / tableau.factor.diagonal().min() ** 2
        parts[np.abs(parts) < noise] = 0
        nearer = parts**2 / np.maximum(bends[s:n, None], CLEAR * largest)
        bends[:s] = 1 / (1 / bends[:s] + nearer.max(axis=0))
    n_dependent = int(np.count_nonzero(bends[:n] <= DEPENDENT * largest))
    return bends[tableau.number[np.concatenate([inbound, bounded])]], n_dependent


def counted_by_distance(gram, y, solution, threshold):
    """Return squared distances, shape (m,), and fields of the Estimate of the points that they make errors.

    A support vector p at the squared distance r is counted where ``alpha_p r >= y_p f(x_p)``.
    """
    inbound, bounded = support_sets(solution)
    support = np.concatenate([inbound, bounded])
    squared_distance, n_dependent = squared_distances(gram, inbound, bounded, threshold)
    errors = np.zeros(gram.m, dtype=bool)
    errors[support] = solution.alpha[support] * squared_distance >= (y * solution.decision)[support]
    fields = counted(errors, solution) | {"n_dependent": n_dependent}
    return spread_over_points(squared_distance, support, gram.m), fields
