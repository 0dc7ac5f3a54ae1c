"""The runs: stripes of a grid of weights on one Gram matrix, as rows.

Every model is trained once from zero; its test error and all estimates but cross-validation and leave-one-out
come from that one solution. On a sub-grid LIBSVM's cross-validation is run beside it, and the fit and the
span rule once more as LIBSVM pays for its kernel values: on demand, in float32, within its cache.
"""

from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse
from svmselect import (
    Gram,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    stratified_folds,
    xi_alpha,
)

from data.dataset import Dataset
from lib.cell import (
    Cell,
    Method,
    cross_validation,
    error_count,
    estimate_columns,
    estimate_of_fit,
    load_part,
    unfinished,
    unlearning,
    warm_up,
)
from lib.timing import timed
from papers.sarafis2018.grid import on, stripes, weights

# seeds the folds
FOLDS_SEED = 2018

# Estimates of every model; the last three only of models on a sub-grid.
ESTIMATES = {"span_rule": span_rule, "span_bound": span_bound, "xi_alpha": xi_alpha}
LIBSVM, LAZY = "kfold_libsvm", "span_rule_lazy"
METHODS = ("test", *ESTIMATES, "kfold", "loo", LIBSVM, LAZY)
ON_LIBSVM_GRID = (LIBSVM, LAZY)


def unit_range(X, X_test):
    """Return both parts, dense, with each feature scaled linearly from its range over the training part to
    [0, 1]. A feature that is constant there becomes 0, also in the test part."""
    X, X_test = (part if isinstance(part, np.ndarray) else part.toarray() for part in (X, X_test))
    least, width = X.min(axis=0), np.ptp(X, axis=0)
    varies = width > 0
    width = np.where(varies, width, 1)
    return tuple((part - least) / width * varies for part in (X, X_test))


def scores(column, y, scope):
    """Return the importance of the training points, in [0, 1] (the paper's q): a column of scores in their
    own unit, its range scaled to [0, 1]. With the `scope` "positive" only class +1 has scores; those of the
    other class are 1."""
    scored = np.ones(len(y), dtype=bool) if scope == "all" else y > 0
    least, width = column[scored].min(), np.ptp(column[scored])
    return np.where(scored, (column - least) / (width or 1), 1.0)


def training_part(dataset, realisation, m, score=None, scale="training", balanced=False):
    """Return the first m training rows of a realisation and its test rows, features scaled by `unit_range`,
    as a `Part`; and the importance q of its points, if there are scores.

    Parameters
    ----------
    dataset : Dataset
    realisation, m : int
    score : dict, optional
        ``column``, an extra column of the data set, and ``of``, whose scores it holds; see `scores`. A column
        of None stands for minus the distance from the mean of the point's class (Lin and Wang 2002).
    scale : {"training", "all"}
        The rows whose range is scaled.
    balanced : bool
        Whether m / 2 rows of each class are drawn instead, with the realisation as seed, and all others are
        test rows.
    """
    part = load_part(dataset, realisation)
    if m > len(part.y):
        raise ValueError(f"data set {dataset.name!r} has {len(part.y)} training rows, not {m}")
    split = dataset.split(realisation)
    train = split.train[:m]
    part = replace(part, X=part.X[:m], y=part.y[:m])
    if balanced:
        part, train = _balanced(part, np.r_[train, split.test], m, realisation)
    X, X_test = unit_range(part.X, part.X_test)
    if scale == "all":
        both, _ = unit_range(np.vstack([part.X, part.X_test]), part.X_test)
        X, X_test = both[:m], both[m:]
    part = replace(part, X=X, X_test=X_test)
    if score is None:
        return part, None
    name = score["column"]
    column = membership(X, part.y) if name is None else _column(dataset, name)[train]
    return part, scores(column, part.y, score["of"])


