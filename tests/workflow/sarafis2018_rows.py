"""Rows that the tests of sarafis2018's exhibits and claims share."""

import pandas as pd
from lib.rows import OK
from lib.tolerances import read_published
from papers.sarafis2018.exhibits import (
    draws,
    figure5,
    figure6,
    table1,
    table2,
    table3,
    table4,
    table5,
    table6,
)
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS
from workflow.exhibit_calls import tidy_of

AXES = {"log2_C": [-4, 0, 4], "A": [1, 5], "B": [0, 0.5]}


def made_rows():
    """Two sets with class weights, one with instance weights, and one of two sizes. The span rule has its
    minimum where the test error has, k-fold beside it, the bounds at the other end."""
    rows = []

    def add(experiment, dataset, m, model, distance):
        shared = {"experiment": experiment, "dataset": dataset, "m": m, "gamma": 0.25, "gram_cpu_s": 0.9}
        shared |= {"realisation": 1, "rows_tested": 1000, "status": OK, **model}
        test = 0.1 + 0.02 * distance
        result = {
            "test": {"estimate": test, "cpu_s": 0.1, "n_inbound": 10, "n_sv": 40},
            "span_rule": {"estimate": test + 0.01, "cpu_s": 0.01},
            "span_bound": {"bound": 2 - test, "cpu_s": 0.1, "n_empty": 0},
            "xi_alpha": {"estimate": 0.9 - test, "cpu_s": 0.01},
            "kfold": {"estimate": test + 0.03 - 0.05 * (distance == 1), "cpu_s": 0.3},
            "loo": {"estimate": test + 0.012, "cpu_s": 0.2},
            "kfold_libsvm": {"estimate": test + 0.03 - 0.05 * (distance == 1), "cpu_s": 30.0},
            "span_rule_lazy": {"estimate": test + 0.01, "cpu_s": 0.5},
            "span_rule_qp": {"bound": 0.5, "cpu_s": 0.5},
        }
        rows.extend({**shared, "method": method, **values} for method, values in result.items())

    for experiment, dataset, m in (
        (CLASS_WEIGHTS, "image", 1300),
        (CLASS_WEIGHTS, "splice-libsvm", 1000),
        ("size", "ring", 128),
        ("size", "ring", 256),
    ):
        for i, positive in enumerate((0.5, 1, 2)):
            for j, negative in enumerate((0.5, 1, 2)):
                model = {"C_positive": positive, "C_negative": negative}
                add(experiment, dataset, m, model, abs(i - 1) + abs(j - 1))
    for A in (1, 2):
        for B in (0, 0.5):
            for k, C in enumerate((0.5, 1, 2)):
                add(INSTANCE_WEIGHTS, "bank-marketing", 300, {"A": A, "B": B, "C": C}, k)
    return pd.DataFrame(rows)


TABLES = [table1, table2, table3, table4, table5, table6]


def exhibits(tmp_path, rows, root):
    """Tidy rows of all tables and of Figure 5, and the published ones."""
    tidy = {
        module.__name__.rpartition(".")[2]: tidy_of(tmp_path, module, rows)
        for module in (*TABLES, figure5, figure6, draws)
    }
    return tidy, read_published(root / "workflow/papers/sarafis2018/printed.csv")
