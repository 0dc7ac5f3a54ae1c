"""The command line: its commands, options and help."""

import argparse
import math
import re
from difflib import get_close_matches

import svmselect
from svmselect.cli.output import visible

__all__ = ["FIGURES", "KERNELS", "MAX_BYTES", "TASKS", "Parser", "is_number", "parser"]

# These are the names in svmselect.sklearn.kernels, which is not imported here because that takes seconds.
KERNELS = ("rbf", "linear", "poly", "sigmoid", "laplacian", "chi2")
TASKS = ("classification", "regression", "one-class")
CRITERIA = ("cv", "loo", "span", "opper_winther", "xi_alpha")
RULES = ("best", "middle", "one_standard_error")
FIGURES = (".pdf", ".svg", ".png")
# what a table may take of the memory: more would not fit into most machines
MAX_BYTES = 2**30
# Python's float also takes 1_000, digits of other scripts and words
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class Parser(argparse.ArgumentParser):
    """A parser whose errors name the nearest option, and print nothing that a terminal obeys."""

    def parse_args(self, words=None, namespace=None):
        """Parse a command line; an unknown option is an error with the usage of its command."""
        arguments, unknown = self.parse_known_args(words, namespace)
        if unknown:
            part = getattr(arguments, "part", self)
            flag = unknown[0].split("=")[0]
            near = get_close_matches(flag, part._option_string_actions, 1, 0.5)
            part.error(f"there is no option {unknown[0]}" + (f": is it {near[0]}?" if near else ""))
        return arguments

    def error(self, message):
        """Print an error and exit."""
        super().error(visible(message))


def parser(commands):
    """Return the parser of the command line; `commands` has ``run(arguments)`` of each command by name."""
    top = Parser(
        prog="svmselect",
        description="Exact leave-one-out errors, cross-validation and selection of support vector machines.",
        epilog="Files are clean tables (CSV, Parquet, ARFF) or LIBSVM text, plain or packed by gzip, bzip2 or "
        "xz; - is standard input. Exit status: 0 done; 2 the command line, the file or the model was no good, "
        "which one sentence on standard error says; 130 stopped by Ctrl-C.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"svmselect {svmselect.__version__}")
    parts = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name, summary):
        part = parts.add_parser(
            name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
        )
        part.set_defaults(run=commands[name], part=part)
        return part

    loo = command("loo", "exact leave-one-out error of one SVM")
    _training_options(loo)
    _model_options(loo)
    _scoring_option(loo, "printed beside the error")
    _report_option(loo, ".html: a page with errors, misclassified rows or residuals, and support vectors")

    cv = command("cv", "k-fold cross-validation error of one SVM")
    _training_options(cv)
    _model_options(cv)
    _fold_options(cv, 10)
    cv.add_argument("--seed", type=_seed, default=0, metavar="N", help="of the folds' shuffle (default 0)")
    _scoring_option(cv, "printed beside the error, the mean over the folds")

    span = command("span", "estimates and bounds of the leave-one-out error from a single fit")
    _training_options(span)
    _model_options(span)

    select = command("select", "choose C and gamma by cross-validation or leave-one-out")
    _training_options(select)
    _select_options(select)

    train = command("train", "train one SVM and save it")
    _training_options(train)
    _model_options(train)
    _save_option(train, required=True)
    _train_options(train)

    predict = command("predict", "predict the rows of a file by a saved SVM")
    predict.add_argument(
        "model", metavar="MODEL", help="what --save or svmselect.sklearn.save_model wrote, or svm-train"
    )
    _predict_options(predict)
    return top


def _file_options(part, label):
    part.add_argument(
        "file",
        metavar="FILE",
        help="CSV, Parquet or ARFF table, or LIBSVM text; plain, .gz, .bz2 or .xz; - for standard input",
    )
    group = part.add_argument_group("the file")
    group.add_argument("--label", metavar="COLUMN", help=label)
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="the first line names the columns (default: it does if none of its cells is a number)",
    )
    group.add_argument(
        "--delimiter",
        type=_delimiter,
        metavar="CHAR",
        help="between columns, or 'tab': the file is a table (default: told from the first lines)",
    )
    group.add_argument(
        "--zero-based",
        action="store_true",
        help="the first feature of LIBSVM text is number 0 (default: number 1)",
    )
    group.add_argument(
        "--max-bytes",
        type=_count,
        default=MAX_BYTES,
        metavar="N",
        help=f"refuse a file that takes more than N bytes of memory, unpacked (default {MAX_BYTES})",
    )
    return group


def _training_options(part):
    group = _file_options(
        part,
        "name or number from 1 (-1: last) of the label's column (default the one named label, target or "
        "class, else the last; of --task one-class none)",
    )
    group.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="no feature; may be repeated"
    )
    group.add_argument(
        "--categorical",
        action="append",
        default=[],
        metavar="COLUMN",
        help="each value of the column becomes a feature that is 0 or 1, as of columns of few different "
        "words; may be repeated",
    )
    group.add_argument(
        "--impute",
        action="store_true",
        help="fill in missing values: the median of numbers, the most frequent category",
    )
    group.add_argument("--drop-missing", action="store_true", help="leave out rows with a missing value")
    group.add_argument(
        "--standardise",
        "--standardize",
        action="store_true",
        help="give each column of numbers mean 0 and standard deviation 1",
    )
    part.add_argument(
        "--task",
        choices=TASKS,
        help="whether the label is a class or a number to predict (default: told from the label, with a "
        "remark on numbers); one-class: tell rows like the file's from others",
    )
    part.add_argument("--json", action="store_true", help="JSON instead of a table")
    part.add_argument("--quiet", action="store_true", help="no progress bar")


