"""The runs: one model cross-validated from every seed on one Gram matrix, as rows.

A cell is one data set, its settings and one k. Its seeds share the Gram matrix, which is computed before any
clock starts, and the solver is plain SMO with LIBSVM's rule, so that iterations are LIBSVM's.
"""

from __future__ import annotations

import traceback

import numpy as np
from svmselect import RBF, Gram, cross_validate, solve_csvc
from svmselect.gram import matrix_mb
from svmselect.path import moved_along_C

from lib.checkpoint import Checkpoint, run_points
from lib.joblog import Progress
from lib.rows import ERROR, NOT_CONVERGED, OK
from lib.timing import timed
from papers.wen2017.cache import Cached
from papers.wen2017.problem import CACHE_MB, folds_of, problem, training_rows

__all__ = ["PLAIN_SMO", "run_along_C", "run_cached", "run_seeds"]

PLAIN_SMO = {"working_set": "wss2", "active_set": False}
NEGLIGIBLE = 1e-6  # a kernel value up to this is as good as 0
PANEL = 512  # columns looked at together

# What a numerical method may raise on input it cannot handle: a row says so. Anything else is a fault of the
# program or the machine and ends the job.
NUMERICAL_ERRORS = (ArithmeticError, RuntimeError, ValueError)


def run_seeds(
    data, identity, model, dtype, k, rounds, seedings, tol, max_iter, seed, timing, checkpoint, log
):
    """Cross-validation from each seed, on one Gram matrix that is computed before.

    Parameters
    ----------
    data : path-like
        Prepared data set.
    identity : dict
        Columns that name the run: paper, dataset, library, settings.
    model : dict
        ``C`` and ``gamma``.
    dtype : {"float32", "float64"}
        Of the Gram matrix.
    k : str
        Number of folds, or "loo".
    rounds : int or None
        Only the first so many folds.
    seedings : list of str
        See `svmselect.cross_validate`.
    tol : float
        KKT tolerance, LIBSVM's scale.
    max_iter : int or None
    seed : int
        Of the folds, and of the seeds that draw.
    timing : {"shared", "exclusive"}
    checkpoint : path-like
        File of finished seeds; the caller removes it with the returned object.
    log : logging.Logger

    Returns
    -------
    rows : list of dict
        One per seed.
    checkpoint : Checkpoint
    """
    X, y, identity = problem(data, identity, model, k, tol, seed, timing)
    folds = folds_of(y, k, seed)
    saved = Checkpoint(checkpoint, {**identity, "dtype": dtype, "rounds": rounds, "max_iter": max_iter})
    gram = Gram(X, RBF(model["gamma"]), dtype=dtype, memory_mb=matrix_mb(y.size, dtype))
    with timed("shared") as clock:
        gram.compute()
    log.info("cell %s, %d rows, Gram matrix in %.1f s of CPU time", identity, gram.m, clock.cpu_s)
    largest, share = _off_diagonal(gram)
    _warm_up(gram, y, seedings)

    def run(method):
        return _cross_validation(gram, y, model["C"], folds, method, rounds, tol, max_iter, seed, timing, log)

    results = run_points([[method] for method in seedings], run, saved, log)
    _mark_differences(results, folds)
    shared = {
        **identity,
        "gram_dtype": dtype,
        "gram_cpu_s": clock.cpu_s,
        "kernel_share": share,
        "kernel_largest": largest,
    }
    rows = [
        _without_decision({**shared, "method": method, **result})
        for method, result in zip(seedings, results, strict=True)
    ]
    return rows, saved


def run_cached(data, identity, model, k, rounds, seedings, tol, max_iter, seed, timing, checkpoint, log):
    """Cross-validation from each seed with a cache of 100 MB that is empty before each fit, as in LIBSVM:
    what each fit and its seed pay in kernel values. Else as `run_seeds`.

    The first fold of seeds from the solution of all points finds the columns of that fit in the cache. CPU
    times are those of counting.
    """
    X, y, identity = problem(data, identity, model, k, tol, seed, timing)
    folds = folds_of(y, k, seed)
    saved = Checkpoint(checkpoint, {**identity, "rounds": rounds, "max_iter": max_iter})
    gram = Gram(X, RBF(model["gamma"]), dtype="float32", memory_mb=matrix_mb(y.size, "float32")).compute()

    def run(method):
        options = (rounds, tol, max_iter, seed, timing, log)
        return _cross_validation(Cached(gram, CACHE_MB), y, model["C"], folds, method, *options)

    results = run_points([[method] for method in seedings], run, saved, log)
    shared = {**identity, "gram_dtype": "float32", "cache_mb": CACHE_MB}
    rows = [
        _without_decision({**shared, "method": method, **result})
        for method, result in zip(seedings, results, strict=True)
    ]
    return rows, saved


