"""Fits of one data set that differ in which points they hold out."""

import numpy as np

import svmselect.solver._active_set as _active_set
from svmselect.kernels.panels import slices
from svmselect.solver._smo import Dual
from svmselect.svm import solution_of
from svmselect.threads import thread_count

__all__ = [
    "EXACT",
    "WORK_PER_FIT",
    "Trainer",
    "groups_of",
    "members_of",
    "seeding_of_grid",
    "unlearned_fast",
    "without",
]

EXACT = 1e-9  # the KKT gap of the solution that folds are unlearned from
# Folds are unlearned together while their variables are no more than this.
GROUP_VALUES = 250_000
SEEDINGS = ("path", "unlearn")  # of grids
MOST_PATHS = 15  # folds of a grid; with more, they are unlearned by default
# Up to this number of rows, unlearning many folds is known to be faster than training without them.
MOST_ROWS = 10_000
WORK_PER_FIT = 20  # a guess, for the choice of threads: multiplications of a fit per value of the matrix


class Trainer:
    """Fits of one data set that differ in their bounds and starts; for the options see `solve_csvc`."""

    def __init__(self, y, tol, working_set, active_set, max_iter):
        self.y, self.tol, self.working_set, self.max_iter = y, tol, working_set, max_iter
        self.active_set = active_set

    def with_active_set(self, gram):
        """Return whether the active-set method may take over: not with a saddle of an indefinite kernel."""
        return self.active_set and gram.kernel.definite

    def fit(self, gram, C, theta=None, known=None, exact=False):
        """Return the solution for bounds `C`, shape (m,), and the state from which the next fit may start.

        `theta` are signed variables to start from, and `known` is the state of a former fit; see Dual.seed.
        With `exact` the gap is round-off or little more, if the active-set method can reach that.
        """
        columns, values = gram.thread_counts
        dual = Dual(gram, self.y)
        dual.boxes(self.y, C)
        if theta is not None:
            dual.seed(theta, known)
        solve = _active_set.solve if self.with_active_set(gram) else Dual.solve
        converged = solve(dual, self.working_set, self.tol, self.max_iter)
        if exact and converged and self.tol > EXACT:
            _active_set.solve(dual, self.working_set, EXACT, self.max_iter - dual.state()[-1])
            converged = dual.reached(self.tol)
        return solution_of(dual, gram, self.y, C, converged, columns, values), dual.known()


def without(C, points):
    """Return bounds with which some points are held out: 0 at these."""
    C = C.copy()
    C[points] = 0
    return C


def unlearned_fast(gram):
    """Return whether many folds are unlearned by default: on a stored, definite matrix of few rows."""
    return gram.full and gram.m <= MOST_ROWS and gram.is_definite()


def seeding_of_grid(seeding, gram, n_folds):
    """Return "path" or "unlearn", by default the one that is faster; raise a ValueError for another one."""
    if seeding is None:
        seeding = "unlearn" if n_folds > MOST_PATHS and unlearned_fast(gram) else "path"
    if seeding not in SEEDINGS:
        raise ValueError(f"seeding must be None or one of {list(SEEDINGS)}, got {seeding!r}")
    if seeding == "unlearn":
        gram.check_definite()
    return seeding


def groups_of(rounds, m):
    """Return groups of rounds that are unlearned together: all rounds, as far as memory and threads go."""
    size = max(1, min(GROUP_VALUES // m, -(-len(rounds) // thread_count())))
    return [rounds[part] for part in slices(len(rounds), size)]


def members_of(folds):
    """Return the rows of each fold."""
    return np.split(np.argsort(folds, kind="stable"), np.cumsum(np.bincount(folds))[:-1])
