"""The runs: stripes of a grid of weights on one Gram matrix, as rows.

Every model is trained once from zero; its test error and all estimates but cross-validation and leave-one-out
come from that one solution. On a sub-grid LIBSVM's cross-validation is run beside it, and the fit and the
span rule once more as LIBSVM pays for its kernel values: on demand, in float32, within its cache.
"""

from __future__ import annotations

import traceback
from functools import partial

import numpy as np
from scipy import sparse
from svmselect import (
    RBF,
    Gram,
    cross_validate,
    leave_one_out,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    stratified_folds,
    xi_alpha,
)
from svmselect.data import Dataset

from lib.checkpoint import Checkpoint, run_points
from lib.rows import ERROR, NOT_CONVERGED, OK
from lib.timing import timed
from papers.sarafis2018.grid import on, stripes, weights

__all__ = ["METHODS", "libsvm_errors", "run_models", "scores", "training_part", "unit_range"]

# of the folds
FOLDS_SEED = 2018

# of every model, and of those on a sub-grid
ESTIMATES = {"span_rule": span_rule, "span_bound": span_bound, "xi_alpha": xi_alpha}
METHODS = ("test", *ESTIMATES, "kfold", "loo", "kfold_libsvm", "span_rule_lazy")

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


def unit_range(X, X_test):
    """Both parts with each feature scaled linearly, its range over the training part to [0, 1]; a feature
    that is constant there becomes 0, in the test part too. Dense."""
    X, X_test = (part if isinstance(part, np.ndarray) else part.toarray() for part in (X, X_test))
    least, width = X.min(axis=0), np.ptp(X, axis=0)
    varies = width > 0
    width = np.where(varies, width, 1)
    return tuple((part - least) / width * varies for part in (X, X_test))


def scores(column, y, of):
    """Importance of the training points, in [0, 1] (the paper's q).

    Parameters
    ----------
    column : ndarray, shape (m,)
        Scores in their own unit; their range is scaled to [0, 1].
    y : ndarray, shape (m,)
    of : {"all", "positive"}
        "positive": only class +1 has scores; those of the other class are 1.
    """
    scored = np.ones(len(y), dtype=bool) if of == "all" else y > 0
    least, width = column[scored].min(), np.ptp(column[scored])
    return np.where(scored, (column - least) / (width or 1), 1.0)


def training_part(dataset, realisation, m, score=None):
    """The first m training rows of a realisation and its test rows, features scaled by `unit_range`.

    Parameters
    ----------
    dataset : Dataset
    realisation, m : int
    score : dict, optional
        ``column``, an extra column of the data set, and ``of``, whose scores it holds; see `scores`. A column
        of None stands for minus the distance from the mean of the point's class (Lin and Wang 2002).

    Returns
    -------
    X, y, X_test, y_test : ndarray
    q : ndarray, shape (m,), or None
    identity : dict
        Columns that name the rows used.

    Raises
    ------
    ValueError
        If there are fewer training rows than m, or the data set has no such column.
    """
    X, y, X_test, y_test, split = dataset.realisation(realisation)
    if m > len(y):
        raise ValueError(f"data set {dataset.name!r} has {len(y)} training rows, not {m}")
    X, X_test = unit_range(X[:m], X_test)
    y, q = y[:m].astype(float), None
    if score is not None:
        column = (
            membership(X, y)
            if score["column"] is None
            else _column(dataset, score["column"])[split.train[:m]]
        )
        q = scores(column, y, score["of"])
    identity = {
        "data_sha256": dataset.sha256,
        "realisation": realisation,
        "origin": split.origin,
        "seed": None if split.seed is None else [int(part) for part in split.seed],
    }
    return X, y, X_test, y_test, q, identity


def membership(X, y):
    """Minus the distance of each point from the mean of its class: shape (m,)."""
    distance = np.empty(len(y))
    for label in (-1, 1):
        own = X[y == label]
        distance[y == label] = np.linalg.norm(own - own.mean(axis=0), axis=1)
    return -distance


def _column(dataset, name):
    if name not in dataset.extra:
        known = ", ".join(dataset.extra) or "none"
        raise ValueError(
            f"data set {dataset.name!r} has no column {name!r} for scores; its extra columns: {known}"
        )
    return dataset.extra[name]


