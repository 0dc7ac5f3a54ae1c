"""The runs: leave-one-out and test errors on one Gram matrix per cell, as rows.

A cell is one data set, realisation and kernel. Its points share the Gram matrix, which is computed before any
clock starts.
"""

from functools import partial

import numpy as np
import pandas as pd
from svmselect import RBF, Gram, decision_function, leave_one_out, solve_csvc
from svmselect.errors import misclassified

from data.dataset import Dataset
from lib.cell import COST, FIT, Cell, error_count, kernel_of, load_part, taken, unfinished
from lib.joblog import Progress
from lib.rows import OK, SKIPPED, pack_bits
from papers.franc2008.sample import Costs, differing_points
from papers.franc2008.selection import selected_models

# the paper's two methods and ours -> the library's names
METHODS = {"standard": "retrain", "proposed": "certified", "unlearn": "unlearn"}

# how points are resolved without a classifier of their own
CHECKS = ("check1", "check2", "check3")

# KKT gap of the classifiers that decide where methods disagree, and their most steps
EXACT, EXACT_STEPS = 1e-8, 10_000_000


def run_loo(job, realisation, gamma, C, methods, settings):
    """Compute leave-one-out errors by each method (of `METHODS`) for every C of a cell, with the kernel of
    this gamma. One row per C and method.

    The paper's methods solve each model from zero, as its protocol has it. "unlearn" starts from its solution
    of the C before, the alphas scaled by the ratio of the two: bounded SVs stay bounded. The settings are
    ``eps``, the KKT gap at which the paper's methods stop; ``as_published``, whether they take the steps of
    the first author's solver, see `svmselect.leave_one_out`; ``efficiency_test``, the paper's M;
    ``max_iter``, int or None; and, where it is set, ``sample``, the most points that other methods than the
    first solve for.
    """
    cell = _cell(job, realisation, gamma)
    job.warm_up(*(partial(_small, method=METHODS[method]) for method in methods))
    options = {"efficiency_test": settings.efficiency_test, "max_iter": settings.max_iter}
    sampled = {"sample": settings.sample, "rng": realisation} if hasattr(settings, "sample") else {}
    before = dict(zip(C[1:], C, strict=False))
    # what is finished comes from the checkpoint, also that of a job that was killed
    results = {}

    def run(c, method):
        start, alpha = {}, results.get((before.get(c), method), {}).get("alpha")
        if method == "unlearn" and alpha is not None:
            start["start"] = np.minimum(np.array(alpha) * (c / before[c]), c)
        part = {} if method == methods[0] else sampled
        as_published = settings.as_published and method != "unlearn"
        row = _leave_one_out(cell, c, method, settings.eps, as_published, **options, **start, **part)
        return {**row, "start_C": before[c] if start else None}

    points = [(c, method) for c in C for method in methods]
    for point, row in zip(points, job.points(list(map(list, points)), run), strict=True):
        results[point] = row
    for c in C:
        _mark_differences([results[c, method] for method in methods], cell, c)
    return [{**cell.columns, "C": c, **_without_vectors(row)} for (c, _), row in results.items()]


def run_stopping(job, realisation, gamma, C, settings):
    """Compute leave-one-out errors of the standard method for every C and eps of a cell; else as `run_loo`.

    ``settings.eps`` is a list.
    """
    cell = _cell(job, realisation, gamma)

    def run(c, eps):
        row = _leave_one_out(cell, c, "standard", eps, settings.as_published, max_iter=settings.max_iter)
        return _without_vectors(row)

    points = [[c, eps] for c in C for eps in settings.eps]
    results = job.points(points, run)
    return [{**cell.columns, "C": c, **row} for (c, _), row in zip(points, results, strict=True)]


def run_test(job, kernel, realisations, cells, settings):
    """Compute test errors of the selected model of a kernel, trained anew on each realisation. One row per
    realisation.

    `cells` are the rows of leave-one-out, and the errors of the settings' ``method`` there select the model;
    where none succeeded the rows are ``skipped``. For ``eps`` and ``max_iter`` see `run_loo`.
    """
    dataset = Dataset.load(job.data)
    name = job.identity["dataset"]
    model = selected_models(cells, [name], settings.method).set_index("kernel").loc[kernel]
    C, gamma = (None if pd.isna(model[name]) else float(model[name]) for name in ("C", "gamma"))
    job.identity |= {"fold": "test", "kernel": kernel, "C": C, "gamma": gamma}
    job.identity |= {"eps": settings.eps, "tol": settings.eps}
    rows = []
    for realisation in realisations:
        part = load_part(dataset, realisation)
        row = {**part.identity, "m": len(part.y), "rows_tested": len(part.y_test), "method": "retrained"}
        if model["status"] == OK:
            row |= test_error(job, part, kernel_of(gamma), C, settings)
        else:
            row |= {"status": SKIPPED, "reason": f"no model was selected: {model['reason']}"}
        job.log.info("realisation %d: %s, %s errors", realisation, row["status"], row.get("errors"))
        rows.append(row)
    return rows


