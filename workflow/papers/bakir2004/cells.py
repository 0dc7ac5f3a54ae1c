"""The runs: each method on one problem, as a row.

Hyper-parameters are chosen first. Then the classifier is trained once more with what was chosen, and that is
what the clock and the memory are about: Gram matrices, editing and subsets included.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from svmselect import RBF, Linear, bagging, condense, cross_training, multiedit, stratified_folds
from svmselect.editing import cross_validated_errors, draw_validation, train, train_best
from svmselect.errors import misclassified

from data.dataset import Dataset
from lib.cell import error_count, kernel_of
from lib.rows import pack_bits
from lib.timing import measured_memory, timed
from papers.bakir2004.problem import SEED, Problem, dataset_problem, gaussians, squares, swapped

# from so many rows on, Gram matrices are float32
ROWS_FLOAT32 = 20_000


@dataclass(frozen=True)
class Setup:
    """The options by which classifiers are trained."""

    gamma: float | None  # for the RBF kernel; None for the linear one
    # values of C or nu to choose from: for the SVM on all rows and those of the first stage, and for the
    # final SVM of an edited set, which is nearly separable
    values: list
    final_values: list
    # the paper's s and r; a size of None cuts the training set into s parts
    n_subsets: int
    subset_size: int | None
    adjust: bool  # thresholds and balance of section 4.3
    # the value of the SVM on all rows is chosen by cross-validation on at most so many of them
    folds: int
    cv_rows: int
    # what MULTIEDIT takes
    parts: int
    patience: int
    tol: float
    memory_mb: float  # budget of a Gram matrix
    seed: list  # seeds everything that is drawn
    formulation: str = "C"  # or "nu"

    @property
    def kernel(self):
        return kernel_of(self.gamma)

    def validation(self, m):
        """Return the number of points that are set aside: a third of a subset's size (section 4.3)."""
        return (m // self.n_subsets if self.subset_size is None else self.subset_size) // 3

    def solver(self, m):
        """Return the options of a fit on m rows."""
        dtype = "float32" if m > ROWS_FLOAT32 and self.gamma is not None else "float64"
        return {
            "formulation": self.formulation,
            "tol": self.tol,
            "dtype": dtype,
            "memory_mb": self.memory_mb,
        }

    def subsets(self, m):
        """Return the options of a first stage on subsets of m rows."""
        return {
            "n_subsets": self.n_subsets,
            "subset_size": self.subset_size,
            "validation": self.validation(m),
            "tune_threshold": self.adjust,
            "seed": self.seed,
            **self.solver(m),
        }


# A method trains with the grids of a setup and returns what classifies, what became of the training points,
# the final SVM, if there is one, and the values that it chose, by the names of their columns.


def train_svm(problem, setup):
    """Train the SVM on all rows, with one value."""
    (value,) = setup.values
    fits = list(train(problem.X, problem.y, setup.kernel, value, **setup.solver(problem.y.size)))
    if not fits:
        raise ValueError(f"nu = {value} is not feasible or leaves no margin")
    return fits[0], {"n_kept": problem.y.size}, fits[0], {"value": value}


def cross_validated(problem, setup):
    """Return the value of the SVM with the fewest errors of cross-validation; of equal ones the least."""
    rows = np.random.default_rng(setup.seed).permutation(problem.y.size)[: setup.cv_rows]
    X, y = problem.X[rows], problem.y[rows]
    folds = stratified_folds(y, setup.folds, setup.seed)
    options = setup.solver(rows.size)
    values, errors = cross_validated_errors(X, y, setup.kernel, setup.values, folds=folds, **options)
    if np.isnan(errors).all():
        raise ValueError(f"no nu of {values.tolist()} is feasible and leaves a margin in every fold")
    return {"value": float(values[np.nanargmin(errors)])}


def train_cross_training(problem, setup, balance=True):
    """Train both stages, each of which chooses its value (section 3)."""
    balance = balance and setup.adjust
    grids = {"values": setup.final_values, "first_values": setup.values, "balance": balance}
    trained = cross_training(problem.X, problem.y, setup.kernel, **grids, **setup.subsets(problem.y.size))
    edited = {
        "validation_rows": trained.first.validation.size,
        "n_misclassified": int(np.count_nonzero(trained.misclassified)),
        "n_recognised": int(np.count_nonzero(trained.recognised)),
        "n_reinserted": int(np.count_nonzero(trained.reinserted)),
        "n_kept": trained.rows.size,
    }
    return trained, edited, trained.final, {"value": trained.final.value, "first_value": trained.first.value}


def train_unadjusted(problem, setup):
    """Train both stages without thresholds and balance of section 4.3."""
    return train_cross_training(problem, replace(setup, adjust=False))


def train_bagging(problem, setup):
    """Train the first stage alone."""
    trained = bagging(problem.X, problem.y, setup.kernel, setup.values, **setup.subsets(problem.y.size))
    used = np.unique(np.concatenate(trained.subsets))
    edited = {"validation_rows": trained.validation.size, "n_kept": used.size}
    return trained, edited, None, {"first_value": trained.value}


def edited_by_neighbours(problem, setup):
    """Edit the points that are not set aside by MULTIEDIT and CONDENSE. Return the rows set aside, those left
    by the first, and those left by both."""
    rng = np.random.default_rng(setup.seed)
    X, y = problem.X, problem.y
    held_out = draw_validation(y, setup.validation(y.size), rng)
    rows = np.setdiff1d(np.arange(y.size), held_out)
    clean = rows[multiedit(X[rows], y[rows], setup.parts, setup.patience, rng)]
    if np.unique(y[clean]).size < 2:
        raise ValueError(f"MULTIEDIT leaves points of one class only: {clean.size} of {rows.size}")
    return held_out, clean, clean[condense(X[clean], y[clean], rng)]


def train_edited(problem, setup, begun):
    """Train an SVM, as cross-training's final one, on the rows that `edited_by_neighbours` leaves."""
    held_out, clean, retained = begun
    options, X, y = setup.solver(retained.size), problem.X, problem.y
    svm, _ = train_best(X, y, setup.kernel, setup.final_values, retained, held_out, setup.adjust, **options)
    edited = {
        "validation_rows": held_out.size,
        "n_misclassified": y.size - held_out.size - clean.size,
        "n_recognised": clean.size - retained.size,
        "n_reinserted": 0,
        "n_kept": retained.size,
    }
    return svm, edited, svm, {"value": svm.value}


BOTH = {"value": "final_values", "first_value": "values"}
# method -> formulation (None: that of the setup), the column of each value and its grid, training
METHODS = {
    "svm": ("C", {"value": "values"}, train_svm),
    "nu_svm": ("nu", {"value": "values"}, train_svm),
    "cross_training": (None, BOTH, train_cross_training),
    "unbalanced": (None, BOTH, partial(train_cross_training, balance=False)),
    "unadjusted": (None, BOTH, train_unadjusted),
    "bagging": (None, {"first_value": "values"}, train_bagging),
    "multiedit_condense": ("C", {"value": "final_values"}, train_edited),
}
# what a method begins with, whatever the values: it is run once, and its training is given the result
BEGINNINGS = {"multiedit_condense": edited_by_neighbours}


def choose(problem, setup, grids, fit):
    """Return the values with which a method is to be trained, by the names of their columns."""
    values = {name: getattr(setup, grid) for name, grid in grids.items()}
    if all(len(grid) == 1 for grid in values.values()):
        return {name: grid[0] for name, grid in values.items()}
    return cross_validated(problem, setup) if fit is train_svm else fit(problem, setup)[-1]


def run_method(job, method, problem, setup):
    """Train one method (of `METHODS`) on a problem and return its row, without the columns that the cell's
    rows share."""
    formulation, grids, fit = METHODS[method]
    setup = replace(setup, formulation=formulation or setup.formulation)
    row = {
        **problem.identity,
        "fold": "test",
        "kernel": setup.kernel.name,
        "gamma": setup.gamma,
        "tol": setup.tol,
        "m": problem.y.size,
        "rows_tested": problem.y_test.size,
        "n_subsets": setup.n_subsets,
        "subset_size": setup.subset_size or problem.y.size // setup.n_subsets,
        "formulation": setup.formulation,
    }
    costs, memories = [], []

    def attempt(run, step):
        with measured_memory() as memory:
            result, cost = job.attempt(method, run, step)
        costs.append(cost)
        memories.append(memory)
        return result

    # 1) begin, once for the search and the training
    if method in BEGINNINGS:
        begun = attempt(partial(BEGINNINGS[method], problem, setup), "beginning")
        if begun is None:
            return {**row, **costs[-1]}
        fit = partial(fit, begun=begun)
    # 2) choose the values
    choice = partial(choose, problem, setup, grids, fit)
    chosen, search = job.attempt(method, choice, "choice", timing="shared")
    if chosen is None:
        return {**row, **search}
    # 3) train with them
    given = replace(setup, **{grid: [chosen[name]] for name, grid in grids.items()})
    trained = attempt(partial(fit, problem, given), str(chosen))
    if trained is None:
        return {**row, **costs[-1]}
    classifier, edited, final, _ = trained
    # 4) test
    with timed("shared") as prediction:
        decision = classifier.decision_function(problem.X_test)
    wrong = misclassified(problem.y_test, decision)
    row |= {
        **costs[-1],
        **{name: _together([cost[name] for cost in costs]) for name in ("cpu_s", "wall_s")},
        **chosen,
        **edited,
        **error_count(wrong),
        "C": chosen.get("value") if setup.formulation == "C" else None,
        "error_pattern": pack_bits(wrong),
        "n_sv": int(classifier.n_sv),
        "search_cpu_s": search["cpu_s"],
        "predict_cpu_s": prediction.cpu_s,
        "peak_mb": _largest([memory.peak_mb for memory in memories]),
    }
    if final is not None:
        row |= {"n_inbound": final.n_sv - final.n_bounded, "n_iter": final.n_iter}
    if problem.clean is not None:
        row["clean_errors"] = int(np.count_nonzero(misclassified(problem.clean, decision)))
    job.log.info("%s: %d SVs, %.2f %% errors", method, row["n_sv"], 100 * row["estimate"])
    return row


def _together(times):
    """Return the sum of some times; None if they were not taken."""
    return None if None in times else round(math.fsum(times), 6)


def _largest(sizes):
    """Return the largest of some sizes; None if the system does not tell."""
    return None if None in sizes else max(sizes)


def _small(X, y):
    cross_training(X, y, RBF(0.1), 1.0)
    condense(X, y)
    multiedit(X, y)


def run_points(job, points, problem_of, setup_of):
    """Compute the rows of the points of a cell, a checkpoint after each.

    The last part of each point is a method. `problem_of` makes a Problem from the parts before it, of which
    the last one is reused; `setup_of` makes a Setup from a whole point.
    """
    job.warm_up(_small)
    problem_of = lru_cache(maxsize=1)(problem_of)

    def run(*point):
        *key, method = point
        return run_method(job, method, problem_of(*key), setup_of(*point))

    return list(job.points(points, run))


def run_figure1(job, settings):
    """Count the support vectors of a linear SVM on two squares of n points each, for every overlap. One row
    per overlap and run; errors are those on the training points."""
    shared = {"fold": "train", "kernel": "linear", "formulation": "C", "value": settings.C}
    shared["tol"] = settings.tol
    rows = []
    for overlap in settings.overlaps:
        for realisation in range(1, settings.runs + 1):
            seed = [SEED, 1, realisation, round(1000 * overlap)]
            X, y = squares(settings.n, overlap, np.random.default_rng(seed))
            svm, row = job.attempt("svm", partial(_linear_svm, X, y, settings), f"overlap {overlap:g}")
            row |= {**shared, "realisation": realisation, "seed": seed, "level": overlap, "m": y.size}
            if svm is not None:
                row |= {
                    **error_count(misclassified(y, svm.decision_function(X))),
                    "n_sv": svm.n_sv,
                    "n_inbound": svm.n_sv - svm.n_bounded,
                    "n_iter": svm.n_iter,
                }
            rows.append(row)
        job.log.info("overlap %g: %s SVs in the last run", overlap, row.get("n_sv"))
    return rows


def _linear_svm(X, y, settings):
    (svm,) = train(X, y, Linear(), settings.C, tol=settings.tol)
    return svm


def run_figure3(job, realisation, settings):
    """Run every method on training sets of Gaussian classes, the smaller ones parts of the largest. One row
    per deviation, size and method.

    The settings are ``sizes``; ``deviations``; ``test_rows``; ``methods``, of `METHODS`; and ``setup``, the
    attributes of a `Setup` but the seed.
    """

    def seed_of(deviation):
        return [SEED, 3, realisation, round(1000 * deviation)]

    def problem_of(deviation, size):
        seed = seed_of(deviation)
        rng = np.random.default_rng(seed)
        X, y = gaussians(max(settings.sizes), deviation, rng)
        X_test, y_test = gaussians(settings.test_rows, deviation, rng)
        drawn = {"realisation": realisation, "seed": seed, "level": deviation}
        return Problem(X[:size], y[:size], X_test, y_test, drawn)

    def setup_of(deviation, size, method):
        return Setup(**settings.setup, seed=[*seed_of(deviation), size])

    points = [
        [deviation, size, method]
        for deviation in settings.deviations
        for size in settings.sizes
        for method in settings.methods
    ]
    return run_points(job, points, problem_of, setup_of)


def run_figure4(job, realisation, settings):
    """Run every method on a data set in which a share of the labels is swapped, drawn with the realisation as
    seed. One row per share and method.

    The settings are ``noise``, shares of the labels; ``scale`` and ``train_rows``, see `dataset_problem`;
    ``methods`` and ``setup``, see `run_figure3`; and ``nu``, a dict of ``values`` and ``final_values`` of nu,
    for all methods but "svm" and "multiedit_condense".
    """
    whole = dataset_problem(
        Dataset.load(job.data), realisation, train=settings.train_rows, scale=settings.scale
    )

    def seed_of(share):
        return [SEED, 4, realisation, round(1000 * share)]

    def problem_of(share):
        seed = seed_of(share)
        noisy = swapped(whole, share, np.random.default_rng(seed))
        drawn = {"realisation": realisation, "seed": seed, "level": share}
        return replace(noisy, identity={**whole.identity, **drawn})

    def setup_of(share, method):
        nu_settings = {} if METHODS[method][0] == "C" else {**settings.nu, "formulation": "nu"}
        return Setup(**{**settings.setup, **nu_settings}, seed=seed_of(share))

    points = [[share, method] for share in settings.noise for method in settings.methods]
    return run_points(job, points, problem_of, setup_of)


def run_table1(job, settings):
    """Run every method on the ``realisations`` of a data set. One row per realisation and method. For the
    other settings see `dataset_problem` and `run_figure3`."""
    dataset = Dataset.load(job.data)

    def problem_of(realisation):
        return dataset_problem(dataset, realisation, settings.train_rows, settings.test_rows, settings.scale)

    def setup_of(realisation, method):
        return Setup(**settings.setup, seed=[SEED, 5, realisation])

    points = [[realisation, method] for realisation in settings.realisations for method in settings.methods]
    return run_points(job, points, problem_of, setup_of)


def run_sensitivity(job, settings):
    """Run cross-training without rebalancing, and without thresholds, too; the SVM with each C; and
    cross-training with each pair of a C of the first stage and one of the final SVM. One row per realisation,
    method and values. For the settings see `run_table1`."""
    dataset = Dataset.load(job.data)
    first_values, final_values = settings.setup["values"], settings.setup["final_values"]

    def problem_of(realisation, *_):
        return dataset_problem(dataset, realisation, settings.train_rows, settings.test_rows, settings.scale)

    def setup_of(realisation, *pair_and_method):
        setup = Setup(**settings.setup, seed=[SEED, 5, realisation])
        *pair, _ = pair_and_method
        return replace(setup, values=pair[:1], final_values=pair[1:]) if pair else setup

    points = [
        [realisation, *point]
        for realisation in settings.realisations
        for point in [
            ["unbalanced"],
            ["unadjusted"],
            *([C, C, "svm"] for C in first_values),
            *([first, final, "cross_training"] for first in first_values for final in final_values),
        ]
    ]
    return run_points(job, points, problem_of, setup_of)


def run_growth(job, settings):
    """Run every method, with one value of C, on growing training sets of the first realisation. One row per
    size and method. The setting ``methods`` has the largest size of each; for the others see
    `dataset_problem` and `run_figure3`."""
    dataset = Dataset.load(job.data)

    def problem_of(size):
        return dataset_problem(dataset, 1, size, settings.test_rows, settings.scale)

    def setup_of(size, method):
        return Setup(**settings.setup, seed=[SEED, 6, size])

    points = [
        [size, method] for size in settings.sizes for method, most in settings.methods.items() if size <= most
    ]
    return run_points(job, points, problem_of, setup_of)