def run_along_C(data, identity, model, n, k, C, seedings, tol, max_iter, seed, timing, checkpoint, log):
    """Every seed at each C of a path, and the seed along C: each fold starts from its own solution at the C
    before.

    Parameters
    ----------
    n : int
        Most rows to use, drawn at random.
    C : list of float
        Increasing.
    data, identity, model, k, seedings, tol, max_iter, seed, timing, checkpoint, log
        See `run_seeds`.

    Returns
    -------
    rows : list of dict
        One per C and seed, of the whole matrix; and the same with a cache, see `run_cached`.
    checkpoint : Checkpoint
    """
    X, y, identity = problem(data, identity, model, k, tol, seed, timing)
    X, y = training_rows(X, y, n, seed)
    folds = folds_of(y, k, seed)
    saved = Checkpoint(checkpoint, {**identity, "m": y.size, "max_iter": max_iter})
    gram = Gram(X, RBF(model["gamma"]), dtype="float32", memory_mb=matrix_mb(y.size, "float32")).compute()
    _warm_up(gram, y, seedings)

    def run(c, method, cached):
        own = Cached(gram, CACHE_MB) if cached else gram
        return _cross_validation(own, y, c, folds, method, None, tol, max_iter, seed, timing, log)

    points = [[c, method, cached] for cached in (False, True) for c in C for method in seedings]
    results = run_points(points, run, saved, log)
    rows = [
        {"C": c, "method": method, "cache_mb": CACHE_MB if cached else None, **_without_decision(result)}
        for (c, method, cached), result in zip(points, results, strict=True)
    ]
    for cached in (False, True):
        own = Cached(gram, CACHE_MB) if cached else gram
        rows += [
            {"C": c, "method": "path", "cache_mb": CACHE_MB if cached else None, **result}
            for c, result in zip(C, _path(own, y, C, folds, tol, max_iter, timing), strict=True)
        ]
    return [{**identity, "gram_dtype": "float32", **row} for row in rows], saved


def _path(gram, y, Cs, folds, tol, max_iter, timing):
    """Results of the seed along C, one for each C."""
    k = int(folds.max()) + 1
    errors = np.zeros((len(Cs), y.size), dtype=bool)
    n_iter, cpu_s, values, converged = (np.zeros((len(Cs), k)) for _ in range(4))
    for h in range(k):
        out = folds == h
        solution = None
        for c, C in enumerate(Cs):
            if isinstance(gram, Cached):
                gram.empty()
            bound = np.where(out, 0.0, C)
            before = gram.kernel_values
            with timed("shared") as clock:
                start = None if solution is None else moved_along_C(y, solution, bound) * y
                solution = solve_csvc(gram, y, bound, tol=tol, start=start, max_iter=max_iter, **PLAIN_SMO)
            errors[c, out] = ((solution.decision >= 0) != (y > 0))[out]
            n_iter[c, h], cpu_s[c, h] = solution.n_iter, clock.cpu_s
            values[c, h], converged[c, h] = gram.kernel_values - before, solution.converged
    for c in range(len(Cs)):
        yield {
            "k": k,
            "rounds": k,
            "m": y.size,
            "rows_tested": y.size,
            "errors": int(errors[c].sum()),
            "estimate": float(errors[c].mean()),
            "n_iter": int(n_iter[c].sum()),
            "cpu_s": float(cpu_s[c].sum()),
            "training_cpu_s": float(cpu_s[c].sum()),
            "kernel_values": int(values[c].sum()),
            "timing_mode": timing,
            **_status(int(k - converged[c].sum())),
        }


