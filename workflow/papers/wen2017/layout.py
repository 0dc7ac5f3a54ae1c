"""Tables for readers: tidy rows arranged as the paper prints them, the published numbers beside them."""

import numpy as np
import pandas as pd

from lib.tables import lookup, named, number
from papers.wen2017.exhibits import COLD, LIBSVM, METHODS, TABLE3_METHODS, UNLEARN
from papers.wen2017.problem import PUBLISHED

NAMES = {
    LIBSVM: "LIBSVM",
    COLD: "cold",
    "ato": "ATO",
    "mir": "MIR",
    "sir": "SIR",
    "avg": "AVG",
    "top": "TOP",
    UNLEARN: "unlearning",
    "sir_positive": "SIR, K > 0 only",
    "zero": "T at 0",
}
HEADINGS = {**NAMES, COLD: "Cold", UNLEARN: "Unlearning"}
EXTRAPOLATED, NOT_RUN = "*", "not run"
KERNEL_APART = (
    "CPU seconds of one thread. Kernel: the Gram matrix, computed once for all methods but LIBSVM, whose "
    "time contains its kernel values; totals contain it."
)


def values_of(tidy):
    """A function of data set, setting, method and metric: the value in tidy rows, NaN where there is none."""
    find = lookup(tidy)
    return lambda *key: find(*key)[0]


def marked(value, decimals, rounds, of):
    """A number, with a mark where fewer rounds were run than it is about."""
    text = number(value, decimals)
    return text + EXTRAPOLATED if rounds < of and not pd.isna(value) else text


def extrapolations(tidy):
    """A note that says which numbers were extrapolated, from how many rounds; none where there are none."""
    rounds = tidy[tidy["metric"] == "rounds"]
    of = rounds["setting"].str.removeprefix("k=").astype(int)
    fewer = rounds[rounds["value"] < of]
    names = [
        f"{row.dataset}, {NAMES[row.method]}, {row.setting}: {row.value:.0f}" for row in fewer.itertuples()
    ]
    note = f"{EXTRAPOLATED} extrapolated to all folds from the first ones, which were run whole: "
    if not names:
        return []
    notes = [note + "; ".join(names) + "."]
    if (tidy["metric"] == "libsvm_over").any():
        notes.append(
            "±: half of the 95 % interval of what was extrapolated; of one fold of LIBSVM by the spread of "
            "the cold start's iterations from fold to fold."
        )
    return notes


def over(tidy):
    """A function of data set, setting and method: LIBSVM's time over that of the method, as text."""
    find = lookup(tidy)

    def text(*at):
        ratio = find(*at[:2], LIBSVM, "time_total")[0] / find(*at, "time_total")[0]
        return number(ratio, 1, find(*at, "libsvm_over")[1])

    return text


def failures(tidy):
    """A note that names what failed; none where nothing did."""
    failed = named(tidy, "failed", lambda row: f"{row.dataset}, {NAMES[row.method]}, {row.setting}")
    return [f"Failed: {'; '.join(failed)}."] if failed else []


def folds_of(setting):
    return int(setting.removeprefix("k="))


def table1_layout(tidy, published, settings):
    """Columns, body and notes of Table 1 for `lib.tables.write_markdown` and ``write_tex``. Published rows
    stand beside those with the published settings only."""
    ours, theirs = values_of(tidy), values_of(published[published["exhibit"] == "table1"])
    beside, speedup = settings == PUBLISHED, over(tidy)
    group = "Reproduced" if beside else ""
    columns = [("", "Data set"), ("", "Method")]
    if beside:
        columns += [("Published", heading) for heading in ("Init", "Rest", "Iterations", "Accuracy (%)")]
    headings = ("Kernel", "Init", "Rest", "Total", "LIBSVM / total", "Iterations", "Accuracy (%)")
    columns += [(group, heading) for heading in headings]
    body = []
    for dataset, setting, method in tidy[["dataset", "setting", "method"]].drop_duplicates().to_numpy():
        at = (dataset, setting, method)
        of = ours(*at, "rounds"), folds_of(setting)
        cells = [dataset, NAMES[method]]
        if beside:
            rest = theirs(*at, "time_total" if method == LIBSVM else "time_rest")
            cells += [
                number(theirs(*at, "time_init"), 1),
                number(rest, 1),
                number(theirs(*at, "iterations"), 0),
                number(theirs(*at, "accuracy"), 2),
            ]
        seeded = method != LIBSVM
        cells += [
            number(ours(*at, "time_kernel") if seeded else np.nan, 2),
            number(ours(*at, "time_init") if seeded else np.nan, 2),
            marked(ours(*at, "time_rest"), 2, *of),
            marked(ours(*at, "time_total"), 2, *of),
            speedup(*at),
            marked(ours(*at, "iterations"), 0, *of),
            number(ours(*at, "accuracy"), 2),
        ]
        body.append(cells)
    notes = [
        f"{KERNEL_APART} Init: choosing the alphas to start from (AVG and TOP: the fit of all points, too; "
        "unlearning: that fit, and the paths); rest: the fits. The published total of LIBSVM stands under "
        "rest.",
        *extrapolations(tidy),
        *failures(tidy),
    ]
    return columns, body, notes