class Cell:
    """What the models of a cell share.

    Parameters
    ----------
    X, y, X_test, y_test, q
        See `training_part`.
    gamma : float
    settings : dict
        ``tol``, ``max_iter``, ``folds``, ``memory_mb``, ``cache_mb``, ``timing``; ``loo_every`` and
        ``libsvm_every``, see `on`.
    log : logging.Logger
    """

    def __init__(self, X, y, X_test, y_test, q, gamma, settings, log):
        self.X, self.y, self.y_test, self.q, self.gamma = X, y, y_test, q, gamma
        self.settings, self.log = settings, log
        # with most values 0 a column on demand costs less from sparse rows
        self.rows = sparse.csr_array(X) if np.count_nonzero(X) < X.size / 4 else X
        self.options = {key: settings[key] for key in ("tol", "max_iter")}
        self.folds = stratified_folds(y, settings["folds"], FOLDS_SEED)
        self.gram = Gram(X, RBF(gamma), memory_mb=settings["memory_mb"])
        with timed("shared") as clock:
            self.gram.compute()
        self.gram_cpu_s = clock.cpu_s
        self.sphere = smallest_enclosing_sphere(self.gram)
        self.cross = self.gram.cross(X_test, np.arange(len(y)))

    def warm_up(self, libsvm):
        """Pay for page faults and lazy imports, with `libsvm` for its own too, before any clock starts."""
        solution = solve_csvc(self.gram, self.y, 1.0, tol=1.0)
        span_rule(self.gram, self.y, solution)
        rng = np.random.default_rng(0)
        y = np.tile([-1.0, 1.0], 30)
        X = rng.standard_normal((60, 2)) + y[:, None] / 2
        gram = Gram(X, RBF(1.0))
        solution = solve_csvc(gram, y, 1.0)
        for estimate in ESTIMATES.values():
            estimate(gram, y, solution)
        cross_validate(gram, y, 1.0, 5)
        leave_one_out(gram, y, 1.0)
        if libsvm:
            libsvm_errors(X, y, np.ones(60), stratified_folds(y, 5), 1.0, 1e-3, 100)

    def run_stripe(self, models):
        """Rows of every method of every model of a stripe: what they do not share."""
        rows, fits = [], []
        for model in models:
            C = weights(model, self.y, self.q)
            own, solution = self.run_model(model, C)
            identity = {name: value for name, value in model.items() if name != "at"}
            rows += [{**identity, **row} for row in own]
            if solution is not None:
                fits.append((rows[len(rows) - len(own)], solution))
        self.test(fits)
        return rows

    def test(self, fits):
        """Add the test errors of some fits to their rows, all by one product."""
        if not fits:
            return
        theta = np.column_stack([solution.alpha * self.y for _, solution in fits])
        decision = self.cross @ theta + [solution.b for _, solution in fits]
        wrong = (decision >= 0) != (self.y_test > 0)[:, None]
        for (row, _), errors in zip(fits, wrong.T, strict=True):
            row |= _errors(errors)

    def methods(self, model):
        """The methods that are run on a model."""
        on_part = {
            "loo": "loo_every",
            "kfold_libsvm": "libsvm_every",
            "span_rule_lazy": "libsvm_every",
        }
        return [m for m in METHODS if m not in on_part or on(model, self.settings[on_part[m]])]

    def run_model(self, model, C):
        gram, y, options = self.gram, self.y, self.options
        attempt = partial(self.attempt, model)
        solution, fit = attempt("test", partial(solve_csvc, gram, y, C, **options))
        fit["fold"] = "test"
        if solution is None:
            return [{**fit, "method": method} for method in self.methods(model)], None
        fit |= {
            "n_sv": solution.n_sv,
            "n_inbound": solution.n_inbound,
            "objective": solution.objective,
            "kkt_gap": solution.kkt_gap,
            "n_iter": solution.n_iter,
        }
        # an estimate of an unfinished fit is as unfinished
        unfinished = {} if solution.converged else _unfinished("iteration limit reached")
        fit |= unfinished
        rows = [fit]
        for method, estimate in ESTIMATES.items():
            given = {"sphere": self.sphere} if method == "span_bound" else {}
            result, row = attempt(method, partial(estimate, gram, y, solution, **given))
            if result is not None:
                row |= {**_estimate(method, result), **unfinished}
            rows.append({**row, "fold": "train"})

        cv, row = attempt("kfold", partial(cross_validate, gram, y, C, self.folds, **options))
        if cv is not None:
            row |= {**_errors(cv.errors), "n_iter": cv.n_iter}
            if cv.n_not_converged:
                row |= _unfinished(f"iteration limit reached by {cv.n_not_converged} fits")
        rows.append({**row, "fold": "cv"})
        if on(model, self.settings["loo_every"]):
            rows.append(self.leave_one_out(attempt, C, solution))
        if on(model, self.settings["libsvm_every"]):
            limits = self.gamma, self.settings["tol"], self.settings["cache_mb"]
            errors, row = attempt("kfold_libsvm", partial(libsvm_errors, self.X, y, C, self.folds, *limits))
            rows.append({**row, "fold": "cv", **({} if errors is None else _errors(errors))})
            result, row = attempt("span_rule_lazy", partial(self.span_rule_lazy, C))
            if result is not None:
                lazy, estimate, kernel_values = result
                row |= {**_estimate("span_rule", estimate), "kernel_values": kernel_values}
                row |= {} if lazy.converged else _unfinished("iteration limit reached")
            rows.append({**row, "fold": "train"})
        return rows, solution

    def leave_one_out(self, attempt, C, solution):
        """The row of the exact leave-one-out error, by unlearning from the solution at hand."""
        options = {**self.options, "start": solution.alpha}
        loo, row = attempt("loo", partial(leave_one_out, self.gram, self.y, C, "unlearn", **options))
        if loo is not None:
            row |= {**_errors(loo.errors), "n_iter": loo.n_iter}
            if loo.n_not_converged:
                row |= _unfinished(f"iteration limit reached by {loo.n_not_converged} solutions")
        return {**row, "fold": "loo"}

    def span_rule_lazy(self, C):
        """Fit, its span rule and the kernel values computed, with a cache of LIBSVM's size."""
        memory_mb = self.settings["cache_mb"]
        gram = Gram(self.rows, RBF(self.gamma), dtype="float32", memory_mb=memory_mb)
        solution = solve_csvc(gram, self.y, C, **self.options)
        return solution, span_rule(gram, self.y, solution), gram.kernel_values

    def attempt(self, model, method, run):
        try:
            with timed(self.settings["timing"]) as clock:
                result = run()
        except NUMERICAL_ERRORS as error:
            self.log.error("%s, %s: %s", model, method, traceback.format_exc())
            return None, {"method": method, "status": ERROR, "reason": f"{type(error).__name__}: {error}"}
        return result, {"method": method, "status": OK, "cpu_s": clock.cpu_s, "wall_s": clock.wall_s}


