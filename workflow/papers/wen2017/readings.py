"""Other readings of the paper's seeds, which its text leaves open, and their effect on the counts.

Kernel values are computed when they are asked for, in single precision, as LIBSVM's are; so the largest data
sets need no memory for a whole matrix.
"""

from dataclasses import replace

import numpy as np
from sklearn.svm import SVC
from svmselect import RBF, Gram, stratified_folds
from svmselect.checks import check_options
from svmselect.cv.seeds.ato import Path
from svmselect.cv.seeds.transition import Transition
from svmselect.cv.trainer import Trainer, without
from svmselect.errors import misclassified

from lib.cell import error_count
from lib.rows import OK
from lib.timing import timed
from papers.wen2017.cells import PLAIN_SMO, status
from papers.wen2017.problem import CACHE_MB, problem
from papers.wen2017.variants import positive

# calls that are timed, where fewer rows than this enter
REPEATS, MOST_REPEATED = 50, 1000


def positive_sir(change):
    """Seed by `positive`; all points are moved."""
    return positive(change, _trained(change))


def first_step_of_ato(change):
    """Seed by ATO that ends with the first event: after one step, the points that leave are set to 0 and all
    points move by one amount until the equality constraint holds."""
    path = ToFirstEvent(change)
    path.step()
    theta = path.theta.copy()
    theta[change.leaves] = 0
    return change.feasible(theta, _trained(change))


class ToFirstEvent(Path):
    """The path whose steps go from event to event, however many points there are; systems are solved as they
    are elsewhere."""

    def __init__(self, change):
        super().__init__(change)
        self.directly, self.exact = self.exact, True

    def follow(self, tied, pull, total):
        self.exact = self.directly
        try:
            return super().follow(tied, pull, total)
        finally:
            self.exact = True


def nothing(change):
    """Seed by 0 for the points that enter."""
    return change.feasible(change.without_leaving(), change.enters)


def _trained(change):
    """Return the points of the next training set."""
    low, high = change.box
    return np.flatnonzero(high > low)


# seed -> its function, and whether it is made of the seed before and not of the solution
READINGS = {
    "sir_positive_all": (positive_sir, False),
    "ato_first_step": (first_step_of_ato, False),
    "zero_of_seeds": (nothing, True),
}


def run_reading(job, k, model, reading, shuffles, settings):
    """Run the first folds from a seed on some assignments of the rows to folds. One row per assignment.

    Parameters
    ----------
    job, k, model
        See `papers.wen2017.cells.run_seeds`.
    reading : str
        A key of `READINGS`.
    shuffles : int
        Assignments, stratified, drawn with the seeds 0, 1, ...
    settings : SimpleNamespace
        ``tol``, ``seed`` and ``max_iter``, as there; ``rounds``, int or None; ``memory_mb`` of the columns
        that are kept.
    """
    cv_problem = problem(job, k, model, settings)
    gram = Gram(cv_problem.X, RBF(cv_problem.gamma), dtype="float32", memory_mb=settings.memory_mb)
    rows = []
    for seed in range(shuffles):
        shuffled = replace(cv_problem, folds=stratified_folds(cv_problem.y, int(k), seed))
        shared = {"folds": "stratified", "seed": [seed], "gram_dtype": "float32", "k": int(k)}
        rows.append({**shared, **chain(job, gram, shuffled, reading, settings)})
    return rows


def chain(job, gram, cv_problem, name, settings):
    """Run a chain over the first folds, the first fit cold, and return its counts: columns of a row."""
    seed, from_seeds = READINGS[name]
    bounds = np.full(cv_problem.y.size, cv_problem.C)
    most = check_options(settings.tol, PLAIN_SMO["working_set"], settings.max_iter, cv_problem.y.size)
    trainer = Trainer(cv_problem.y, settings.tol, max_iter=most, **PLAIN_SMO)
    n_iter, failed, former, start = [], 0, None, None
    errors = []
    for h in range(settings.rounds or int(cv_problem.folds.max()) + 1):
        out = np.flatnonzero(cv_problem.folds == h)
        if former is None:
            former = trainer.fit(gram, without(bounds, out))
        else:
            solution, known = former
            theta, f, _ = known
            if from_seeds and start is not None:
                theta, f = start, gram.product(np.flatnonzero(start), start[start != 0]) - cv_problem.y
            enters = np.flatnonzero(cv_problem.folds == h - 1)
            rng = np.random.default_rng(settings.seed)
            change = Transition(
                gram, cv_problem.y, bounds, theta, f, -solution.b, out, enters, settings.tol, rng
            )
            start = seed(change)
            former = trainer.fit(gram, without(bounds, out), start, known)
        n_iter.append(int(former[0].n_iter))
        errors.append(misclassified(cv_problem.y, former[0].decision)[out])
        failed += not former[0].converged
        job.log.info("%s, fold %d: %d iterations", name, h, n_iter[-1])
    return {
        "method": name,
        "rounds": len(n_iter),
        **error_count(np.concatenate(errors)),
        "n_iter": sum(n_iter),
        "round_n_iter": n_iter,
        "status": OK,
        **status(failed),
    }


def run_similarity(job, k, model, settings):
    """Measure the CPU time in which LIBSVM computes the kernel values of the points that leave with those
    that enter, as ``seeding_cpu_s``. It is that of its decision values, whose sums cost nothing beside them.
    One row.

    Parameters
    ----------
    job, k, model, settings
        See `papers.wen2017.cells.run_seeds`.
    """
    cv_problem = problem(job, k, model, settings)
    leaves, enters = (np.flatnonzero(cv_problem.folds == h) for h in (1, 0))
    machine = SVC(C=cv_problem.C, gamma=cv_problem.gamma, tol=settings.tol, cache_size=CACHE_MB)
    machine.fit(cv_problem.X[leaves], cv_problem.y[leaves])

    def seconds(rows):
        """Return the least time of some calls; the overhead of a call is that of a single row."""
        times = []
        for _ in range(REPEATS if rows.size < MOST_REPEATED else 1):
            with timed(job.timing) as clock:
                machine.decision_function(cv_problem.X[rows])
            times.append(clock.cpu_s)
        return min(times)

    seconds(enters[:1])
    pairs = machine.n_support_.sum() * (enters.size - 1)
    spent = (seconds(enters) - seconds(enters[:1])) / pairs * leaves.size * enters.size
    wrong = misclassified(cv_problem.y, np.where(cv_problem.y > 0, 1.0, -1.0))
    return [
        {
            "method": "similarity",
            "k": int(k),
            "rounds": 1,
            "seeding_cpu_s": spent,
            **error_count(wrong),
            "status": OK,
        }
    ]