def _kernel_options(part, lists):
    part.add_argument("--kernel", choices=KERNELS, default="rbf", help="default rbf")
    part.add_argument(
        "--set",
        action="append",
        default=[],
        type=_setting,
        metavar="NAME=VALUE",
        help="another parameter of the SVC, SVR or OneClassSVM by its name in Python, as nu=0.1, epsilon=0.5, "
        f"class_weight=balanced, degree=2 or cache_size=4096{', or a list as nu=0.1,0.2' if lists else ''}; "
        "may be repeated",
    )


def _model_options(part):
    part.add_argument("--C", type=_positive, metavar="NUMBER", help="default 1")
    part.add_argument(
        "--gamma",
        type=_gamma,
        default="scale",
        metavar="NUMBER",
        help="a number, 'scale' (default) or 'auto'",
    )
    _kernel_options(part, lists=False)


def _scoring_option(part, summary):
    part.add_argument(
        "--scoring",
        metavar="NAME",
        help="a score by its name in scikit-learn, as balanced_accuracy, roc_auc or r2; with the class that "
        f"it is of, as f1:ill; {summary}",
    )


def _fold_options(part, default):
    part.add_argument(
        "--groups",
        metavar="COLUMN",
        help="of a table: rows with the same value in it are held out together; no feature",
    )
    part.add_argument(
        "--folds",
        type=_count,
        metavar="K",
        help=f"of cross-validation (default {default})",
    )


def _report_option(part, kinds):
    part.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help=f"write a file by its ending; {kinds}; may be repeated",
    )


def _save_option(part, required=False):
    part.add_argument(
        "--save", metavar="MODEL", required=required, help="where to write the model, for 'svmselect predict'"
    )


def _select_options(part):
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
    _kernel_options(part, lists=True)
    part.add_argument(
        "--by",
        choices=CRITERIA,
        help="what chooses: the error of folds (cv, default), the exact leave-one-out error (loo), or an "
        "estimate of it from one fit",
    )
    _scoring_option(
        part,
        "what to maximise in place of the accuracy (which class_weight=balanced weighs by class), of all "
        "left-out rows together or the mean over the folds",
    )
    _fold_options(part, 3)
    part.add_argument(
        "--rule",
        choices=RULES,
        default="best",
        help="which model to take: the best (default), the middle of the best ones, or the simplest within a "
        "standard error of the best",
    )
    part.add_argument(
        "--outer",
        type=_count,
        metavar="K",
        help="the error or the score of the whole selection, too, by K folds that take no part in it (K "
        "times the time)",
    )
    _save_option(part)
    _report_option(part, ".html: a page; .csv: all models; .pdf, .svg or .png: their errors as a figure")


def _train_options(part):
    part.add_argument(
        "--save-as",
        choices=("skops", "libsvm"),
        default="skops",
        help="skops (default) holds how columns become features; libsvm is for svm-predict",
    )
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
        "left-out rows is largest, as balanced_accuracy or f1:ill (default: from 0 on)",
    )
    part.add_argument(
        "--intervals",
        action="store_true",
        help="of numbers to predict: save the models without each row, too, for 'predict --intervals'",
    )


def _predict_options(part):
    _file_options(
        part,
        "name or number from 1 (-1: last) of the label's column (default the one that is no feature of the "
        "model, if there is one)",
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
        help="of each class, beside the classes, by a model with --calibration or of svm-train -b 1",
    )
    part.add_argument(
        "--intervals",
        type=_share,
        metavar="ALPHA",
        help="of numbers, beside them: jackknife+ intervals that hold a share of about 1 - ALPHA of the "
        "numbers, by a model that was saved with 'train --intervals'",
    )
    part.add_argument("--json", action="store_true", help="JSON instead of lines")
    part.add_argument("--quiet", action="store_true", help="no progress bar (there is none)")


def is_number(word: str) -> bool:
    """Return whether a word is a number in digits 0 to 9, with at most a decimal point and an exponent."""
    return NUMBER.fullmatch(word.strip()) is not None


def _positive(word):
    number = float(word) if is_number(word) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError(f"{word!r} is not a positive number")
    return number


def _share(word):
    number = _positive(word)
    if number >= 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a share between 0 and 1")
    return number


def _seed(word):
    if not re.fullmatch("[0-9]+", word) or int(word) >= 2**32:
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 0 to 2^32 - 1")
    return int(word)


def _gamma(word):
    return word if word in ("scale", "auto") else _positive(word)


def _delimiter(word):
    mark = "\t" if word in ("tab", "\\t") else word
    if len(mark) != 1 or ord(mark) > 127:
        raise argparse.ArgumentTypeError(f"{word!r} is not one ASCII character")
    return mark


def _count(word):
    if not re.fullmatch("[0-9]+", word) or int(word) < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not a number from 1")
    return int(word)


def _list_of(kind):
    return lambda words: [kind(word) for word in words.split(",")]


def _setting(text):
    """Return the name of a parameter and the list of its values."""
    name, mark, words = text.partition("=")
    if not (mark and name and all(words.split(","))):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, as degree=2")
    return name, [_value(word) for word in words.split(",")]


def _value(word):
    if word in ("true", "false", "True", "False"):
        return word in ("true", "True")
    if re.fullmatch("[+-]?[0-9]+", word):
        return int(word)
    return float(word) if is_number(word) else word