def libsvm_errors(X, y, C, folds, gamma, tol, cache_mb):
    """Errors of k-fold cross-validation with LIBSVM, each fold trained from nothing: bool, shape (m,)."""
    from sklearn.svm import SVC  # here, because it takes two seconds and not every cell needs it

    errors = np.zeros(len(y), dtype=bool)
    for h in range(folds.max() + 1):
        out = folds == h
        svc = SVC(C=1.0, gamma=gamma, tol=tol, cache_size=cache_mb)
        svc.fit(X[~out], y[~out], sample_weight=C[~out])
        errors[out] = svc.predict(X[out]) != y[out]
    return errors


def run_models(
    data,
    identity,
    m,
    axes,
    every,
    part,
    jobs,
    loo_every,
    libsvm_every,
    settings,
    checkpoint,
    log,
    realisation=1,
    features=None,
    score=None,
):
    """Every method on the models of one part of a grid.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    identity : dict
        Columns that name the run: paper, dataset, library, experiment.
    m : int
        Training rows.
    axes, every
        See `stripes`.
    part, jobs : int
        Of the stripes, every `jobs`-th from the `part`-th on, counted from 1: a job has cheap and dear ones.
    loo_every, libsvm_every : int
        The sub-grids of exact leave-one-out and of LIBSVM, see `on`; as `every`, counted on the whole axes.
    settings : dict
        See `Cell`.
    checkpoint : path-like
        File of finished stripes; the caller removes it with the returned object.
    log : logging.Logger
    realisation : int
    features : int, optional
        d in ``gamma = 1/d``; that of the data set by default.
    score : dict, optional
        See `training_part`.

    Returns
    -------
    rows : list of dict
        One per model and method.
    checkpoint : Checkpoint
    """
    X, y, X_test, y_test, q, rows_used = training_part(Dataset.load(data), realisation, m, score)
    identity = {**identity, **rows_used, "kernel": "rbf", "gamma": 1 / (features or X.shape[1])}
    settings = {**settings, "loo_every": loo_every, "libsvm_every": libsvm_every}
    cell = Cell(X, y, X_test, y_test, q, identity["gamma"], settings, log)
    log.info("cell %s, Gram matrix of %d rows in %.3f s of CPU time", identity, m, cell.gram_cpu_s)
    own = stripes(identity["experiment"], axes, every)[part - 1 :: jobs]
    cell.warm_up(libsvm=any(on(model, libsvm_every) for stripe in own for model in stripe))

    def run(stripe):
        with timed("shared") as clock:
            rows = cell.run_stripe(own[stripe])
        failed = sum(row["status"] == ERROR for row in rows)
        status = {"status": ERROR, "reason": f"{failed} runs failed"} if failed else {"status": OK}
        return {**status, "cpu_s": clock.cpu_s, "rows": rows}

    asked = {"score": score, "axes": axes, "every": every, "jobs": jobs, **settings}
    saved = Checkpoint(checkpoint, {**identity, **asked})
    results = run_points([[i] for i in range(len(own))], run, saved, log)
    shared = {
        **identity,
        "tol": settings["tol"],
        "m": m,
        "gram_cpu_s": cell.gram_cpu_s,
        "timing_mode": settings["timing"],
    }
    return [{**shared, **row} for result in results for row in result["rows"]], saved


def _errors(wrong):
    count = int(np.count_nonzero(wrong))
    return {"errors": count, "rows_tested": len(wrong), "estimate": count / len(wrong)}


def _estimate(method, result):
    if method == "span_bound":
        row = {"bound": result.bound, "n_empty": result.n_empty}
        if result.n_not_converged:
            row |= _unfinished(f"iteration limit reached by {result.n_not_converged} spans")
        return row
    row = _errors(result.errors)
    if method == "span_rule":
        row["n_degenerate"] = result.n_without_span + result.n_dependent
    return row


def _unfinished(reason):
    return {"status": NOT_CONVERGED, "reason": reason}
