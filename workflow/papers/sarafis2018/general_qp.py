"""Each span by a quadratic program: the cost of the general solver that the paper used."""

from functools import partial

import numpy as np
import piqp
from svmselect import solve_csvc, stratified_folds

from lib.cell import Method
from papers.sarafis2018.cells import FOLDS_SEED, cell_of, fold_columns, libsvm_folds
from papers.sarafis2018.readings import fit_with_spans, rows_of

REPEATS = 25  # calls of scikit-learn whose own cost is taken
FAR = 1e3  # bounds of the coefficients, which restrict nothing and which an interior-point method pays for
TOL = 1e-6
# on the diagonal: without it rounding makes a nearly singular matrix indefinite
RIDGE = 1e-8


def squared_span(K, p, inbound):
    """Return the squared span of row p of the matrix K, from the in-bound support vectors other than it, by
    an interior-point method."""
    other_rows = inbound[inbound != p]
    P, c = K[np.ix_(other_rows, other_rows)], -K[other_rows, p]
    ends = np.full(other_rows.size, FAR)
    ridged = P.copy()
    ridged[np.diag_indices(other_rows.size)] += RIDGE
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = TOL
    solver.setup(ridged, c, np.ones((1, other_rows.size)), np.ones(1), x_l=-ends, x_u=ends)
    status = solver.solve()
    if status != piqp.PIQP_SOLVED:
        raise ArithmeticError(f"the span of row {p} among {other_rows.size} others ended with {status}")
    coefficients = solver.result.x
    return float(K[p, p] + coefficients @ P @ coefficients + 2 * c @ coefficients)


def run_general_qp(job, m, part, settings):
    """Measure CPU times of a fit with the span rule by one QP for each support vector, and of LIBSVM's
    cross-validation without scikit-learn's overhead. One row per model and method; ``bound`` is the mean of
    the squared spans.

    Parameters
    ----------
    job, m, part, settings
        See `papers.sarafis2018.cells.run_models`.
    """
    cell, q = cell_of(job, m, settings)
    X, y = cell.part.X, cell.y
    folds = stratified_folds(y, settings.folds, FOLDS_SEED)

    by_qp = fit_with_spans(job, cell, settings, partial(squared_span, cell.gram.matrix()))

    def libsvm(rows, C, assignment):
        return libsvm_folds(
            X[rows], y[rows], C, assignment, range(settings.folds), cell.gram.kernel.gamma, settings
        )

    # two rows of each class in every fold, whose fits cost next to nothing
    few = np.concatenate([np.flatnonzero(y == label)[: 2 * settings.folds] for label in (-1, 1)])
    fold_of_few = np.tile(np.arange(settings.folds), 4)

    def calls():
        return sum(cpu_s for _, cpu_s in libsvm(few, np.ones(few.size), fold_of_few))

    calls()
    overhead = float(np.median([calls() for _ in range(REPEATS)]))
    job.log.info("scikit-learn's calls take %.4f s of CPU time", overhead)

    def beside_calls(C, fit):
        results = libsvm(np.arange(y.size), C, folds)
        return {**fold_columns(results), "cpu_s": sum(cpu_s for _, cpu_s in results) - overhead}

    by_qp(np.ones(m), solve_csvc(cell.gram, y, 1.0))
    methods = [
        Method("span_rule_qp", by_qp, dict, from_fit=True),
        Method("kfold_libsvm", beside_calls, dict, {"fold": "cv"}),
    ]
    return rows_of(cell, q, settings, methods)
