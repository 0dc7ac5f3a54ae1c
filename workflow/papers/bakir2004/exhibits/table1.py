"""Table 1: accuracy and support vectors.

Table of the accuracy and the number of support vectors of the SVM and of cross-training on each benchmark
data set, with the printed numbers in brackets, and of MULTIEDIT with CONDENSE.

The kernel is RBF. Its widths and the grids of C are the configuration's, because the paper gives neither. The
SVM's C is chosen by {{ settings["folds"] }}-fold cross-validation on at most {{ settings["cv_rows"] }} of its
training points. Cross-training chooses two values of C (section 4.3 of the paper). The C of the first stage
is the one with the fewest errors outside of the subsets. The C of the final SVM is the one with the fewest
errors on a validation set, which also sets the thresholds; this set is a third as large as a subset. The
final training set is balanced with the points recognised least confidently. Adult: draws of a9a, and all of
its rows but one. Forest: training and test rows of one seeded split of the rows that the mirror has.
``table1.csv`` has times, memory, the values chosen and what was discarded.
"""

import numpy as np

from lib.rows import OK, unpack_bits
from lib.shown import dataset_in_words, setting_in_words
from lib.tables import (
    IN_BRACKETS,
    MISSING,
    arranged,
    beside,
    data_set,
    filled,
    lines_of,
    listed,
    lookup,
    measured,
    number,
    printed_text,
    shown,
)
from papers.bakir2004.exhibits.method_panels import METHOD_NAMES
from papers.bakir2004.exhibits.summaries import MEMORY, SVS, TIME, summary

STAGES = ("cells",)
RUN_TIME = "1.2 h"

METRICS = [
    ("accuracy", lambda rows: 100 * (1 - rows["estimate"]), "percent"),
    SVS,
    TIME,
    ("search_time", lambda rows: rows["search_cpu_s"], "s"),
    MEMORY,
    ("C", lambda rows: rows["value"], ""),
    ("first_C", lambda rows: rows["first_value"], ""),
    ("kept", lambda rows: rows["n_kept"], "count"),
    ("misclassified", lambda rows: rows["n_misclassified"], "count"),
    ("recognised", lambda rows: rows["n_recognised"], "count"),
    ("reinserted", lambda rows: rows["n_reinserted"], "count"),
]
SUBSETS = ("subsets", "subset_size")
SIGNIFICANT = 0.05


def tidy(rows, context):
    """Yield accuracy, support vectors and cost of each data set and method; ``setting`` is the size of the
    training set. ``p_value`` is of a paired test of the errors against those of the SVM. Support vectors and
    time of an SVM that was not run on the growth's data set are `extrapolated` from it, and named so."""
    cells = rows["cells"]
    selected = cells[cells["experiment"] == "table1"]
    selected = selected.assign(setting=selected["m"].map("train={}".format))
    for (dataset, setting), dataset_rows in selected.groupby(["dataset", "setting"], sort=False):
        row_key = {"exhibit": "table1", "dataset": dataset, "setting": setting}
        first = dataset_rows.iloc[0]
        yield measured(row_key, "train_rows", first["m"], "count")
        yield measured(row_key, "test_rows", first["rows_tested"], "count")
        yield measured(row_key, "subsets", first["n_subsets"], "count")
        yield measured(row_key, "subset_size", first["subset_size"], "count")
        yield measured(row_key, "realisations", dataset_rows["realisation"].nunique(), "count")
        for method, method_rows in dataset_rows.groupby("method", sort=False):
            yield from summary({**row_key, "method": method}, method_rows, METRICS)
            if method != "svm":
                p = _paired_test(dataset_rows[dataset_rows["method"] == "svm"], method_rows)
                yield measured({**row_key, "method": method}, "p_value", p, "")
        if "svm" not in set(dataset_rows["method"]):
            for estimate in extrapolated(cells, dataset, first["m"]):
                yield measured({**row_key, "method": "svm"}, *estimate)


def extrapolated(rows, dataset, m):
    """Yield support vectors and CPU time of an SVM at a size of the training set, by a power law through the
    three largest sizes of the growth on this data set, by least squares of the logarithms. A value is a tuple
    of metric, which ends in "_extrapolated", value and unit."""
    selected = rows[
        (rows["experiment"] == "growth") & (rows["dataset"] == dataset) & (rows["method"] == "svm")
    ]
    selected = selected[selected["status"] == OK].sort_values("m").tail(3)
    if len(selected) < 3:
        return
    for metric, column_of, unit in (SVS, TIME):
        slope, at_one = np.polyfit(np.log(selected["m"]), np.log(column_of(selected).astype(float)), 1)
        yield f"{metric}_extrapolated", float(np.exp(at_one + slope * np.log(m))), unit