def table2_layout(tidy, published):
    """Columns, body and notes of Table 2."""
    ours, theirs = values_of(tidy), values_of(published[published["exhibit"] == "table2"])
    headings = ("Settings", "Rows", "Features", "C", "gamma", "K > 1e-6 (%)", "Largest K")
    columns = [("", "Data set"), *(("", heading) for heading in headings)]
    body, notes = [], []
    for dataset, settings in tidy[["dataset", "setting"]].drop_duplicates().to_numpy():
        value = {name: ours(dataset, settings, "", name) for name in ("rows", "features", "C", "gamma")}
        share, largest = (ours(dataset, settings, "", name) for name in ("kernel_share", "kernel_largest"))
        sizes = [number(value["rows"], 0), number(value["features"], 0)]
        model = [f"{value['C']:.6g}", f"{value['gamma']:.6g}"]
        body.append([dataset, settings, *sizes, *model, f"{share:.3g}", f"{largest:.3g}"])
        other = {
            name: theirs(dataset, PUBLISHED, "", name)
            for name in value
            if theirs(dataset, PUBLISHED, "", name) not in (value[name],)
            and not pd.isna(theirs(dataset, PUBLISHED, "", name))
        }
        if settings == PUBLISHED and other:
            printed = ", ".join(f"{name} {found:g}" for name, found in other.items())
            notes.append(f"{dataset}: the paper prints {printed}.")
    empty = [row[0] for row in body if row[1] == PUBLISHED and float(row[6]) < 1]
    if empty:
        notes.append(
            "With the published settings the kernel matrix is all but the identity on "
            f"{', '.join(empty)}: fewer than 1 % of its values off the diagonal are above 1e-6, and no "
            "classifier can learn from it."
        )
    notes.append("Chosen: features scaled to [0, 1], C and gamma by cross-validation on part of the rows.")
    return columns, body, notes


def table3_layout(tidy, published, settings):
    """Columns, body and notes of Table 3; parameters as in `table1_layout`."""
    ours, theirs = values_of(tidy), values_of(published[published["exhibit"] == "table3"])
    beside, speedup = settings == PUBLISHED, over(tidy)
    columns = [("", "Data set"), ("", "k")]
    if beside:
        columns += [("Published", "LIBSVM"), ("Published", "SIR"), ("Published", "LIBSVM / SIR")]
    group = "Reproduced" if beside else ""
    # a column of our own, where any set has it
    methods = [method for method in TABLE3_METHODS if method != UNLEARN or method in set(tidy["method"])]
    columns += [(group, HEADINGS[method]) for method in methods]
    columns += [(group, f"LIBSVM / {NAMES[method]}") for method in methods[1:]]
    body = []
    for dataset, setting in tidy[["dataset", "setting"]].drop_duplicates().to_numpy():
        k = folds_of(setting)
        time = {method: ours(dataset, setting, method, "time_total") for method in methods}
        cells = [dataset, str(k)]
        if beside:
            first, second = (theirs(dataset, setting, method, "time_total") for method in (LIBSVM, "sir"))
            cells += [number(first, 1), number(second, 1), number(first / second, 1)]
        rounds = {method: ours(dataset, setting, method, "rounds") for method in methods}
        not_run = methods[-1] == UNLEARN and pd.isna(rounds[UNLEARN])
        cells += [NOT_RUN if not_run and m == UNLEARN else marked(time[m], 1, rounds[m], k) for m in methods]
        cells += [NOT_RUN if not_run and m == UNLEARN else speedup(dataset, setting, m) for m in methods[1:]]
        body.append(cells)
    notes = [KERNEL_APART, *extrapolations(tidy), *failures(tidy)]
    return columns, body, notes


