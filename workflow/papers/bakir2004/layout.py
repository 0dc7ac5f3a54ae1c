"""Table 1 for readers, as the paper prints it, with the published numbers beside ours."""

from __future__ import annotations

from lib.tables import number

__all__ = ["METHOD_NAMES", "table1_layout"]

METHOD_NAMES = {
    "svm": "SVM",
    "nu_svm": "nu-SVM",
    "cross_training": "Cross-training",
    "bagging": "Bagging",
    "multiedit_condense": "MULTIEDIT + CONDENSE",
}
SIGNIFICANT = 0.05


def table1_layout(tidy, published):
    """Columns, body and notes of Table 1 for `lib.tables.write_markdown` and ``write_tex``."""
    ours, theirs = (
        # what is about the data set alone has no method
        frame.fillna({"method": ""}).set_index(["dataset", "setting", "method", "metric"])["value"]
        for frame in (tidy, published)
    )
    columns = [("", "Data set"), ("", "Training"), ("", "Test"), ("", "Subsets")]
    for method in ("svm", "cross_training"):
        name = METHOD_NAMES[method]
        columns += [(name, "accuracy (%)"), (name, "published"), (name, "SVs"), (name, "published SVs")]
    name = METHOD_NAMES["multiedit_condense"]
    columns += [(name, "accuracy (%)"), (name, "SVs")]
    columns += [("CPU time (s)", "SVM"), ("CPU time (s)", "cross-training"), ("CPU time (s)", "with search")]
    body, failures = [], []
    for dataset, setting in dict.fromkeys(zip(tidy["dataset"], tidy["setting"], strict=True)):

        def value(method, metric, values=ours, key=(dataset, setting)):
            return values.get((*key, method, metric))

        def shown(method, metric, decimals, value=value):
            found = value(method, metric)
            if found is None and (guess := value(method, f"{metric}_extrapolated")) is not None:
                return f"~{number(guess, decimals)} (extrapolated)"
            return number(found, decimals)

        cells = [
            dataset,
            *(f"{value('', metric):.0f}" for metric in ("train_rows", "test_rows")),
            f"{value('', 'subsets'):.0f} x {value('', 'subset_size'):.0f}",
        ]
        for method in ("svm", "cross_training"):
            star = "*" if (p := value(method, "p_value")) is not None and p < SIGNIFICANT else ""
            cells += [
                shown(method, "accuracy", 1) + star,
                number(value(method, "accuracy", theirs), 1),
                shown(method, "svs", 0),
                number(value(method, "svs", theirs), 0),
            ]
        cells += [shown("multiedit_condense", metric, k) for metric, k in (("accuracy", 1), ("svs", 0))]
        cells += [shown(method, "time", 1) for method in ("svm", "cross_training")]
        search = value("cross_training", "search_time")
        cells.append(number(None if search is None else search + value("cross_training", "time"), 1))
        body.append(cells)
    failed = tidy[(tidy["metric"] == "failed") & (tidy["value"] > 0)]
    for row in failed.itertuples():
        failures.append(f"{row.dataset} {row.setting}, {METHOD_NAMES[row.method]}: {row.value:.0f}")
    several = tidy[(tidy["metric"] == "realisations") & (tidy["value"] > 1)]
    names = ", ".join(f"{row.dataset} {row.setting}: {row.value:.0f}" for row in several.itertuples())
    notes = [
        "Means over the realisations"
        + (f" ({names}; one elsewhere). " if names else " (one). ")
        + "*: a difference from the SVM with p < 0.05, by McNemar's exact test for one realisation and by a "
        "paired t-test over several. CPU time of one thread: Gram matrices, editing and training with the "
        "values chosen; with search: the choice of both values of C as well.",
        *([f"Realisations on which a method failed: {'; '.join(failures)}."] if failures else []),
    ]
    if any("extrapolated" in cell for cells in body for cell in cells):
        notes.append(
            "Extrapolated: a power law through the three largest measured sizes of the growth on this data "
            "set; not a run."
        )
    return columns, body, notes
