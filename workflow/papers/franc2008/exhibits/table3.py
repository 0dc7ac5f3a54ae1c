"""Table 3: cost of the standard and of the proposed method.

Table of the cost of the model selection with the standard approach, and of the speed-up of the proposed one
and of unlearning, per data set and kernel and in total; the printed numbers are in brackets.

Totals are over {{ settings["realisations"] }} realisations and all models of the kernel. Each method solves
the full problem itself. Standard and proposed start from zero; unlearning starts from its solution at the C
before and stops at a KKT gap of 1e-9. Kernel columns are those that the solver asked for, whether or not they
were stored. Once the efficiency test (M = {{ settings["efficiency_test"] }}) gives the certificate up, the
points that proposed solves count as not certified. ``table3.csv`` has the share of unlearning whose sign was
certain before the end of the path, and the number of runs that failed or did not converge. Times were taken
once: their spread between runs is not shown.
"""

from itertools import product

import numpy as np

from lib.rows import OK
from lib.sample import half_width
from lib.tables import IN_BRACKETS, arranged, data_set, lookup, measured, printed_text, shown
from papers.franc2008.exhibits.words import KERNEL_NAMES, failures, kernel_in_words
from papers.franc2008.names import ALL_SETS, KERNELS, METHODS, MODEL
from papers.franc2008.sample import COUNTED, for_all_points

STAGES = ("cells",)
RUN_TIME = "1.7 h"

COSTS = ["cpu_s", "columns_requested", *COUNTED]
VARIANCES = ["cpu_s_variance", "columns_requested_variance"]
# group and heading of a column, and what it shows
COLUMNS = [
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


def tidy(rows, context):
    return costs(rows["cells"], context.settings["datasets"])


def costs(rows, datasets):
    """Yield the cost of a whole model selection by the methods that were run: totals over realisations and
    models on which every method succeeded, also over all data sets (data set `ALL_SETS`).

    ``time`` is CPU time without the Gram matrix. The speed-ups of a method are standard / method;
    ``time_speedup_over_proposed`` is proposed / method. Of the points that no sufficiency check resolved
    (``solved_points``), ``certified`` is the share whose sign was certain before eps-KKT (proposed) or the
    end of the path (unlearn), ``resolved`` the share that was not retrained. Without a success, or without
    the method, values are missing. Where a method solved for a sample of the points, totals are estimates for
    all: the spread of times, columns and speed-ups is half of their 95 % interval.
    """
    for dataset, kernel in product([*datasets, ALL_SETS], KERNELS):
        selected = rows if dataset == ALL_SETS else rows[rows["dataset"] == dataset]
        total, n_runs, n_failed = _totals(selected[selected["kernel"] == kernel])
        row_key = {"exhibit": "table3", "dataset": dataset, "setting": kernel}
        for method in METHODS:
            here, cost = {**row_key, "method": method}, total.loc[method]
            shares = 100 * cost / (cost["n_solved"] or np.nan)
            yield _total(here, "time", cost, "cpu_s", "s")
            yield _total(here, "kernel_columns", cost, "columns_requested", "1e6", 1e6)
            yield measured(here, "solved_points", cost["n_solved"], "count")
            if method == "standard":
                continue
            standard = total.loc["standard"]
            yield _speedup(here, "time_speedup", standard, cost, "cpu_s")
            yield _speedup(here, "kernel_column_speedup", standard, cost, "columns_requested")
            yield measured(here, "certified", shares["n_certified"], "percent")
            if method == "unlearn":
                yield _speedup(here, "time_speedup_over_proposed", total.loc["proposed"], cost, "cpu_s")
                yield measured(here, "resolved", 100 - shares["n_retrained"], "percent")
                yield measured(here, "retrained_points", cost["n_retrained"], "count")
        yield measured({**row_key, "method": "all"}, "runs", n_runs, "count")
        yield measured({**row_key, "method": "all"}, "failed_runs", n_failed, "count")


def _total(row_key, metric, cost, name, unit, per=1):
    value = cost[name] / per
    return measured(row_key, metric, value, unit, half_width(value, (cost[name], cost[f"{name}_variance"])))


def _speedup(row_key, metric, other, cost, name):
    ratio = other[name] / (cost[name] or np.nan)
    parts = ((total[name], total[f"{name}_variance"]) for total in (other, cost))
    return measured(row_key, metric, ratio, "ratio", half_width(ratio, *parts))


def _totals(rows):
    """Return the cost columns summed over the runs on which every method succeeded, by method; the number of
    these runs, and that of the others.

    Methods that were not run have NaN, as have all where no run succeeded.
    """
    runs = rows.assign(ok=rows["status"] == OK).groupby(MODEL, dropna=False)["ok"]
    ok = runs.transform("all").astype(bool)
    # NaN, not 0, where there is nothing to add
    by_method = for_all_points(rows[ok]).groupby("method")[COSTS + VARIANCES]
    total = by_method.sum(min_count=1).astype(float).reindex(METHODS)
    n_runs = int(runs.all().sum())
    return total, n_runs, runs.ngroups - n_runs


def table(tidy, context):
    """Return the costs, linear kernel first, each kernel with its totals."""
    find, printed = lookup(tidy), printed_text(context.published, "table3")
    columns = [("", "Data set", data_set), ("", "Kernel", lambda _, kernel: kernel_in_words(kernel))]
    columns += [
        (group, heading, shown(find, 1, group.lower(), metric, spread=True, printed=printed))
        for group, heading, metric in COLUMNS
    ]
    notes = [
        "Totals over all realisations and models of the selection. CPU times are of one thread, without "
        "the Gram matrix, which the methods share. Speed-up: standard / method; over proposed: proposed / "
        "unlearn; all sets: ratios of the sums. Certified and resolved are percentages of the points that "
        "no sufficiency check resolved. Certified: the sign was certain before the eps-KKT conditions held. "
        f"Resolved: unlearning decided without retraining. {IN_BRACKETS}"
    ]
    if tidy["spread"].notna().any():
        notes.append("±: half of the 95 % interval of a total that is estimated from a sample of the points.")
    notes += failures(
        tidy[tidy["dataset"] != ALL_SETS], "failed_runs", "Runs left out because a method failed"
    )
    datasets = (*context.settings["datasets"], ALL_SETS)
    lines = [(dataset, kernel) for kernel in KERNEL_NAMES for dataset in datasets]
    return arranged(lines, columns, notes)
