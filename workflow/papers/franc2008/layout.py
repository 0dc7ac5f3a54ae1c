"""Tables for readers: tidy rows arranged as the paper prints them."""

from __future__ import annotations

import pandas as pd

from lib.tables import number
from papers.franc2008.names import ALL_SETS, METHODS

__all__ = ["agreement_layout", "table2_layout", "table3_layout"]

KERNEL_NAMES = {"linear": "Linear kernel", "rbf": "RBF kernel"}


def _lookup(tidy):
    values = tidy.set_index(["dataset", "setting", "method", "metric"])[["value", "spread"]]
    return lambda *key: tuple(values.loc[key])


def _failures(tidy, metric, what):
    """A note that names the data sets and kernels with failures, or none."""
    failed = tidy[(tidy["metric"] == metric) & (tidy["value"] > 0)]
    names = [f"{row.dataset} {row.setting}: {row.value:.0f}" for row in failed.itertuples()]
    return [f"{what}: {', '.join(names)}."] if names else []


def table2_layout(tidy, datasets):
    """Columns, body and notes of Table 2 for `lib.tables.write_markdown` and ``write_tex``."""
    value = _lookup(tidy)
    columns = [("", "Data set")]
    for name in KERNEL_NAMES.values():
        columns += [(name, "LOO error (%)"), (name, "Test error (%)")]
    body = []
    for dataset in datasets:
        cells = [dataset]
        for kernel in KERNEL_NAMES:
            error, _ = value(dataset, kernel, "loo", "loo_error")
            test, sd = value(dataset, kernel, "loo", "test_error")
            cells += [number(error, 2), number(test, 2, sd)]
        body.append(cells)
    notes = [
        "LOO error: mean over the realisations of the smallest leave-one-out error of each. Test error: the "
        "model with "
        "the smallest mean leave-one-out error, trained anew on each realisation; mean ± standard deviation "
        "over the "
        "realisations.",
        *_failures(tidy, "failed_models", "Models without a result, left out of the selection"),
        *_failures(
            tidy, "failed_test_realisations", "Realisations without a test error, left out of the mean"
        ),
    ]
    return columns, body, notes


def table3_layout(tidy, datasets):
    """Columns, body and notes of Table 3, linear kernel first, each kernel with its totals."""
    value = _lookup(tidy)
    columns = [
        ("", "Data set"),
        ("", "Kernel"),
        ("Standard", "CPU time (s)"),
        ("Standard", "Kernel columns (10⁶)"),
        ("Proposed", "Time speed-up"),
        ("Proposed", "Column speed-up"),
        ("Proposed", "Certified (%)"),
        ("Unlearn", "CPU time (s)"),
        ("Unlearn", "Time speed-up"),
        ("Unlearn", "Over proposed"),
        ("Unlearn", "Column speed-up"),
        ("Unlearn", "Resolved (%)"),
    ]
    cells = [
        ("standard", "time"),
        ("standard", "kernel_columns"),
        ("proposed", "time_speedup"),
        ("proposed", "kernel_column_speedup"),
        ("proposed", "certified"),
        ("unlearn", "time"),
        ("unlearn", "time_speedup"),
        ("unlearn", "time_speedup_over_proposed"),
        ("unlearn", "kernel_column_speedup"),
        ("unlearn", "resolved"),
    ]
    body = [
        [dataset, kernel, *(number(value(dataset, kernel, method, metric)[0], 1) for method, metric in cells)]
        for kernel in KERNEL_NAMES
        for dataset in [*datasets, ALL_SETS]
    ]
    notes = [
        "Totals over all realisations and models of the model selection; all sets: ratios of the totals. CPU "
        "time of one thread, without the Gram matrix, which the methods share. Speed-up: standard / method. "
        "Certified: share of the points given to the proposed solver whose sign was certain before eps-KKT. "
        "Resolved: share of the points that no sufficiency check resolved which unlearning decided without "
        "retraining.",
        *_failures(tidy[tidy["dataset"] != ALL_SETS], "failed_runs", "Runs left out because a method failed"),
    ]
    return columns, body, notes


def agreement_layout(agreement, agreement_points, degenerate):
    """Columns, body and notes of the agreement of the methods; every point that differs is a note."""
    columns = [
        ("", "Data set"),
        ("", "Kernel"),
        ("Models", "compared"),
        ("Models", "equal patterns"),
        ("Models", "not compared"),
        ("Points", "compared"),
        ("Points", "differing"),
        ("Points", "degenerate"),
        *(("Wrong by", method) for method in METHODS),
    ]
    body = [[str(value) for value in row] for row in agreement.itertuples(index=False)]
    notes = [
        "A model is compared once per realisation; its pattern says for every training point whether it is "
        "an error. Each point on which methods differ is retrained to a KKT gap of 1e-8, which decides who "
        f"is wrong; it is degenerate if this decision value is at most {degenerate:g} in size."
    ]
    for _, row in agreement_points.iterrows():
        gamma = "" if pd.isna(row["gamma"]) else f", gamma = {row['gamma']:.6g}"
        decisions = ", ".join(
            f"{row[f'{method}_decision']:.3e} ({method})"
            for method in ("exact", *METHODS)
            if not pd.isna(row[f"{method}_decision"])
        )
        notes.append(
            f"{row['dataset']}, {row['kernel']}, realisation {row['realisation']}, C = {row['C']:.6g}{gamma}"
            f", point {row['point']}: decision value {decisions}; an error by: {row['error_by']}; "
            f"{'degenerate' if row['degenerate'] else 'wrong: ' + (row['wrong_by'] or 'undecided')}."
        )
    return columns, body, notes