def folds_layout(tidy, published):
    """Columns, body and notes of the iterations on many assignments of the rows to folds."""
    ours, theirs = values_of(tidy), values_of(published[published["exhibit"] == "table1"])
    columns = [("", name) for name in ("Data set", "Method", "Published")]
    kinds = list(dict.fromkeys(tidy["setting"]))
    columns += [(kind, heading) for kind in kinds for heading in ("mean", "least to most")]
    body = []
    for dataset, method in tidy[["dataset", "method"]].drop_duplicates().to_numpy():
        as_printed = LIBSVM if method == COLD else method
        cells = [dataset, NAMES[method], number(theirs(dataset, "k=10", as_printed, "iterations"), 0)]
        for kind in kinds:
            mean, least, most = (
                ours(dataset, kind, method, f"iterations{part}") for part in ("", "_least", "_most")
            )
            ends = "n/a" if pd.isna(mean) else f"{number(least, 0)} to {number(most, 0)}"
            cells += [number(mean, 0), ends]
        body.append(cells)
    counts = tidy[tidy["metric"] == "assignments"].drop_duplicates(["dataset", "setting"])
    drawn = {}
    for dataset, own in counts.groupby("dataset", sort=False):
        numbers = ", ".join(f"{row.setting} {row.value:.0f}" for row in own.itertuples())
        drawn.setdefault(numbers, []).append(dataset)
    assignments = "; ".join(f"{', '.join(names)}: {numbers}" for numbers, names in drawn.items())
    notes = [
        f"Total iterations of all folds. Assignments of the rows to folds: {assignments}. "
        "SIR, K > 0 only: a point that leaves hands its alpha to a point whose kernel value with it is above "
        "0, else to nobody. T at 0: all points that enter start at 0. Both then move the points that enter "
        "only as far as the equality constraint asks. The published counts of cold are those of LIBSVM."
    ]
    return columns, body, notes


def agreement_layout(agreement, agreement_points, tie):
    """Columns, body and notes of the agreement of the seeds; points that differ are notes, those of one fold
    and the same decision values together."""
    headings = ("Data set", "Settings", "k", "Seeds", "Failed", "Points", "Differing", "No ties")
    columns = [("", heading) for heading in headings]
    columns += [("Accuracy (%)", "least"), ("Accuracy (%)", "most")]
    body = [
        [*map(str, row[:8]), number(row[8], 3), number(row[9], 3)]
        for row in agreement.itertuples(index=False, name=None)
    ]
    notes = [
        "Points: those that all seeds of a cell classify, and of these the ones whose class differs. Such a "
        f"point is a tie if no decision value is larger than {tie:g} in size; 0 counts as class +1."
    ]
    seeds = [method for method in METHODS if method in agreement_points]
    texts = agreement_points[seeds]
    if len(texts):
        texts = texts.map(lambda value: "" if pd.isna(value) else f"{value:.3g}")
    keys = ["dataset", "settings", "k", "fold", "tie", *seeds]
    merged = agreement_points[["dataset", "settings", "k", "fold", "tie", "point"]].join(texts[seeds])
    for key, own in merged.groupby(keys, sort=False):
        dataset, settings, k, fold, is_tie, *values = key
        decisions = ", ".join(
            f"{value} ({NAMES[m]})" for m, value in zip(seeds, values, strict=True) if value
        )
        what = f"point {own['point'].iloc[0]}" if len(own) == 1 else f"{len(own)} points"
        kind = "a tie" if is_tie == "yes" else "no tie"
        notes.append(
            f"{dataset}, {settings}, k = {k}, fold {fold}: {what}, decision value {decisions}: {kind}."
        )
    return columns, body, notes
