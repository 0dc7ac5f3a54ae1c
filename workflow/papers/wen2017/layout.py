"""Tables for readers: tidy rows arranged as the paper prints them, the published numbers beside them."""

import pandas as pd

from lib.shown import dataset_in_words
from lib.tables import (
    KEY,
    MISSING,
    arranged,
    data_set,
    faster,
    filled,
    lines_of,
    listed,
    lookup,
    number,
    part,
    shown,
)
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
# a k that is no number, in words
WHOLE = {"loo": "leave-one-out"}
KERNEL_APART = (
    "CPU seconds of one thread. Kernel: the Gram matrix, computed once for all methods but LIBSVM, whose "
    "time contains its kernel values; totals contain it."
)


def folds_of(setting):
    return int(setting.removeprefix("k="))


def _both(table, tidy, published, by=KEY[1:]):
    """Return our values of a table, and the published ones (`lib.tables.lookup`)."""
    return lookup(tidy, by), lookup(published[published["exhibit"] == table], by)


def _marked(find, decimals, *key):
    """Return a column of numbers, with a mark if fewer rounds were run than a number is about."""
    text = shown(find, decimals, *key)

    def marked(*line):
        row_key = (*line, *key)[:3]
        fewer = find(*row_key, "rounds")[0] < folds_of(row_key[1])
        return text(*line) + EXTRAPOLATED * (fewer and text(*line) != MISSING)

    return marked


def _beside(settings, printed, reproduced):
    """Return columns of heading and function; published columns stand beside ours with the published settings
    only."""
    if settings != PUBLISHED:
        return [("", *column) for column in reproduced]
    return [("Published", *column) for column in printed] + [("Reproduced", *column) for column in reproduced]


def _named(row):
    return f"{dataset_in_words(row.dataset)}, {NAMES[row.method]}, {row.setting}"


def _notes(tidy):
    """Return notes on extrapolated values, with their rounds, and on failures."""
    rounds = tidy[tidy["metric"] == "rounds"]
    fewer = rounds[rounds["value"] < rounds["setting"].map(folds_of)]
    heading = f"{EXTRAPOLATED} extrapolated to all folds from the first ones, which were run whole"
    notes = listed(fewer, "rounds", heading, lambda row: f"{_named(row)}: {row.value:.0f}", "; ")
    if notes and (tidy["metric"] == "libsvm_over").any():
        notes.append(
            "±: half of the 95 % interval of what was extrapolated; of one fold of LIBSVM by the spread of "
            "the cold start's iterations from fold to fold."
        )
    return [*notes, *listed(tidy, "failed", "Failed", _named, "; ")]


def table1_layout(tidy, published, settings):
    """Return columns, body and notes of Table 1 for `lib.tables.write_markdown` and ``write_tex``. Published
    rows stand beside those with the published settings only."""
    ours, theirs = _both("table1", tidy, published)

    def seed_times(metric):
        text = shown(ours, 2, metric)
        return lambda *line: MISSING if line[2] == LIBSVM else text(*line)

    def rest(*line):
        return number(theirs(*line, "time_total" if line[2] == LIBSVM else "time_rest")[0], 1)

    printed = [
        ("Init", shown(theirs, 1, "time_init")),
        ("Rest", rest),
        ("Iterations", shown(theirs, 0, "iterations")),
        ("Accuracy (%)", shown(theirs, 2, "accuracy")),
    ]
    reproduced = [
        ("Kernel", seed_times("time_kernel")),
        ("Init", seed_times("time_init")),
        ("Rest", _marked(ours, 2, "time_rest")),
        ("Total", _marked(ours, 2, "time_total")),
        ("LIBSVM / total", faster(ours, LIBSVM, "time_total")),
        ("Iterations", _marked(ours, 0, "iterations")),
        ("Accuracy (%)", shown(ours, 2, "accuracy")),
    ]
    columns = [("", "Data set", data_set), ("", "Method", lambda *line: NAMES[line[2]])]
    notes = [
        f"{KERNEL_APART} Init: choosing the alphas to start from (AVG and TOP: the fit of all points, too; "
        "unlearning: that fit, and the paths); rest: the fits. The published total of LIBSVM stands under "
        "rest.",
        *_notes(tidy),
    ]
    lines = lines_of(tidy, "dataset", "setting", "method")
    return arranged(lines, columns + _beside(settings, printed, reproduced), notes)


def table2_layout(tidy, published):
    """Return columns, body and notes of Table 2."""
    ours, theirs = _both("table2", tidy, published)
    columns = [
        ("", "Data set", data_set),
        ("", "Settings", part(1)),
        ("", "Rows", shown(ours, 0, "", "rows")),
        ("", "Features", shown(ours, 0, "", "features")),
        ("", "C", filled("{:.6g}", ours, ("", "C"))),
        ("", "gamma", filled("{:.6g}", ours, ("", "gamma"))),
        ("", "K > 1e-6 (%)", filled("{:.3g}", ours, ("", "kernel_share"))),
        ("", "Largest K", filled("{:.3g}", ours, ("", "kernel_largest"))),
    ]
    lines, notes, empty = lines_of(tidy, "dataset", "setting"), [], []
    for dataset, settings in lines:
        row_key = (dataset, settings, "")
        names = ("rows", "features", "C", "gamma")
        pairs = [(name, theirs(*row_key, name)[0], ours(*row_key, name)[0]) for name in names]
        if other := [
            f"{name} {its:g}" for name, its, our_value in pairs if not pd.isna(its) and its != our_value
        ]:
            notes.append(f"{dataset_in_words(dataset)}: the paper prints {', '.join(other)}.")
        if settings == PUBLISHED and ours(*row_key, "kernel_share")[0] < 1:
            empty.append(dataset_in_words(dataset))
    if empty:
        notes.append(
            "With the published settings the kernel matrix is all but the identity on "
            f"{', '.join(empty)}: fewer than 1 % of its values off the diagonal are above 1e-6, and no "
            "classifier can learn from it."
        )
    notes.append("Chosen: features scaled to [0, 1], C and gamma by cross-validation on part of the rows.")
    return arranged(lines, columns, notes)