def _paired_test(svm, other):
    """Return the p-value that two methods err equally often: McNemar's exact test for one realisation, a
    paired t-test over several; NaN if one of them has no result."""
    # imported here, as the Snakefile imports the exhibits, and this takes long
    from scipy.stats import binomtest, ttest_rel

    both = svm[svm["status"] == OK].merge(
        other[other["status"] == OK], on="realisation", suffixes=("", "_other")
    )
    if len(both) == 0:
        return np.nan
    if len(both) > 1:
        return float(ttest_rel(both["errors"], both["errors_other"]).pvalue)
    row = both.iloc[0]
    wrong, wrong_other = (
        unpack_bits(row[name], int(row["rows_tested"])) for name in ("error_pattern", "error_pattern_other")
    )
    only, only_other = np.count_nonzero(wrong & ~wrong_other), np.count_nonzero(wrong_other & ~wrong)
    return float(binomtest(only, only + only_other).pvalue) if only + only_other else 1.0


def table(tidy, context):
    """Return Table 1, with the printed numbers in brackets."""
    ours, printed = lookup(tidy), printed_text(context.published, "table1")

    def accuracy(method):
        text = shown(ours, 1, method, "accuracy")

        def marked(*line):
            return text(*line) + "*" * (ours(*line, method, "p_value")[0] < SIGNIFICANT)

        return beside(marked, printed, method, "accuracy")

    def printed_subsets(*line):
        return " x ".join(filter(None, (printed(*line, "", name) for name in SUBSETS)))

    subsets = filled("{:.0f} x {:.0f}", ours, *(("", name) for name in SUBSETS))

    def with_search(*line):
        times = (ours(*line, "cross_training", metric)[0] for metric in ("search_time", "time"))
        return number(sum(times), 1)

    # the data set; then the methods of the paper; then ours alone, and times
    columns = [
        ("", "Data set", data_set),
        ("", "Training", shown(ours, 0, "", "train_rows", printed=printed)),
        ("", "Test", shown(ours, 0, "", "test_rows", printed=printed)),
        ("", "Subsets", beside(subsets, printed_subsets)),
    ]
    for method in ("svm", "cross_training"):
        svs = _measured_or_guessed(ours, 0, method, "svs")
        columns += [
            (METHOD_NAMES[method], "accuracy (%)", accuracy(method)),
            (METHOD_NAMES[method], "SVs", beside(svs, printed, method, "svs")),
        ]
    method = "multiedit_condense"
    columns += [
        (METHOD_NAMES[method], "accuracy (%)", shown(ours, 1, method, "accuracy")),
        (METHOD_NAMES[method], "SVs", shown(ours, 0, method, "svs")),
        ("CPU time (s)", "SVM", _measured_or_guessed(ours, 1, "svm", "time")),
        ("CPU time (s)", "cross-training", shown(ours, 1, "cross_training", "time")),
        ("CPU time (s)", "with search", with_search),
    ]
    return arranged(lines_of(tidy, "dataset", "setting"), columns, _notes(tidy))


def _measured_or_guessed(find, decimals, method, metric):
    """Return a column of the measured values, or of the extrapolated ones if nothing was measured."""
    measured, guessed = (shown(find, decimals, method, metric + end) for end in ("", "_extrapolated"))

    def text(*line):
        guess = guessed(*line)
        return measured(*line) if guess == MISSING else f"~{guess} (extrapolated)"

    return text


def _notes(tidy):
    """Return notes on realisations, failures and extrapolation."""
    several = tidy[(tidy["metric"] == "realisations") & (tidy["value"] > 1)]
    names = ", ".join(f"{_set_in_words(row)}: {row.value:.0f}" for row in several.itertuples())
    notes = [
        "Means over the realisations"
        + (f" ({names}; one elsewhere). " if names else " (one). ")
        + "*: differs from the SVM with p < 0.05, by McNemar's exact test for one realisation and by a "
        "paired t-test over several. CPU time is of one thread and includes Gram matrices, editing and "
        "training with the values chosen. With search: it also includes the choice of both values of C. "
        f"{IN_BRACKETS}",
        *listed(
            tidy,
            "failed",
            "Realisations on which a method failed",
            lambda row: f"{_set_in_words(row)}, {METHOD_NAMES[row.method]}: {row.value:.0f}",
            between="; ",
        ),
    ]
    if tidy["metric"].str.endswith("_extrapolated").any():
        notes.append(
            "Extrapolated: not run; from a power law through the three largest sizes measured on this data "
            "set for the figure of growth."
        )
    return notes


def _set_in_words(row):
    return f"{dataset_in_words(row.dataset)} with {setting_in_words(row.setting)}"
