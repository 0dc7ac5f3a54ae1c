"""The runs: one model cross-validated from every seed on one Gram matrix, as rows.

A cell is one data set, its settings and one k. Its seeds share the Gram matrix, which is computed before any
clock starts, and the solver is plain SMO with LIBSVM's rule, so that iterations are LIBSVM's.
"""

import numpy as np
from svmselect import RBF, Gram, cross_validate, solve_csvc
from svmselect.errors import misclassified
from svmselect.gram import matrix_mb
from svmselect.path import moved_along_C

from lib.cell import COST, error_count, taken, unfinished
from lib.joblog import Progress
from lib.rows import OK
from lib.timing import timed
from papers.wen2017.cache import Cached
from papers.wen2017.problem import CACHE_MB, problem

PLAIN_SMO = {"working_set": "wss2", "active_set": False}
NEGLIGIBLE = 1e-6  # a kernel value up to this is as good as 0
PANEL = 512  # columns looked at together


def run_seeds(job, k, model, seedings, settings, choice=None):
    """Cross-validate from each seed, on one Gram matrix that is computed before. One row per seed.

    For k, model, choice and the settings ``tol`` and ``seed``, also of the seeds that draw, see
    `papers.wen2017.problem.problem`; for the seeds see `svmselect.cross_validate`. Further settings are
    ``dtype`` of the Gram matrix; ``rounds``, int or None: only the first so many folds, which are a sample as
    rows are assigned at random; ``max_iter``, int or None. Optional: ``sample``, the most folds of some seeds
    (dict of int).
    """
    cv_problem = problem(job, k, model, settings, choice)
    gram = _gram(cv_problem, settings.dtype)
    with timed("shared") as clock:
        gram.compute()
    job.log.info("cell %s, %d rows, Gram matrix in %.1f s of CPU time", job.identity, gram.m, clock.cpu_s)
    largest, share = _off_diagonal(gram)
    _warm_up(job, gram, cv_problem.y, seedings)

    def run(method):
        return _cross_validation(job, gram, cv_problem, cv_problem.C, method, settings)

    results = list(job.points([[method] for method in seedings], run))
    _mark_differences(results, cv_problem.folds)
    shared = {
        "gram_dtype": settings.dtype,
        "gram_cpu_s": clock.cpu_s,
        "kernel_share": share,
        "kernel_largest": largest,
    }
    return [{**shared, **_without_decision(result)} for result in results]


def run_unlearning(job, k, model, settings, choice=None):
    """Cross-validate by unlearning the folds, in a cell of its own, so that the cells of the seeds stay as
    they are. One row; else as `run_seeds`."""
    return run_seeds(job, k, model, ["unlearn"], settings, choice)


def run_cached(job, k, model, seedings, settings, choice=None):
    """Cross-validate from each seed with a cache of 100 MB that is empty before each fit, as in LIBSVM, and
    count the kernel values of each fit and its seed. Else as `run_seeds`, in single precision.

    The first fold of seeds from the solution of all points finds the columns of that fit in the cache. CPU
    times are those of counting.
    """
    cv_problem = problem(job, k, model, settings, choice)
    gram = _gram(cv_problem, "float32").compute()

    def run(method):
        return _cross_validation(job, Cached(gram, CACHE_MB), cv_problem, cv_problem.C, method, settings)

    results = job.points([[method] for method in seedings], run)
    shared = {"gram_dtype": "float32", "cache_mb": CACHE_MB}
    return [{**shared, **_without_decision(result)} for result in results]


def run_along_C(job, k, C, seedings, settings, choice):
    """Run every seed at each C (increasing) of a path, and the seed along C: each fold starts from its own
    solution at the C before. One row per C and seed, on the whole matrix, and as many with a cache, see
    `run_cached`.

    Settings are those of `run_seeds` without ``dtype`` and ``rounds``, and ``rows``: at most so many, drawn
    at random.
    """
    cv_problem = problem(job, k, None, settings, choice)
    gram = _gram(cv_problem, "float32").compute()
    _warm_up(job, gram, cv_problem.y, seedings)

    def run(c, method, cached):
        return _cross_validation(job, _cached(gram, cached), cv_problem, c, method, settings)

    points = [[c, method, cached] for cached in (False, True) for c in C for method in seedings]
    results = job.points(points, run)
    rows = [
        {"C": c, "cache_mb": CACHE_MB if cached else None, **_without_decision(result)}
        for (c, _, cached), result in zip(points, results, strict=True)
    ]
    for cached in (False, True):
        path = _path(_cached(gram, cached), cv_problem, C, settings)
        rows += [
            {"C": c, "method": "path", "cache_mb": CACHE_MB if cached else None, **result}
            for c, result in zip(C, path, strict=True)
        ]
    return [{"gram_dtype": "float32", **row} for row in rows]


def _gram(cv_problem, dtype):
    return Gram(
        cv_problem.X, RBF(cv_problem.gamma), dtype=dtype, memory_mb=matrix_mb(cv_problem.y.size, dtype)
    )


def _cached(gram, cached):
    return Cached(gram, CACHE_MB) if cached else gram