def _balanced(part, rows, m, seed):
    """Return a part with m / 2 training rows of each class, and these rows of the data set."""
    X, y = np.vstack([part.X, part.X_test]), np.concatenate([part.y, part.y_test])
    order = np.random.default_rng([FOLDS_SEED, seed]).permutation(len(y))
    train = np.concatenate([order[y[order] == label][: m // 2] for label in (-1, 1)])
    test = np.setdiff1d(order, train)
    return replace(part, X=X[train], y=y[train], X_test=X[test], y_test=y[test]), rows[train]


def membership(X, y):
    """Return minus the distance of each point from the mean of its class: shape (m,)."""
    distance = np.empty(len(y))
    for label in (-1, 1):
        class_rows = X[y == label]
        distance[y == label] = np.linalg.norm(class_rows - class_rows.mean(axis=0), axis=1)
    return -distance


def _column(dataset, name):
    if name not in dataset.extra:
        known = ", ".join(dataset.extra) or "none"
        raise ValueError(
            f"data set {dataset.name!r} has no column {name!r} for scores; its extra columns: {known}"
        )
    return dataset.extra[name]


def cell_of(job, m, settings):
    """Return the first m training rows with their matrix, and the importance of the points, if there are
    scores; see `run_models`."""
    values = {"realisation": 1, "features": None, "score": None, **vars(settings)}
    protocol = {name: values[name] for name in ("score", "scale", "balanced") if name in values}
    rows, q = training_part(Dataset.load(job.data), values["realisation"], m, **protocol)
    cell = Cell(job, rows, settings.memory_mb)
    cell.set_kernel(1 / (values["features"] or rows.X.shape[1]))
    job.identity["tol"] = settings.tol
    return cell, q


def run_models(job, m, part, settings):
    """Run every method on the models of one part of a grid, on the first m training rows. One row per model
    and method.

    The experiment is in the job's identity, see `stripes`; the part has every `jobs`-th stripe from this one
    on, counted from 1, so that a job has cheap and dear ones. The settings are ``axes`` and ``every``, see
    `stripes`; ``jobs``; ``loo_every`` and ``libsvm_every``, the sub-grids of exact leave-one-out and of
    LIBSVM, see `on`, as `every` counted on the whole axes; ``tol``, ``max_iter``, ``folds``; ``memory_mb`` of
    the Gram matrix and ``cache_mb`` of LIBSVM. Optional: ``realisation``, 1; ``features``, d in ``gamma =
    1/d``, that of the data set; ``score``, ``scale`` and ``balanced``, see `training_part`; ``libsvm_folds``,
    how many folds LIBSVM is run on, drawn for each model with its places on the axes as seed.
    """
    cell, q = cell_of(job, m, settings)
    job_stripes = stripes(job.identity["experiment"], settings.axes, settings.every)[
        part - 1 :: settings.jobs
    ]
    warm_up(job, ESTIMATES.values())
    if any(on(model, settings.libsvm_every) for stripe in job_stripes for model in stripe):
        job.warm_up(partial(_small_libsvm, settings))
    options = {"tol": settings.tol, "max_iter": settings.max_iter}
    methods_of = _methods(cell, settings, options)

    def run(stripe):
        models = [
            (
                {name: value for name, value in model.items() if name != "at"},
                weights(model, cell.y, q),
                [method for method in methods_of(model) if on(model, _every(method.name, settings))],
            )
            for model in stripe
        ]
        return cell.run(models, options)

    return job.batches(job_stripes, run)


def _every(method, settings):
    """Return the sub-grid of the models that a method is run on."""
    if method in ON_LIBSVM_GRID:
        return settings.libsvm_every
    return settings.loo_every if method == "loo" else 1


def _methods(cell, settings, options):
    """Return a function of a model that returns all methods but the test error, in the order of `METHODS`."""
    y, X = cell.y, cell.part.X
    given = {"span_bound": {"sphere": smallest_enclosing_sphere(cell.gram)}}
    folds = stratified_folds(y, settings.folds, FOLDS_SEED)
    # with most values 0 a column on demand costs less from sparse rows
    rows = sparse.csr_array(X) if np.count_nonzero(X) < X.size / 4 else X
    kernel, sample = cell.gram.kernel, getattr(settings, "libsvm_folds", None)

    def lazy(C, _):
        gram = Gram(rows, kernel, dtype="float32", memory_mb=settings.cache_mb)
        # what is measured is how many columns SMO asks for
        solution = solve_csvc(gram, y, C, working_set="wss2", **options)
        return solution, span_rule(gram, y, solution), gram.kernel_values

    def libsvm(model):
        drawn = range(settings.folds)
        if sample is not None:
            drawn = (
                np.random.default_rng([FOLDS_SEED, *model["at"]])
                .permutation(settings.folds)[:sample]
                .tolist()
            )

        def run(C, _):
            return libsvm_folds(X, y, C, folds, drawn, kernel.gamma, settings)

        return Method(
            LIBSVM, run, fold_columns if sample is None else partial(_sample_columns, drawn), {"fold": "cv"}
        )

    shared = [estimate_of_fit(cell, name, run, **given.get(name, {})) for name, run in ESTIMATES.items()]
    whole, by_fold = (cross_validation(cell, folds, options, by_fold) for by_fold in (False, True))
    loo, on_demand = unlearning(cell, options), Method(LAZY, lazy, _lazy_columns, {"fold": "train"})

    def methods(model):
        # beside a sample of the folds those of ours are kept apart
        compared = sample is not None and on(model, settings.libsvm_every)
        return [*shared, by_fold if compared else whole, loo, libsvm(model), on_demand]

    return methods


def _lazy_columns(result):
    """Return the columns of a fit, its span rule and the kernel values computed, with a cache of LIBSVM's
    size."""
    solution, rule, kernel_values = result
    stopped = {} if solution.converged else unfinished("iteration limit reached")
    return {**estimate_columns(rule), "kernel_values": kernel_values, **stopped}


def libsvm_folds(X, y, C, folds, drawn, gamma, settings):
    """Run LIBSVM on each fold that is `drawn`, trained on the others from nothing. Return its errors (bool)
    on the rows of the fold and its CPU time, a list of pairs. The settings are ``tol`` and ``cache_mb``."""
    from sklearn.svm import SVC  # here, because it takes two seconds and not every cell needs it

    results = []
    for out in (folds == h for h in drawn):
        with timed("shared") as clock:
            svc = SVC(C=1.0, gamma=gamma, tol=settings.tol, cache_size=settings.cache_mb)
            svc.fit(X[~out], y[~out], sample_weight=C[~out])
            wrong = svc.predict(X[out]) != y[out]
        results.append((wrong, clock.cpu_s))
    return results


def fold_columns(results):
    """Return the columns of the errors that `libsvm_folds` returned."""
    return error_count(np.concatenate([wrong for wrong, _ in results]))


def _sample_columns(drawn, results):
    return {**fold_columns(results), "folds_run": drawn, "fold_cpu_s": [cpu_s for _, cpu_s in results]}


def _small_libsvm(settings, X, y):
    libsvm_folds(X, y, np.ones(y.size), stratified_folds(y, 5), range(5), 1.0, settings)