def table3_layout(tidy, published, settings):
    """Return columns, body and notes of Table 3; parameters as in `table1_layout`."""
    ours, theirs = _both("table3", tidy, published)
    # a column of our own, where any set has it
    methods = [method for method in TABLE3_METHODS if method != UNLEARN or method in set(tidy["method"])]

    unlearned = lines_of(tidy[tidy["method"] == UNLEARN], "dataset", "setting")

    def if_run(method, text):
        return lambda *line: text(*line) if method != UNLEARN or line in unlearned else NOT_RUN

    printed = [
        ("LIBSVM", shown(theirs, 1, LIBSVM, "time_total")),
        ("SIR", shown(theirs, 1, "sir", "time_total")),
        ("LIBSVM / SIR", faster(theirs, LIBSVM, "time_total", "sir")),
    ]
    reproduced = [(HEADINGS[m], if_run(m, _marked(ours, 1, m, "time_total"))) for m in methods]
    reproduced += [
        (f"LIBSVM / {NAMES[m]}", if_run(m, faster(ours, LIBSVM, "time_total", m))) for m in methods[1:]
    ]
    columns = [("", "Data set", data_set), ("", "k", lambda _, setting: str(folds_of(setting)))]
    notes = [KERNEL_APART, *_notes(tidy)]
    lines = lines_of(tidy, "dataset", "setting")
    return arranged(lines, columns + _beside(settings, printed, reproduced), notes)


def folds_layout(tidy, published):
    """Return columns, body and notes of the iterations on many assignments of the rows to folds."""
    ours, theirs = _both("table1", tidy, published, ("dataset", "method", "setting", "metric"))

    def as_printed(dataset, method):
        return number(theirs(dataset, LIBSVM if method == COLD else method, "k=10", "iterations")[0], 0)

    columns = [("", "Data set", data_set), ("", "Method", lambda *line: NAMES[line[1]])]
    columns += [("", "Published", as_printed)]
    for (kind,) in lines_of(tidy, "setting"):
        ends = [(kind, f"iterations_{end}") for end in ("least", "most")]
        columns.append((kind, "mean", shown(ours, 0, kind, "iterations")))
        columns.append((kind, "least to most", filled("{:.0f} to {:.0f}", ours, *ends)))
    counts = tidy[tidy["metric"] == "assignments"].drop_duplicates(["dataset", "setting"])
    drawn = {}
    for dataset, group in counts.groupby("dataset", sort=False):
        numbers = ", ".join(f"{row.setting} {row.value:.0f}" for row in group.itertuples())
        drawn.setdefault(numbers, []).append(dataset_in_words(dataset))
    assignments = "; ".join(f"{', '.join(names)}: {numbers}" for numbers, names in drawn.items())
    notes = [
        f"Total iterations of all folds. Assignments of the rows to folds: {assignments}. "
        "SIR, K > 0 only: a point that leaves hands its alpha to a point whose kernel value with it is above "
        "0, else to nobody. T at 0: all points that enter start at 0. Both then move the points that enter "
        "only as far as the equality constraint asks. The published counts of cold are those of LIBSVM."
    ]
    return arranged(lines_of(tidy, "dataset", "method"), columns, notes)


def agreement_layout(agreement, agreement_points, tie):
    """Return columns, body and notes of the agreement of the seeds. Points that differ are notes; those of
    one fold and the same decision values stand together."""
    headings = ("Data set", "Settings", "k", "Seeds", "Failed", "Points", "Differing", "No ties")
    columns = [("", heading) for heading in headings]
    columns += [("Accuracy (%)", "least"), ("Accuracy (%)", "most")]
    body = [
        [
            dataset_in_words(name),
            settings,
            str(WHOLE.get(k, k)),
            *map(str, counts),
            number(least, 3),
            number(most, 3),
        ]
        for name, settings, k, *counts, least, most in agreement.itertuples(index=False, name=None)
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
    for key, group in merged.groupby(keys, sort=False):
        dataset, settings, k, fold, is_tie, *values = key
        decisions = ", ".join(
            f"{value} ({NAMES[m]})" for m, value in zip(seeds, values, strict=True) if value
        )
        points = f"point {group['point'].iloc[0]}" if len(group) == 1 else f"{len(group)} points"
        kind = "a tie" if is_tie == "yes" else "no tie"
        notes.append(
            f"{dataset_in_words(dataset)}, {settings}, {WHOLE.get(k, f'k = {k}')}, fold {fold}: {points}, "
            f"decision value {decisions}: {kind}."
        )
    return columns, body, notes
