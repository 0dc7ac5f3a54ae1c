"""Columns and notes of the tables of costs."""

from lib.shown import dataset_in_words
from lib.tables import IN_BRACKETS, MISSING, beside, listed, printed_text, shown
from papers.wen2017.exhibits.methods import NAMES
from papers.wen2017.problem import PUBLISHED

EXTRAPOLATED = "*"
KERNEL_APART = (
    "CPU seconds of one thread. Kernel: the Gram matrix, computed once for all methods but LIBSVM. Totals "
    "include it, and LIBSVM's time includes its kernel values."
)


def printed_of(table, context):
    """Return what the paper prints in a table (`lib.tables.printed_text`): nothing beside the chosen
    settings, which are ours."""
    published = context.published
    return printed_text(published if context.part == PUBLISHED else published.iloc[:0], table)


def folds_of(setting):
    return int(setting.removeprefix("k="))


def marked(find, decimals, *key, printed):
    """Return a column of numbers, with a mark if fewer rounds were run than a number is about, and with the
    printed numbers in brackets."""
    text = shown(find, decimals, *key)

    def marked_text(*line):
        row_key = (*line, *key)[:3]
        fewer = find(*row_key, "rounds")[0] < folds_of(row_key[1])
        return text(*line) + EXTRAPOLATED * (fewer and text(*line) != MISSING)

    return beside(marked_text, printed, *key)


def notes(tidy, context):
    """Return notes on printed numbers, on extrapolated values, with their rounds, and on failures."""

    def cross_validation(row):
        return f"{dataset_in_words(row.dataset)}, {NAMES[row.method]}, {row.setting}"

    rounds = tidy[tidy["metric"] == "rounds"]
    fewer = rounds[rounds["value"] < rounds["setting"].map(folds_of)]
    heading = f"Marked {EXTRAPOLATED}: extrapolated to all folds from the first ones; folds that were run"
    lines = listed(fewer, "rounds", heading, lambda row: f"{cross_validation(row)}: {row.value:.0f}", "; ")
    if lines and (tidy["metric"] == "libsvm_over").any():
        lines.append(
            "±: half of the 95 % interval of what was extrapolated. If LIBSVM ran one fold, the interval is "
            "from the spread of the cold start's iterations from fold to fold."
        )
    printed = [IN_BRACKETS] if context.part == PUBLISHED else []
    return [*printed, *lines, *listed(tidy, "failed", "Failed", cross_validation, "; ")]
