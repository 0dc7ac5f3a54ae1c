"""Table 3: time for every k.

Table of the total CPU time of k-fold cross-validation with LIBSVM, from our cold start, from the seeds SIR
and TOP, and by unlearning where it was run, per data set and k; with the published settings, the
printed times are in brackets.

As Table 1. The paper has TOP for leave-one-out only. Where fewer than k folds were run, time and iterations
are extrapolated from whole folds. LIBSVM runs at least one fold, and more if they fit its budget of CPU time.
"""

from lib.tables import arranged, data_set, faster, lines_of, lookup
from papers.wen2017.exhibits.cost_columns import KERNEL_APART, folds_of, marked, notes, printed_of
from papers.wen2017.exhibits.costs import cost_rows, costs, intervals, rows_of_methods, with_libsvm
from papers.wen2017.exhibits.methods import COLD, LIBSVM, NAMES, UNLEARN
from papers.wen2017.problem import CHOSEN, LOO, PUBLISHED

STAGES = ("seeds", "libsvm")
PARTS = (PUBLISHED, CHOSEN)
RUN_TIME = "as Table 1"

# the paper's two, our cold start, a seed from the solution of all points, and unlearning
METHODS = (LIBSVM, COLD, "sir", "top", UNLEARN)
HEADINGS = {**NAMES, COLD: "Cold", UNLEARN: "Unlearning"}
NOT_RUN = "not run"


def tidy(rows, context):
    """Yield, for every k, the total CPU time of LIBSVM, of our cold start, of SIR, of TOP and of unlearning;
    else as Table 1."""
    cells = with_libsvm(rows)
    selected = costs(cells[(cells["settings"] == context.part) & (cells["fold"] != LOO)])
    for row in rows_of_methods(selected, METHODS):
        metrics = ["time_kernel", "time_total", "iterations", "rounds", "failed"]
        yield from cost_rows("table3", f"k={row.fold}", row, metrics)
    yield from intervals("table3", selected, METHODS) if context.facts["sampled"] else ()


def table(tidy, context):
    """Return the times. The printed ones stand beside those with the published settings only."""
    ours, printed = lookup(tidy), printed_of("table3", context)
    # a column of unlearning, if any set has it
    methods = [method for method in METHODS if method != UNLEARN or method in set(tidy["method"])]
    unlearned = lines_of(tidy[tidy["method"] == UNLEARN], "dataset", "setting")

    def if_run(method, text):
        return lambda *line: text(*line) if method != UNLEARN or line in unlearned else NOT_RUN

    columns = [("", "Data set", data_set), ("", "k", lambda _, setting: str(folds_of(setting)))]
    columns += [
        ("", HEADINGS[m], if_run(m, marked(ours, 1, m, "time_total", printed=printed))) for m in methods
    ]
    columns += [
        ("", f"LIBSVM / {NAMES[m]}", if_run(m, faster(ours, LIBSVM, "time_total", m))) for m in methods[1:]
    ]
    return arranged(lines_of(tidy, "dataset", "setting"), columns, [KERNEL_APART, *notes(tidy, context)])