def _path(gram, cv_problem, Cs, settings):
    """Yield the results of the seed along C, one for each C."""
    y, folds = cv_problem.y, cv_problem.folds
    k = int(folds.max()) + 1
    options = {"tol": settings.tol, "max_iter": settings.max_iter}
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
                solution = solve_csvc(gram, y, bound, start=start, **options, **PLAIN_SMO)
            errors[c, out] = misclassified(y, solution.decision)[out]
            n_iter[c, h], cpu_s[c, h] = solution.n_iter, clock.cpu_s
            values[c, h], converged[c, h] = gram.kernel_values - before, solution.converged
    for c in range(len(Cs)):
        yield {
            "k": k,
            "rounds": k,
            **error_count(errors[c]),
            "n_iter": int(n_iter[c].sum()),
            "cpu_s": float(cpu_s[c].sum()),
            "training_cpu_s": float(cpu_s[c].sum()),
            "kernel_values": int(values[c].sum()),
            **status(int(k - converged[c].sum())),
        }


def _off_diagonal(gram):
    """Return the largest kernel value off the diagonal, and the share of those above `NEGLIGIBLE`."""
    K, largest, count = gram.matrix(), 0.0, 0
    for start in range(0, gram.m, PANEL):
        panel = K[:, start : start + PANEL].copy(order="F")
        panel[np.arange(start, start + panel.shape[1]), np.arange(panel.shape[1])] = 0
        largest = max(largest, float(panel.max()))
        count += int(np.count_nonzero(panel > NEGLIGIBLE))
    return largest, count / (gram.m * (gram.m - 1))


def _warm_up(job, gram, y, seedings):
    """Pay for page faults and what Python and LAPACK load on first use before any clock starts."""
    solve_csvc(gram, y, 1e-3, tol=1.0, **PLAIN_SMO)

    def run(X, y):
        for method in seedings:
            cross_validate(Gram(X, RBF(1.0), dtype=str(gram.dtype)), y, 1.0, 3, method, **PLAIN_SMO)

    job.warm_up(run)


def _cross_validation(job, gram, cv_problem, C, method, settings):
    """Run one seed and return its result, with the decision values, which are not written."""
    model_name = f"C={C:.6g}"
    report = Progress(job.log, f"{model_name}, {method}", "folds")

    def after_fold(done, total):
        report(done, total)
        if isinstance(gram, Cached):
            gram.empty()

    # run under the clock
    options = {
        "tol": settings.tol,
        "max_iter": settings.max_iter,
        "rounds": _rounds(method, settings),
        "rng": settings.seed,
        "progress": after_fold,
        **PLAIN_SMO,
    }
    cv, row = job.attempt(
        method, lambda: cross_validate(gram, cv_problem.y, C, cv_problem.folds, method, **options), model_name
    )
    if cv is None:
        return row
    # columns of the row: counts, costs in total and by round, decision values
    tested = ~np.isnan(cv.decision)
    return {
        **row,
        "k": int(cv_problem.folds.max()) + 1,
        "rounds": len(cv.rounds),
        "rows_tested": int(np.count_nonzero(tested)),
        "errors": int(np.count_nonzero(cv.errors)),
        "estimate": cv.error,
        **taken(cv, "n_iter", *COST, "seeding_cpu_s", "training_cpu_s", "full_cpu_s"),
        "kkt_gap": max(r.kkt_gap for r in cv.rounds),
        "seed_steps": sum(r.seed_steps for r in cv.rounds),
        "cg_iterations": sum(r.cg_iterations for r in cv.rounds),
        "cg_residual": max(r.cg_residual for r in cv.rounds),
        "full_n_iter": 0 if cv.full is None else cv.full.n_iter,
        "full_kernel_values": 0 if cv.full is None else cv.full.kernel_values,
        **{
            f"round_{key}": [getattr(r, key) for r in cv.rounds]
            for key in ("n_iter", "seeding_cpu_s", "training_cpu_s", "kernel_values")
        },
        "min_abs_decision": float(np.abs(cv.decision[tested]).min()),
        "decision": cv.decision.tolist(),
        **status(cv.n_not_converged),
    }


def _rounds(method, settings):
    """Return how many folds a seed is run on; None for all of them."""
    most = [getattr(settings, "rounds", None), getattr(settings, "sample", {}).get(method)]
    return min((number for number in most if number is not None), default=None)


def status(n_not_converged):
    """Return columns that say how many fits did not converge."""
    stopped = unfinished(f"iteration limit reached by {n_not_converged} fits") if n_not_converged else {}
    return {"n_not_converged": n_not_converged, "status": OK, **stopped}


def _mark_differences(results, folds):
    """Add to each result the points on whose class the cell's seeds disagree, their folds, and the decision
    values there. A point counts if all seeds have left it out."""
    results = [result for result in results if "decision" in result]
    if not results:
        return
    decisions = np.array([result["decision"] for result in results])
    positive, tested = decisions >= 0, ~np.isnan(decisions).any(axis=0)
    points = np.flatnonzero(tested & positive.any(axis=0) & ~positive.all(axis=0)).tolist()
    for result in results:
        result["differing_points"] = points
        result["differing_folds"] = folds[points].tolist()
        result["differing_decisions"] = [result["decision"][point] for point in points]


def _without_decision(row):
    """Return the row as it is written: without the vector that its cell needed."""
    return {name: value for name, value in row.items() if name != "decision"}