def _off_diagonal(gram):
    """The largest kernel value off the diagonal, and the share of those above `NEGLIGIBLE`."""
    K, largest, count = gram.matrix(), 0.0, 0
    for start in range(0, gram.m, PANEL):
        panel = K[:, start : start + PANEL].copy(order="F")
        panel[np.arange(start, start + panel.shape[1]), np.arange(panel.shape[1])] = 0
        largest = max(largest, float(panel.max()))
        count += int(np.count_nonzero(panel > NEGLIGIBLE))
    return largest, count / (gram.m * (gram.m - 1))


def _warm_up(gram, y, seedings):
    """Pay for page faults and what Python and LAPACK load on first use before any clock starts."""
    solve_csvc(gram, y, 1e-3, tol=1.0, **PLAIN_SMO)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    labels = np.where(X[:, 0] + rng.standard_normal(60) > 0, 1, -1)
    for method in seedings:
        cross_validate(Gram(X, RBF(1.0), dtype=str(gram.dtype)), labels, 1.0, 3, method, **PLAIN_SMO)


def _cross_validation(gram, y, C, folds, method, rounds, tol, max_iter, seed, timing, log):
    """The result of one seed, and the decision values, which are not written."""
    report = Progress(log, f"C={C:.6g}, {method}", "folds")

    def after_fold(done, total):
        report(done, total)
        if isinstance(gram, Cached):
            gram.empty()

    options = {"tol": tol, "max_iter": max_iter, "rounds": rounds, "rng": seed, "progress": after_fold}
    try:
        with timed(timing) as clock:
            cv = cross_validate(gram, y, C, folds, method, **PLAIN_SMO, **options)
    except NUMERICAL_ERRORS as error:
        log.error("C=%r, %s: %s", C, method, traceback.format_exc())
        return {"status": ERROR, "reason": f"{type(error).__name__}: {error}"}
    tested = ~np.isnan(cv.decision)
    return {
        "k": int(folds.max()) + 1,
        "rounds": len(cv.rounds),
        "m": gram.m,
        "rows_tested": int(np.count_nonzero(tested)),
        "errors": int(np.count_nonzero(cv.errors)),
        "estimate": cv.error,
        "n_iter": cv.n_iter,
        "columns_requested": cv.columns_requested,
        "kernel_values": cv.kernel_values,
        "cpu_s": clock.cpu_s,
        "wall_s": clock.wall_s,
        "seeding_cpu_s": cv.seeding_cpu_s,
        "training_cpu_s": cv.training_cpu_s,
        "kkt_gap": max(r.kkt_gap for r in cv.rounds),
        "seed_steps": sum(r.seed_steps for r in cv.rounds),
        "cg_iterations": sum(r.cg_iterations for r in cv.rounds),
        "cg_residual": max(r.cg_residual for r in cv.rounds),
        "full_n_iter": 0 if cv.full is None else cv.full.n_iter,
        "full_cpu_s": cv.full_cpu_s,
        "full_kernel_values": 0 if cv.full is None else cv.full.kernel_values,
        **{
            f"round_{key}": [getattr(r, key) for r in cv.rounds]
            for key in ("n_iter", "seeding_cpu_s", "training_cpu_s", "kernel_values")
        },
        "min_abs_decision": float(np.abs(cv.decision[tested]).min()),
        "decision": cv.decision.tolist(),
        "timing_mode": timing,
        **_status(cv.n_not_converged),
    }


def _status(n_not_converged):
    if n_not_converged:
        reason = f"iteration limit reached by {n_not_converged} fits"
        return {"n_not_converged": n_not_converged, "status": NOT_CONVERGED, "reason": reason}
    return {"n_not_converged": 0, "status": OK}


def _mark_differences(results, folds):
    """Add to each result the points on whose class the cell's seeds disagree, their folds, and the decision
    values there."""
    results = [result for result in results if "decision" in result]
    if not results:
        return
    positive = np.array([np.array(result["decision"]) >= 0 for result in results])
    points = np.flatnonzero(positive.any(axis=0) & ~positive.all(axis=0)).tolist()
    for result in results:
        result["differing_points"] = points
        result["differing_folds"] = folds[points].tolist()
        result["differing_decisions"] = [result["decision"][point] for point in points]


def _without_decision(row):
    """The row as it is written: without the vector that its cell needed."""
    return {name: value for name, value in row.items() if name != "decision"}
