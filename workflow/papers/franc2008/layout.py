"""Tables for readers: tidy rows arranged as the paper prints them."""

import pandas as pd

from lib.shown import dataset_in_words, setting_in_words
from lib.tables import arranged, data_set, listed, lookup, shown
from papers.franc2008.names import ALL_SETS, METHODS

KERNEL_NAMES = {"linear": "Linear kernel", "rbf": "RBF kernel"}
# group and heading of a column of Table 3, and what it shows
TABLE3 = [
    ("Standard", "CPU time (s)", "time"),
    ("Standard", "Kernel columns (10⁶)", "kernel_columns"),
    ("Proposed", "Time speed-up", "time_speedup"),
    ("Proposed", "Column speed-up", "kernel_column_speedup"),
    ("Proposed", "Certified (%)", "certified"),
    ("Unlearn", "CPU time (s)", "time"),
    ("Unlearn", "Time speed-up", "time_speedup"),
    ("Unlearn", "Over proposed", "time_speedup_over_proposed"),
    ("Unlearn", "Column speed-up", "kernel_column_speedup"),
    ("Unlearn", "Resolved (%)", "resolved"),
]


def _failures(tidy, metric, heading):
    """Return a note that names the data sets and kernels with failures, or none."""
    return listed(
        tidy,
        metric,
        heading,
        lambda row: f"{dataset_in_words(row.dataset)}, {setting_in_words(row.setting)}: {row.value:.0f}",
    )


def _kernel(key):
    """Return the name of a kernel in a column of kernels; ``both`` of all sets stays."""
    return {"rbf": "RBF"}.get(key, key)


def table2_layout(tidy, datasets):
    """Return columns, body and notes of Table 2 (see `lib.tables.arranged`)."""
    find = lookup(tidy)
    columns = [("", "Data set", data_set)]
    for kernel, name in KERNEL_NAMES.items():
        columns += [
            (name, "LOO error (%)", shown(find, 2, kernel, "loo", "loo_error")),
            (name, "Test error (%)", shown(find, 2, kernel, "loo", "test_error", spread=True)),
        ]
    notes = [
        "LOO error: mean over the realisations of the smallest leave-one-out error of each. Test error: the "
        "model with the smallest mean leave-one-out error, trained anew on each realisation; mean ± standard "
        "deviation over the realisations.",
        *_failures(tidy, "failed_models", "Models without a result, left out of the selection"),
        *_failures(
            tidy, "failed_test_realisations", "Realisations without a test error, left out of the mean"
        ),
    ]
    return arranged([(dataset,) for dataset in datasets], columns, notes)


def table3_layout(tidy, datasets):
    """Return columns, body and notes of Table 3, linear kernel first, each kernel with its totals."""
    find = lookup(tidy)
    columns = [("", "Data set", data_set), ("", "Kernel", lambda _, kernel: _kernel(kernel))]
    columns += [
        (group, heading, shown(find, 1, group.lower(), metric, spread=True))
        for group, heading, metric in TABLE3
    ]
    notes = [
        "Totals over all realisations and models of the model selection; all sets: ratios of the totals. CPU "
        "time of one thread, without the Gram matrix, which the methods share. Speed-up: standard / method. "
        "Certified: share of the points given to the proposed solver whose sign was certain before eps-KKT. "
        "Resolved: share of the points that no sufficiency check resolved which unlearning decided without "
        "retraining."
    ]
    if tidy["spread"].notna().any():
        notes.append("±: half of the 95 % interval of what was estimated from a sample of the points.")
    failed = tidy[tidy["dataset"] != ALL_SETS]
    notes += _failures(failed, "failed_runs", "Runs left out because a method failed")
    lines = [(dataset, kernel) for kernel in KERNEL_NAMES for dataset in (*datasets, ALL_SETS)]
    return arranged(lines, columns, notes)


def agreement_layout(agreement, agreement_points, degenerate):
    """Return columns, body and notes of the agreement of the methods; every point that differs is a note."""
    columns = [
        ("", "Data set"),
        ("", "Kernel"),
        *(("Models", heading) for heading in ("compared", "equal patterns", "not compared")),
        *(("Points", heading) for heading in ("compared", "differing", "degenerate")),
        *(("Wrong by", method) for method in METHODS),
    ]
    body = [
        [dataset_in_words(name), _kernel(kernel), *map(str, values)]
        for name, kernel, *values in agreement.itertuples(index=False)
    ]
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
            f"{dataset_in_words(row['dataset'])}, {_kernel(row['kernel'])}, "
            f"realisation {row['realisation']}, C = {row['C']:.6g}{gamma}, point {row['point']}: "
            f"decision value {decisions}; an error by: {row['error_by']}; "
            f"{'degenerate' if row['degenerate'] else 'wrong: ' + (row['wrong_by'] or 'undecided')}."
        )
    return columns, body, notes
