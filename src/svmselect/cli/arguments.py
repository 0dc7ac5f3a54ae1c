"""The command line: its commands, options and help."""

import argparse
import math
import re

import svmselect
from svmselect.cli.csv_table import is_number
from svmselect.cli.output import visible

__all__ = ["MAX_BYTES", "Parser", "apply_task", "parser"]

# These are the names in svmselect.sklearn.kernels, which is not imported here because that takes seconds.
KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "chi2")
# of a file, unpacked: its cells take several times as many, and more would not fit into most machines
MAX_BYTES = 2**30
MOST_MEMORY = 2**43  # in 2**20 bytes: addresses have 63 bits
TASKS = ("classification", "regression", "one-class")
# options of a single task, and those that a task does not have
TASK_OF = {"epsilon": "regression", "nu": "one-class"}
REFUSED = {
    "classification": (),
    "regression": ("balanced", "calibration", "threshold", "positive"),
    "one-class": ("C", "by", "folds", "seed", "groups", "outer", "balanced", "calibration", "threshold"),
}
# defaults of options that not all tasks have, by command
DEFAULTS = {
    "loo": {"C": 1.0},
    "cv": {"C": 1.0, "folds": 10, "seed": 0},
    "span": {"C": 1.0},
    "select": {"by": "cv", "folds": 3, "seed": 0},
    "train": {"C": 1.0},
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors repeat the words of a command line so that no terminal obeys them."""

    def error(self, message):
        """Print an error and exit."""
        super().error(visible(message))


def apply_task(arguments):
    """Set the defaults of the options that the task has; raise a ValueError for one that it does not have."""
    given, task = vars(arguments), arguments.task
    refused = [*REFUSED[task], *(option for option, only in TASK_OF.items() if only != task)]
    for option in refused:
        if given.get(option) is not None and given[option] is not False:
            only = f"for --task {TASK_OF[option]}" if option in TASK_OF else f"not for --task {task}"
            raise ValueError(f"--{option} is {only}")
    for option, value in DEFAULTS[arguments.command].items():
        if option not in refused and given[option] is None:
            setattr(arguments, option, value)


def parser(commands):
    """Return the parser of the command line; `commands` has ``run(arguments)`` of each command by name."""
    top = Parser(
        prog="svmselect",
        description="Exact leave-one-out errors, cross-validation and selection of support vector machines.",
        epilog="Files are CSV tables or LIBSVM text, plain or packed by gzip, bzip2 or xz, or Parquet files; "
        "- is standard input. Exit status: 0 done; 2 the command line, the file or the model was no good, "
        "which one sentence on standard error says; 130 stopped by Ctrl-C.",
    )
    top.add_argument("--version", action="version", version=f"svmselect {svmselect.__version__}")
    parts = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    loo = _command(parts, commands, "loo", "exact leave-one-out error of one SVM")
    _file_options(loo, TASKS)
    _model_options(loo)
    _nu_option(loo, _share, "NUMBER")
    _scoring_option(loo, "printed beside the error")
    _report_option(loo)

    cv = _command(parts, commands, "cv", "k-fold cross-validation error of one SVM")
    _file_options(cv)
    _model_options(cv)
    _fold_options(cv, DEFAULTS["cv"]["folds"])
    _scoring_option(cv, "printed beside the error, the mean over the folds")

    span = _command(
        parts, commands, "span", "estimates and bounds of the leave-one-out error from a single fit"
    )
    _file_options(span)
    _model_options(span)

    select = _command(parts, commands, "select", "choose C and gamma by cross-validation or leave-one-out")
    _file_options(select, TASKS)
    _select_options(select)
    _report_option(select)
    _save_options(select)
    _decision_options(select)
    _common_model_options(select)
    _fold_options(select, DEFAULTS["select"]["folds"])
    _scoring_option(
        select,
        "what to maximise in place of the accuracy (which --balanced weighs by class), of all left-out rows "
        "together or the mean over the folds",
    )

    train = _command(parts, commands, "train", "train one SVM and save it")
    _file_options(train, TASKS)
    _save_options(train, required=True)
    _decision_options(train)
    _positive_option(train)
    _model_options(train)
    _nu_option(train, _share, "NUMBER")

    predict = _command(parts, commands, "predict", "predict the rows of a file by a saved SVM")
    predict.add_argument("model", metavar="MODEL", help="what --save has written, or svm-train of LIBSVM")
    _predict_options(predict)
    return top


def _command(parts, commands, name, summary):
    part = parts.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
    part.set_defaults(run=commands[name])
    return part


def _select_options(part):
    deviation = "0.1 of the label's standard deviation"
    _epsilon_option(part, _list_of(_not_negative), "LIST", "values of epsilon", deviation)
    _nu_option(part, _list_of(_share), "LIST", ", or with --scoring 8 values from 0.01 on")
    part.add_argument(
        "--C",
        type=_list_of(_positive),
        metavar="LIST",
        help="values of C, as 0.1,1,10 (default 2^-3, 2^-1, ..., 2^11)",
    )
    part.add_argument(
        "--gamma",
        type=_list_of(_gamma),
        metavar="LIST",
        help="values of gamma (default 2^-10, 2^-8, ..., 2^4 times that of 'scale')",
    )
    part.add_argument(
        "--by",
        choices=("loo", "cv"),
        help="what to minimise: the error of folds (cv, default) or the exact leave-one-out error (loo)",
    )
    part.add_argument(
        "--top", type=_count, default=10, metavar="N", help="how many models to list (default 10)"
    )
    part.add_argument(
        "--outer",
        type=_count,
        metavar="K",
        help="the error or the score of the whole selection, too, by K folds that take no part in it (K "
        "times the time)",
    )
    part.add_argument(
        "--jobs",
        type=_count,
        default=1,
        metavar="N",
        help="processes that work on the values of gamma, and share --memory (default 1)",
    )
    part.add_argument("--plot", metavar="FIGURE", help="draw the errors to a file, .pdf, .svg or .png")
    part.add_argument(
        "--output", metavar="CSV", help="where to write all models with what they are judged by"
    )


def _file_options(part, tasks=("classification", "regression")):
    has_one_class = "one-class" in tasks
    group = _table_options(
        part,
        "name or number from 1 (-1: last) of the label's column (default the one named label, target "
        "or class, else the last" + ("; of --task one-class none)" if has_one_class else ")"),
    )
    group.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN",
        help="neither feature nor label; may be repeated",
    )
    group.add_argument("--drop-missing", action="store_true", help="leave out rows with a missing value")
    _encoding_options(group)
    part.add_argument(
        "--task",
        choices=tasks,
        help="whether the label is a class or a number to predict by an epsilon-SVR (default: a class, but a "
        "number, with a remark, where nearly every row has another number or --epsilon is given)"
        + ("; or one-class: the model tells rows like the file's from others" if has_one_class else ""),
    )
    part.add_argument("--json", action="store_true", help="JSON instead of a table")
    part.add_argument("--quiet", action="store_true", help="no progress bar")


def _table_options(part, label):
    part.add_argument(
        "file",
        metavar="FILE",
        help="CSV table or LIBSVM text, plain, .gz, .bz2 or .xz, or a Parquet file; - for standard input",
    )
    group = part.add_argument_group("the file")
    group.add_argument("--format", choices=("auto", "csv", "libsvm"), default="auto", help="default auto")
    group.add_argument("--label", metavar="COLUMN", help=label)
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first line names the columns (default: it does if none of its cells is a number, and is "
        "doubted if some are)",
    )
    group.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="CHAR",
        help="between columns, or 'tab' (default: told from the first line)",
    )
    group.add_argument(
        "--zero-based",
        action="store_true",
        default=None,
        help="the first feature of LIBSVM text is number 0 (default: if there is a feature 0; to predict, if "
        "it was so in training)",
    )
    _size_option(group)
    group.add_argument(
        "--strict",
        action="store_true",
        help="refuse a file of which something must be guessed that may be wrong, where else a remark says "
        "what was decided",
    )
    return group


def _size_option(part):
    part.add_argument(
        "--max-bytes",
        type=_count,
        default=MAX_BYTES,
        metavar="N",
        help=f"refuse a file of more than N bytes, unpacked (default {MAX_BYTES})",
    )


def _predict_options(part):
    _table_options(
        part,
        "name or number from 1 (-1: last) of the label's column, if there is one (default the one of that "
        "name, or in that place, when the model was trained)",
    )
    part.add_argument(
        "--output", metavar="CSV", help="where to write the predictions (default standard output)"
    )
    part.add_argument(
        "--decision-values",
        action="store_true",
        help="beside the classes; one for each where there are three",
    )
    part.add_argument(
        "--probabilities",
        action="store_true",
        help="of each class, beside the classes, by a model that was saved with --calibration or by "
        "svm-train -b 1",
    )
    part.add_argument("--json", action="store_true", help="JSON instead of lines")
    part.add_argument("--quiet", action="store_true", help="no progress bar (there is none)")


def _report_option(part):
    part.add_argument(
        "--report",
        metavar="PAGE",
        help="write a page of HTML: errors, misclassified rows or residuals, support vectors, command and "
        "versions",
    )


def _save_options(part, required=False):
    part.add_argument(
        "--save", metavar="MODEL", required=required, help="where to write the model, for 'svmselect predict'"
    )
    part.add_argument(
        "--save-as",
        choices=("json", "libsvm"),
        default="json",
        help="json (default) keeps how the file was encoded; libsvm is for svm-predict",
    )


def _decision_options(part):
    part.add_argument(
        "--calibration",
        choices=("sigmoid", "isotonic"),
        help="give the model probabilities, calibrated on the left-out decision values by Platt's sigmoid or "
        "by a monotone step function, which wants more rows",
    )
    part.add_argument(
        "--threshold",
        metavar="SCORE",
        help="of two classes: predict the second one from the decision value on at which this score of the "
        "left-out rows is largest, as balanced_accuracy (default: from 0 on)",
    )


def _positive_option(part):
    part.add_argument(
        "--positive",
        metavar="CLASS",
        help="the class that the score is of, where it is of one: average_precision, f1, jaccard, precision "
        "or recall (default: the class called 1); of --task one-class the label of rows to accept, all "
        "others being of outliers",
    )


def _encoding_options(group):
    group.add_argument(
        "--categorical",
        action="append",
        default=[],
        metavar="COLUMN",
        help="its values are categories, each of which becomes a feature that is 0 or 1 (default: so they "
        "are in a column without a number); may be repeated",
    )
    group.add_argument(
        "--impute",
        action="store_true",
        help="fill in missing features: the median of numbers, the most frequent category",
    )
    group.add_argument(
        "--standardise", action="store_true", help="give every column of numbers mean 0 and deviation 1"
    )


def _epsilon_option(part, kind, metavar, summary, default):
    part.add_argument(
        "--epsilon",
        type=kind,
        metavar=metavar,
        help=f"of --task regression, {summary}: errors up to it do not count (default {default})",
    )


def _nu_option(part, kind, metavar, more=""):
    part.add_argument(
        "--nu",
        type=kind,
        metavar=metavar,
        help=f"of --task one-class: training rejects at most this share of the rows (default 0.5{more})",
    )


def _model_options(part):
    _epsilon_option(part, _not_negative, "NUMBER", "in units of the label", "0.1")
    part.add_argument("--C", type=_positive, metavar="NUMBER", help="default 1")
    part.add_argument(
        "--gamma",
        type=_gamma,
        default="scale",
        metavar="NUMBER",
        help="a number, 'scale' (default) or 'auto'",
    )
    _common_model_options(part)


def _common_model_options(part):
    part.add_argument("--kernel", choices=KERNELS, default="rbf", help="default rbf")
    part.add_argument("--degree", type=_count, default=3, metavar="N", help="of poly (default 3)")
    part.add_argument(
        "--coef0", type=_number, default=0.0, metavar="NUMBER", help="of poly and sigmoid (default 0)"
    )
    part.add_argument("--balanced", action="store_true", help="weigh the classes inversely to their sizes")
    part.add_argument(
        "--tol", type=_positive, default=1e-3, metavar="NUMBER", help="of training (default 1e-3)"
    )
    part.add_argument(
        "--memory", type=_memory, default=2048.0, metavar="MB", help="for kernel values (default 2048)"
    )


def _scoring_option(part, summary):
    part.add_argument(
        "--scoring",
        metavar="NAME",
        help=f"a score by its name in scikit-learn, as balanced_accuracy, f1_macro or roc_auc: {summary}",
    )
    _positive_option(part)


def _fold_options(part, default):
    part.add_argument(
        "--groups",
        metavar="COLUMN",
        help="of a CSV file: rows with the same value in it are held out together; neither feature nor label",
    )
    part.add_argument("--folds", type=_count, metavar="K", help=f"of cross-validation (default {default})")
    part.add_argument("--seed", type=_seed, metavar="N", help="of the folds' shuffle (default 0)")


def _positive(word):
    number = float(word) if is_number(word) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{word!r} is not a positive number")
    return number


def _not_negative(word):
    number = float(word) if is_number(word) else math.nan
    if not (math.isfinite(number) and number >= 0):
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 0")
    return number


def _share(word):
    number = _positive(word)
    if number > 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a share above 0, up to 1")
    return number


def _number(word):
    if not is_number(word) or not math.isfinite(float(word)):
        raise argparse.ArgumentTypeError(f"{word!r} is not a number")
    return float(word)


def _memory(word):
    number = _positive(word)
    if number >= MOST_MEMORY:
        raise argparse.ArgumentTypeError(f"{word!r} is more memory than a machine can have")
    return number


def _seed(word):
    if not re.fullmatch("[0-9]+", word) or int(word) >= 2**32:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 0 to 2^32 - 1")
    return int(word)


def _gamma(word):
    return word if word in ("scale", "auto") else _positive(word)


def _delimiter(word):
    mark = "\t" if word in ("tab", "\\t") else word
    if len(mark) != 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not one character")
    return mark


def _count(word):
    if not re.fullmatch("[0-9]+", word) or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1")
    return int(word)


def _list_of(kind):
    return lambda words: [kind(word) for word in words.split(",")]
