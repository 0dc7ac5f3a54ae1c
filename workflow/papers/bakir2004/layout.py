"""Table 1 for readers, as the paper prints it, with the published numbers beside ours."""

import pandas as pd

from lib.tables import arranged, lookup, named, number

METHOD_NAMES = {
    "svm": "SVM",
    "nu_svm": "nu-SVM",
    "cross_training": "Cross-training",
    "bagging": "Bagging",
    "multiedit_condense": "MULTIEDIT + CONDENSE",
}
SIGNIFICANT = 0.05


def table1_layout(tidy, published):
    """Columns, body and notes of Table 1 (see `lib.tables.arranged`)."""
    ours, theirs = lookup(tidy), lookup(published)

    def of_set(pattern, *metrics):
        return lambda *at: pattern.format(*(ours(*at, "", metric)[0] for metric in metrics))

    def printed(method, metric, decimals):
        return lambda *at: number(theirs(*at, method, metric)[0], decimals)

    def shown(method, metric, decimals):
        def text(*at):
            (value, _), (guess, _) = (ours(*at, method, metric + end) for end in ("", "_extrapolated"))
            if pd.isna(value) and not pd.isna(guess):
                return f"~{number(guess, decimals)} (extrapolated)"
            star = "*" if metric == "accuracy" and ours(*at, method, "p_value")[0] < SIGNIFICANT else ""
            return number(value, decimals) + star

        return text

    def with_search(*at):
        times = (ours(*at, "cross_training", metric)[0] for metric in ("search_time", "time"))
        return number(sum(times), 1)

    columns = [
        ("", "Data set", lambda dataset, _: dataset),
        ("", "Training", of_set("{:.0f}", "train_rows")),
        ("", "Test", of_set("{:.0f}", "test_rows")),
        ("", "Subsets", of_set("{:.0f} x {:.0f}", "subsets", "subset_size")),
    ]
    for method in ("svm", "cross_training"):
        columns += [
            (METHOD_NAMES[method], "accuracy (%)", shown(method, "accuracy", 1)),
            (METHOD_NAMES[method], "published", printed(method, "accuracy", 1)),
            (METHOD_NAMES[method], "SVs", shown(method, "svs", 0)),
            (METHOD_NAMES[method], "published SVs", printed(method, "svs", 0)),
        ]
    method = "multiedit_condense"
    columns += [
        (METHOD_NAMES[method], "accuracy (%)", lambda *at: number(ours(*at, method, "accuracy")[0], 1)),
        (METHOD_NAMES[method], "SVs", shown(method, "svs", 0)),
        ("CPU time (s)", "SVM", shown("svm", "time", 1)),
        ("CPU time (s)", "cross-training", shown("cross_training", "time", 1)),
        ("CPU time (s)", "with search", with_search),
    ]
    several = tidy[(tidy["metric"] == "realisations") & (tidy["value"] > 1)]
    names = ", ".join(f"{row.dataset} {row.setting}: {row.value:.0f}" for row in several.itertuples())
    notes = [
        "Means over the realisations"
        + (f" ({names}; one elsewhere). " if names else " (one). ")
        + "*: a difference from the SVM with p < 0.05, by McNemar's exact test for one realisation and by a "
        "paired t-test over several. CPU time of one thread: Gram matrices, editing and training with the "
        "values chosen; with search: the choice of both values of C as well."
    ]
    failures = named(
        tidy,
        "failed",
        lambda row: f"{row.dataset} {row.setting}, {METHOD_NAMES[row.method]}: {row.value:.0f}",
    )
    if failures:
        notes.append(f"Realisations on which a method failed: {'; '.join(failures)}.")
    if tidy["metric"].str.endswith("_extrapolated").any():
        notes.append(
            "Extrapolated: a power law through the three largest measured sizes of the growth on this data "
            "set; not a run."
        )
    return arranged(dict.fromkeys(zip(tidy["dataset"], tidy["setting"], strict=True)), columns, notes)