def _cell(job, realisation, gamma):
    cell = Cell(job, load_part(Dataset.load(job.data), realisation))
    cell.set_kernel(gamma)
    job.identity |= {"fold": "loo", "kernel": cell.columns["kernel"], "gamma": gamma}
    cell.columns["gram_dtype"] = "float64"
    return cell


def _small(X, y, method):
    leave_one_out(Gram(X, RBF(1.0)), y, 1.0, method=method)


def _leave_one_out(cell, C, method, eps, as_published, **options):
    """Run one estimate and return its row, without the columns that the cell's rows share and with two
    vectors that are not written."""
    gram, job = cell.gram, cell.job
    model_name = f"C={C:.6g}, eps={eps:.3g}"
    options |= {"tol": eps, "working_set": "mvp", "as_published": as_published}
    progress = Progress(job.log, f"{model_name}, {method}", "points solved")
    # a clock read for every point would be a part of what it measures
    costs = Costs(gram, progress) if "sample" in options else None
    options |= {"progress": costs or progress}
    loo, row = job.attempt(
        method, lambda: leave_one_out(gram, cell.y, C, method=METHODS[method], **options), model_name
    )
    row |= {"eps": eps, "tol": eps, "rows_tested": gram.m}
    if loo is None:
        return row
    row |= {
        **error_count(loo.errors),
        **({} if costs is None else costs.sample_columns(loo)),
        **taken(loo.solution, *FIT),
        **taken(loo, "n_iter", *COST, "n_solved", "n_not_converged", "n_retrained", "n_certified"),
        **{f"n_{way}": int(np.count_nonzero(loo.resolved_by == way)) for way in CHECKS},
        "min_abs_decision": float(np.abs(loo.decision).min()),
        "error_pattern": pack_bits(loo.errors),
        "decision": loo.decision.tolist(),
        "alpha": loo.solution.alpha.tolist(),
    }
    stopped_early = []
    if not loo.solution.converged:
        stopped_early.append("the solution on all points")
    n_points = loo.n_not_converged - (not loo.solution.converged)
    if n_points:
        stopped_early.append(f"{n_points} of {loo.n_solved} left-out points")
    if stopped_early:
        row |= unfinished("iteration limit reached by " + " and ".join(stopped_early))
    return row


def _without_vectors(row):
    """Return the row as it is written: without the vectors that its cell needed."""
    return {name: value for name, value in row.items() if name not in ("decision", "alpha")}


def _mark_differences(rows, cell, C):
    """Add to each method's row of one model the points on whose error they disagree.

    With them go the decision values of the method, and of the solver trained without the point to `EXACT`.
    """
    rows = [row for row in rows if "error_pattern" in row]
    if not rows:
        return
    points = differing_points(rows, cell.gram.m).tolist()
    exact = [_exact_decision(cell.gram, cell.y, C, point) for point in points]
    for row in rows:
        row["differing_points"] = points
        row["differing_decisions"] = [row["decision"][point] for point in points]
        row["differing_exact"] = exact


def _exact_decision(gram, y, C, point):
    """Return the decision value of a point by the classifier trained without it; NaN if that did not
    converge."""
    bounds = np.full(gram.m, C)
    bounds[point] = 0
    solution = solve_csvc(gram, y, bounds, tol=EXACT, max_iter=EXACT_STEPS)
    return float(solution.decision[point]) if solution.converged else np.nan


def test_error(job, part, kernel, C, settings):
    """Compute the test errors of one model on one part, as columns of its row."""
    gram = Gram(part.X, kernel, dtype="float64").compute()
    options = {"tol": settings.eps, "working_set": "wss2", "max_iter": settings.max_iter}
    solution, row = job.attempt("retrained", partial(solve_csvc, gram, part.y, C, **options), f"C={C:.6g}")
    if solution is not None:
        decision = decision_function(gram, part.y, solution, part.X_test)
        row |= {**error_count(misclassified(part.y_test, decision)), **taken(solution, *FIT, *COST)}
        row |= {} if solution.converged else unfinished("iteration limit reached")
    return row
