"""Table 1 for readers, as the paper prints it, with the published numbers beside ours."""

from lib.shown import dataset_in_words, setting_in_words
from lib.tables import MISSING, arranged, data_set, filled, lines_of, listed, lookup, number, shown

METHOD_NAMES = {
    "svm": "SVM",
    "nu_svm": "nu-SVM",
    "cross_training": "Cross-training",
    "bagging": "Bagging",
    "multiedit_condense": "MULTIEDIT + CONDENSE",
}
SIGNIFICANT = 0.05


def _row(row):
    return f"{dataset_in_words(row.dataset)} with {setting_in_words(row.setting)}"


def table1_layout(tidy, published):
    """Return columns, body and notes of Table 1 (see `lib.tables.arranged`)."""
    ours, theirs = lookup(tidy), lookup(published)

    def measured_or_guessed(decimals, method, metric):
        """Return a column of the measured values, or of the extrapolated ones if nothing was measured."""
        measured, guessed = (shown(ours, decimals, method, metric + end) for end in ("", "_extrapolated"))

        def text(*line):
            guess = guessed(*line)
            return measured(*line) if guess == MISSING else f"~{guess} (extrapolated)"

        return text

    def accuracy(method):
        text = shown(ours, 1, method, "accuracy")
        return lambda *line: text(*line) + "*" * (ours(*line, method, "p_value")[0] < SIGNIFICANT)

    def with_search(*line):
        times = (ours(*line, "cross_training", metric)[0] for metric in ("search_time", "time"))
        return number(sum(times), 1)

    # the data set; then each method beside the published numbers; then ours alone, and times
    columns = [
        ("", "Data set", data_set),
        ("", "Training", filled("{:.0f}", ours, ("", "train_rows"))),
        ("", "Test", filled("{:.0f}", ours, ("", "test_rows"))),
        ("", "Subsets", filled("{:.0f} x {:.0f}", ours, ("", "subsets"), ("", "subset_size"))),
    ]
    for method in ("svm", "cross_training"):
        columns += [
            (METHOD_NAMES[method], "accuracy (%)", accuracy(method)),
            (METHOD_NAMES[method], "published", shown(theirs, 1, method, "accuracy")),
            (METHOD_NAMES[method], "SVs", measured_or_guessed(0, method, "svs")),
            (METHOD_NAMES[method], "published SVs", shown(theirs, 0, method, "svs")),
        ]
    method = "multiedit_condense"
    columns += [
        (METHOD_NAMES[method], "accuracy (%)", shown(ours, 1, method, "accuracy")),
        (METHOD_NAMES[method], "SVs", shown(ours, 0, method, "svs")),
        ("CPU time (s)", "SVM", measured_or_guessed(1, "svm", "time")),
        ("CPU time (s)", "cross-training", shown(ours, 1, "cross_training", "time")),
        ("CPU time (s)", "with search", with_search),
    ]
    # notes: realisations, failures, extrapolation
    several = tidy[(tidy["metric"] == "realisations") & (tidy["value"] > 1)]
    names = ", ".join(f"{_row(row)}: {row.value:.0f}" for row in several.itertuples())
    notes = [
        "Means over the realisations"
        + (f" ({names}; one elsewhere). " if names else " (one). ")
        + "*: a difference from the SVM with p < 0.05, by McNemar's exact test for one realisation and by a "
        "paired t-test over several. CPU time of one thread: Gram matrices, editing and training with the "
        "values chosen; with search: the choice of both values of C as well.",
        *listed(
            tidy,
            "failed",
            "Realisations on which a method failed",
            lambda row: f"{_row(row)}, {METHOD_NAMES[row.method]}: {row.value:.0f}",
            between="; ",
        ),
    ]
    if tidy["metric"].str.endswith("_extrapolated").any():
        notes.append(
            "Extrapolated: a power law through the three largest measured sizes of the growth on this data "
            "set; not a run."
        )
    return arranged(lines_of(tidy, "dataset", "setting"), columns, notes)
