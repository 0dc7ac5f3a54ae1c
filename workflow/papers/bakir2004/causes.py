"""Variants of the protocol for results that ours miss."""

from functools import partial

import numpy as np
from sklearn.svm import SVC
from svmselect import RBF, Gram, solve_csvc
from svmselect.errors import misclassified

from data.dataset import Dataset
from lib.cell import error_count
from lib.exhibits import Context
from lib.plan import Cell, Run
from lib.rows import OK
from lib.tables import averaged
from papers.bakir2004.exhibits import figure3, table1
from papers.bakir2004.problem import dataset_problem

PRINTED_DEVIATION = "gaussians 4"


def table1_of_cells(rows):
    """Return Table 1 of the rows of a variant."""
    return table1.tidy({"cells": rows}, Context())


def figure3_of_deviation(rows):
    """Yield Figure 3 of classes with another deviation, in place of the printed one."""
    for row in figure3.tidy({"cells": rows}, Context()):
        yield {**row, "dataset": PRINTED_DEVIATION}


def table1_of_splice(rows):
    """Yield Table 1 of another file of splice, in place of splice."""
    for row in table1_of_cells(rows):
        yield {**row, "dataset": "splice"}


def draws_of_table1(rows):
    """Yield the deviations of Table 1's results from draw to draw: of the rows, of the subsets, and of the
    folds or validation rows that choose C."""
    for row in table1_of_cells(rows):
        if row["metric"] in ("accuracy", "svs") and np.isfinite(row["spread"]):
            yield row


# The model of the SVM on all rows of adult: kernel width and C that cross-validation chooses (Table 1).
ADULT = {"train_rows": 32560, "gamma": 0.05, "C": 1.0}
# SMO by two rules over all rows and stored columns, and blocks of rows
WORKING_SETS = {"mvp": "mvp", "wss2": "wss2", "blocks": None}
GRAM_MB, LIBSVM_MB = 4200, 1000  # memory of the whole matrix in single precision, and of LIBSVM's columns


def plan_solvers_of_adult(config, registry):
    """Return the run that fits one model by several solvers, each to the gap of the paper's section."""
    cells = {"adult": Cell("adult", arguments=ADULT, mem_mb=GRAM_MB + LIBSVM_MB + 2500, minutes=30)}
    settings = {"tol": config["bakir2004"]["tol"], "timing": config["timing"]}
    return Run("solvers", "causes.run_solvers", "TEST_ROWS", cells, settings)


def run_solvers(job, train_rows, gamma, C, settings):
    """Count the support vectors of one model, and its training errors, by each solver: one row of each."""
    problem = dataset_problem(Dataset.load(job.data), 1, train_rows)
    y, shared = problem.y, {"fold": "train", "kernel": "rbf", "gamma": gamma, "C": C, "tol": settings.tol}

    def libsvm():
        machine = SVC(C=C, gamma=gamma, tol=settings.tol, cache_size=LIBSVM_MB).fit(problem.X, y)
        return machine.predict(problem.X), int(machine.n_support_.sum()), int(machine.n_iter_[0])

    def ours(working_set):
        gram = Gram(problem.X, RBF(gamma), dtype="float32", memory_mb=GRAM_MB)
        fit = solve_csvc(gram, y, C, tol=settings.tol, working_set=working_set)
        return fit.decision, fit.n_sv, fit.n_iter

    solvers = {"libsvm": libsvm} | {name: partial(ours, rule) for name, rule in WORKING_SETS.items()}
    rows = []
    for name, solve in solvers.items():
        fitted, cost = job.attempt(name, solve, f"C = {C:g}")
        row = {**problem.identity, **shared, "m": y.size, **cost}
        if fitted is not None:
            decision, n_sv, n_iter = fitted
            row |= {**error_count(misclassified(y, decision)), "n_sv": n_sv, "n_iter": n_iter}
        rows.append(row)
    return rows


def solvers_of_table1(rows):
    """Yield the mean of the numbers of support vectors that several solvers count, and their deviation."""
    for (dataset, m), group in rows[rows["status"] == OK].groupby(["dataset", "m"]):
        row_key = {"exhibit": "table1", "dataset": dataset, "setting": f"train={m}", "method": "svm"}
        yield averaged(row_key, "svs", group["n_sv"], "count")
