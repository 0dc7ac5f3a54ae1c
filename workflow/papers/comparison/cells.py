"""The runs: every estimate of the test error, on the same models of one realisation, as rows.

Each model is trained once from zero; its test error and the estimates of one fit come from that solution, and
leave-one-out starts from it. Cross-validation trains its own fits, each from zero. All of them read one Gram
matrix per kernel, which is computed before any clock starts.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import sparse
from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    even_folds,
    jaakkola_haussler,
    leave_one_out,
    opper_winther,
    radius_margin,
    rescaled_radius_margin,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    stratified_folds,
    xi_alpha,
)
from svmselect.data import Dataset

from lib.attempts import attempt, error_count, unfinished
from lib.checkpoint import Checkpoint, run_points
from lib.rows import ERROR, OK
from lib.timing import timed
from papers.bakir2004.problem import scaled

__all__ = ["METHODS", "assignment", "run_models", "training_part"]

# of the assignments to folds
FOLDS_SEED = 2026
# of the kernel values between test rows and training rows, how many are held at a time
BLOCK_VALUES = 2**24

# estimates of one fit, and those of them that need the smallest sphere around the training points
ESTIMATES = {
    "span_rule": span_rule,
    "span_bound": span_bound,
    "xi_alpha": xi_alpha,
    "jaakkola_haussler": jaakkola_haussler,
    "opper_winther": opper_winther,
    "radius_margin": radius_margin,
    "rescaled_radius_margin": rescaled_radius_margin,
}
WITH_SPHERE = ("span_bound", "radius_margin")
# "kfold" once for every number of folds
METHODS = ("test", *ESTIMATES, "kfold", "loo")


def training_part(dataset, realisation):
    """Training and test rows of a realisation, each feature with the mean and the deviation of the training
    rows taken out. Dense.

    Parameters
    ----------
    dataset : Dataset
    realisation : int

    Returns
    -------
    X, y, X_test, y_test : ndarray
    identity : dict
        Columns that name the rows used.
    """
    X, y, X_test, y_test, split = dataset.realisation(realisation)
    X, X_test = (part.toarray() if sparse.issparse(part) else part for part in (X, X_test))
    X, X_test = scaled(X, X_test, "deviation")
    identity = {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": split.origin,
        "seed": None if split.seed is None else [int(part) for part in split.seed],
    }
    return X, y.astype(float), X_test, y_test, identity


def assignment(y, k):
    """The fold of each point: stratified; where no class has k points, which leaves folds without any, the
    folds are of equal size only."""
    if np.unique(y, return_counts=True)[1].max() < k:
        return even_folds(len(y), k, FOLDS_SEED)
    return stratified_folds(y, k, FOLDS_SEED)


class Cell:
    """What the models of a cell share.

    Parameters
    ----------
    X, y, X_test, y_test
        See `training_part`.
    settings : dict
        ``tol``, ``max_iter``, ``folds`` (list of int), ``timing``.
    log : logging.Logger
    """

    def __init__(self, X, y, X_test, y_test, settings, log):
        self.y, self.X_test, self.y_test, self.log = y, X_test, y_test, log
        self.timing = settings["timing"]
        self.options = {key: settings[key] for key in ("tol", "max_iter")}
        self.folds = {k: assignment(y, k) for k in settings["folds"]}
        self.gram = Gram(X, Linear())

    def warm_up(self):
        """Pay for page faults and lazy imports before any clock starts."""
        rng = np.random.default_rng(0)
        y = np.tile([-1.0, 1.0], 30)
        gram = Gram(rng.standard_normal((60, 2)) + y[:, None] / 2, RBF(1.0))
        solution = solve_csvc(gram, y, 1.0)
        for estimate in ESTIMATES.values():
            estimate(gram, y, solution)
        cross_validate(gram, y, 1.0, 5)
        leave_one_out(gram, y, 1.0)
        self.gram.compute()
        solve_csvc(self.gram, self.y, 1e-3, tol=1.0)

    def run_kernel(self, kernel, gamma, C):
        """Rows of every method and model of one kernel (C: list of float): what kernels do not share."""
        self.gram.set_kernel(Linear() if gamma is None else RBF(gamma))
        with timed("shared") as gram_clock:
            self.gram.compute()
            self.gram.squared_radius()
        with timed("shared") as sphere_clock:
            self.sphere = smallest_enclosing_sphere(self.gram)
        shared = {
            "kernel": kernel,
            "gamma": gamma,
            "gram_cpu_s": gram_clock.cpu_s,
            "sphere_cpu_s": sphere_clock.cpu_s,
        }
        rows, fits = [], []
        for value in C:
            what = f"{kernel}, gamma={gamma}, C={value:.6g}"
            own, solution = self.run_model(partial(self.attempt, what), value)
            rows += [{**shared, "C": value, **row} for row in own]
            if solution is not None:
                fits.append((rows[len(rows) - len(own)], solution))
        self.test(fits)
        return rows

    def attempt(self, what, method, run):
        result, row = attempt(run, self.timing, self.log, f"{what}, {method}")
        return result, {**row, "method": method}

    def run_model(self, attempt, C):
        """Rows of every method, the fit's first, and the fit; None if it failed."""
        gram, y = self.gram, self.y
        solution, fit = attempt("test", partial(solve_csvc, gram, y, C, **self.options))
        fit["fold"] = "test"
        if solution is None:
            failed = [{**fit, "method": method} for method in METHODS if method != "kfold"]
            return [*failed, *self.cross_validations(attempt, C)], None
        fit |= {
            "n_sv": solution.n_sv,
            "n_inbound": solution.n_inbound,
            "objective": solution.objective,
            "kkt_gap": solution.kkt_gap,
            "n_iter": solution.n_iter,
        }
        # an estimate of an unfinished fit is as unfinished
        stopped = {} if solution.converged else unfinished("iteration limit reached")
        fit |= stopped
        rows = [fit]
        for method, estimate in ESTIMATES.items():
            given = {"sphere": self.sphere} if method in WITH_SPHERE else {}
            result, row = attempt(method, partial(estimate, gram, y, solution, **given))
            if result is not None:
                row |= {**columns(result), **stopped}
            rows.append({**row, "fold": "train"})
        rows += [*self.cross_validations(attempt, C), self.leave_one_out(attempt, C, solution)]
        return rows, solution

    def cross_validations(self, attempt, C):
        """A row for every number of folds."""
        rows = []
        for k, folds in self.folds.items():
            fit = partial(cross_validate, self.gram, self.y, C, folds, "cold", **self.options)
            cv, row = attempt("kfold", fit)
            if cv is not None:
                row |= {**error_count(cv.errors), "n_iter": cv.n_iter}
                if cv.n_not_converged:
                    row |= unfinished(f"iteration limit reached by {cv.n_not_converged} fits")
            rows.append({**row, "k": k, "fold": "cv"})
        return rows

    def leave_one_out(self, attempt, C, solution):
        """The row of the exact leave-one-out error, by unlearning from the solution at hand."""
        options = {**self.options, "start": solution.alpha}
        loo, row = attempt("loo", partial(leave_one_out, self.gram, self.y, C, "unlearn", **options))
        if loo is not None:
            row |= {**error_count(loo.errors), "n_iter": loo.n_iter}
            if loo.n_not_converged:
                row |= unfinished(f"iteration limit reached by {loo.n_not_converged} solutions")
        return {**row, "fold": "loo"}

    def test(self, fits):
        """Add the test errors of some fits to their rows, all of them by one pass over the test rows."""
        if not fits:
            return
        theta = np.column_stack([solution.alpha * self.y for _, solution in fits])
        b = [solution.b for _, solution in fits]
        everyone = np.arange(self.gram.m)
        size = max(1, BLOCK_VALUES // self.gram.m)
        wrong = np.empty((len(self.y_test), len(fits)), dtype=bool)
        for begin in range(0, len(self.y_test), size):
            these = slice(begin, begin + size)
            decision = self.gram.cross(self.X_test[these], everyone) @ theta + b
            wrong[these] = (decision >= 0) != (self.y_test[these] > 0)[:, None]
        for (row, _), errors in zip(fits, wrong.T, strict=True):
            row |= error_count(errors)


def columns(result):
    """What the result of an estimate of one fit puts into its row."""
    row = error_count(result.errors) if hasattr(result, "errors") else {"bound": result.bound}
    if hasattr(result, "n_empty"):
        row["n_empty"] = result.n_empty
    if hasattr(result, "n_dependent"):
        row["n_degenerate"] = result.n_dependent + getattr(result, "n_without_span", 0)
    if getattr(result, "n_not_converged", 0):
        row |= unfinished(f"iteration limit reached by {result.n_not_converged} minimisations")
    return row


def run_models(data, identity, realisation, kernels, settings, checkpoint, log):
    """Every method on the models of a grid.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    identity : dict
        Columns that name the run: paper, dataset, library.
    realisation : int
    kernels : list of dict
        ``kernel``, ``gamma`` (None for the linear kernel) and ``C``, a list of values.
    settings : dict
        See `Cell`.
    checkpoint : path-like
        File of finished kernels; the caller removes it with the returned object.
    log : logging.Logger

    Returns
    -------
    rows : list of dict
        One per model and method, of cross-validation one per number of folds.
    checkpoint : Checkpoint
    """
    X, y, X_test, y_test, rows_used = training_part(Dataset.load(data), realisation)
    identity = {**identity, **rows_used}
    cell = Cell(X, y, X_test, y_test, settings, log)
    log.info("cell %s, %d training rows, %d test rows", identity, len(y), len(y_test))
    cell.warm_up()

    def run(number):
        with timed("shared") as clock:
            rows = cell.run_kernel(**kernels[number])
        failed = sum(row["status"] == ERROR for row in rows)
        status = {"status": ERROR, "reason": f"{failed} runs failed"} if failed else {"status": OK}
        return {**status, "cpu_s": clock.cpu_s, "rows": rows}

    saved = Checkpoint(checkpoint, {**identity, "kernels": kernels, **settings})
    results = run_points([[number] for number in range(len(kernels))], run, saved, log)
    shared = {**identity, "tol": settings["tol"], "m": len(y), "timing_mode": settings["timing"]}
    return [{**shared, **row} for result in results for row in result["rows"]], saved
