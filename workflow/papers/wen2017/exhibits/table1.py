"""Table 1: cost of 10-fold cross-validation from each seed.

Table of the cost of 10-fold cross-validation with LIBSVM, from our cold start, from the seeds ATO, MIR, SIR,
AVG and TOP, and by unlearning where it was run, per data set; with the published settings, the
printed numbers are in brackets.

Folds are stratified. LIBSVM is run through scikit-learn with a cache of 100 MB. Our fits use plain SMO with
LIBSVM's rule and tolerance {{ settings["tol"] }}, so that iterations compare. Times were taken once. Where
fewer than 10 folds were run, times and iterations are extrapolated from whole folds; ``published.csv`` and
``chosen.csv`` have their number. In a chain of seeds, the first fold starts from zero, and the mean of the
seeded folds stands for the others. Published settings: the files as they are, with the paper's C and gamma.
Chosen settings: features scaled to [0, 1], with C and gamma by cross-validation on part of the rows.
"""

from lib.tables import MISSING, arranged, beside, data_set, faster, lines_of, lookup, shown
from papers.wen2017.exhibits.cost_columns import KERNEL_APART, marked, notes, printed_of
from papers.wen2017.exhibits.costs import TIMES, cost_rows, costs, intervals, rows_of_methods, with_libsvm
from papers.wen2017.exhibits.methods import LIBSVM, METHODS, NAMES
from papers.wen2017.problem import CHOSEN, PUBLISHED

STAGES = ("seeds", "libsvm")
PARTS = (PUBLISHED, CHOSEN)
RUN_TIME = "1.8 h for all"

K = "10"


def tidy(rows, context):
    """Yield CPU times of seeds and fits, iterations and accuracy at k = 10, with published or chosen
    settings. ``rounds`` is the number of folds run: with fewer than 10, times and iterations are
    extrapolated. If baselines are sampled, there are `intervals`."""
    cells = with_libsvm(rows)
    selected = costs(cells[(cells["settings"] == context.part) & (cells["fold"] == K)])
    for row in rows_of_methods(selected, METHODS):
        yield from cost_rows("table1", f"k={K}", row, [*TIMES, "iterations", "accuracy", "rounds", "failed"])
    yield from intervals("table1", selected, METHODS) if context.facts["sampled"] else ()


def table(tidy, context):
    """Return the costs. The printed ones stand beside those with the published settings only."""
    ours, printed = lookup(tidy), printed_of("table1", context)

    def seed_times(metric):
        text = shown(ours, 2, metric)
        return lambda *line: MISSING if line[2] == LIBSVM else text(*line)

    columns = [
        ("", "Data set", data_set),
        ("", "Method", lambda *line: NAMES[line[2]]),
        ("", "Kernel", seed_times("time_kernel")),
        ("", "Init", beside(seed_times("time_init"), printed, "time_init")),
        ("", "Rest", marked(ours, 2, "time_rest", printed=printed)),
        ("", "Total", marked(ours, 2, "time_total", printed=printed)),
        ("", "LIBSVM / total", faster(ours, LIBSVM, "time_total")),
        ("", "Iterations", marked(ours, 0, "iterations", printed=printed)),
        ("", "Accuracy (%)", shown(ours, 2, "accuracy", printed=printed)),
    ]
    legend = (
        f"{KERNEL_APART} Init: choosing the alphas to start from; for AVG and TOP it includes the fit of all "
        "points, for unlearning this fit and all paths. Rest: the fits."
    )
    # LIBSVM also where the paper alone ran it
    run = lines_of(tidy, "dataset", "setting", "method")
    lines = [
        (*line, method)
        for line in lines_of(tidy, "dataset", "setting")
        for method in METHODS
        if (*line, method) in run or printed(*line, method, "iterations")
    ]
    return arranged(lines, columns, [legend, *notes(tidy, context)])
