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


def is_number(word: str) -> bool:
    """Return whether a word is a number in digits 0 to 9, with at most a decimal point and an exponent."""
    return NUMBER.fullmatch(word.strip()) is not None


def _checked(description, pattern, is_good, kind=float):
    """Return a parser of words that match a pattern, and are good numbers of this kind."""

    def parse(word):
        if not (re.fullmatch(pattern, word) and is_good(kind(word))):
            raise argparse.ArgumentTypeError(f"{word!r} is not {description}")
        return kind(word)

    return parse


_positive = _checked("a positive number", NUMBER, lambda value: 0 < value < math.inf)
_share = _checked("a share between 0 and 1", NUMBER, lambda value: 0 < value < 1)
_seed = _checked("a whole number from 0 to 2^32 - 1", "[0-9]+", lambda value: value < 2**32, int)
_count = _checked("a number from 1", "[0-9]+", lambda value: value >= 1, int)


def _gamma(word):
    return word if word in ("scale", "auto") else _positive(word)


def _delimiter(word):
    mark = "\t" if word in ("tab", "\\t") else word
    if len(mark) != 1 or ord(mark) > 127:
        raise argparse.ArgumentTypeError(f"{word!r} is not one ASCII character")
    return mark


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


FILE = "label header delimiter zero-based max-bytes"
TRAINING = f"{FILE} ignore categorical impute drop-missing standardise task C gamma kernel set"
# each command: what it does, and its options
COMMANDS = {
    "loo": ("exact leave-one-out error of one SVM", f"{TRAINING} scoring report"),
    "cv": ("k-fold cross-validation error of one SVM", f"{TRAINING} scoring folds groups seed"),
    "span": ("estimates and bounds of the leave-one-out error from a single fit", TRAINING),
    "select": (
        "choose C and gamma by cross-validation or leave-one-out",
        f"{TRAINING} scoring by folds groups rule outer save report",
    ),
    "train": ("train one SVM and save it", f"{TRAINING} save save-as calibration threshold intervals"),
    "predict": (
        "predict the rows of a file by a saved SVM",
        f"{FILE} output decision-values probabilities intervals",
    ),
}
# options by name, or by command and name: (kind, default, name of the value) or None for a switch; the help
OPTIONS: dict[str, tuple] = {
    "--label": (
        (str, None, "COLUMN"),
        "name or number from 1 (-1: last) of the label's column (default the one named label, target or "
        "class, else the last; of --task one-class none)",
    ),
    "predict --label": (
        (str, None, "COLUMN"),
        "name or number from 1 (-1: last) of the label's column (default the one that is no feature of "
        "the model, if there is one)",
    ),
    "--header": (
        None,
        "the first line names the columns (default: it does if none of its cells is a number)",
    ),
    "--delimiter": (
        (_delimiter, None, "CHAR"),
        "between columns, or 'tab': the file is a table (default: told from the first lines)",
    ),
    "--zero-based": (None, "the first feature of LIBSVM text is number 0 (default: number 1)"),
    "--max-bytes": (
        (_count, MAX_BYTES, "N"),
        f"refuse a file that takes more than N bytes of memory, unpacked (default {MAX_BYTES})",
    ),
    "--ignore": (([str], None, "COLUMN"), "no feature; may be repeated"),
    "--categorical": (
        ([str], None, "COLUMN"),
        "each value of the column becomes a feature that is 0 or 1, as of columns of a few different "
        "words; may be repeated",
    ),
    "--impute": (None, "fill in missing values: the median of numbers, the most frequent category"),
    "--drop-missing": (None, "leave out rows with a missing value"),
    "--standardise": (None, "give each column of numbers mean 0 and standard deviation 1"),
    "--task": (
        (TASKS, None, None),
        "whether the label is a class or a number to predict (default: told from the label, with a remark "
        "on numbers); one-class: tell rows like the file's from others",
    ),
    "--json": (None, "JSON instead of a table"),
    "--quiet": (None, "no progress bar"),
    "--C": ((_positive, None, "NUMBER"), "default 1"),
    "select --C": (
        (_list_of(_positive), None, "LIST"),
        "values of C, as 0.1,1,10 (default 2^-3, 2^-1, ..., 2^11)",
    ),
    "--gamma": ((_gamma, "scale", "NUMBER"), "a number, 'scale' (default) or 'auto'"),
    "select --gamma": (
        (_list_of(_gamma), None, "LIST"),
        "values of gamma (default 2^-10, 2^-8, ..., 2^4 times that of 'scale')",
    ),
    "--kernel": ((KERNELS, "rbf", None), "default rbf"),
    "--set": (
        ([_setting], None, "NAME=VALUE"),
        "another parameter of the SVC, SVR or OneClassSVM by its name in Python, as nu=0.1, epsilon=0.5, "
        "class_weight=balanced, degree=2 or cache_size=4096; select compares lists, as nu=0.1,0.2; may be "
        "repeated",
    ),
    "--scoring": (
        (str, None, "NAME"),
        "a score by its name in scikit-learn, as balanced_accuracy, roc_auc or r2, printed beside the "
        "error; with the class that it is of, as f1:ill",
    ),
    "select --scoring": (
        (str, None, "NAME"),
        "what to maximise in place of the accuracy (which class_weight=balanced weighs by class), by its "
        "name in scikit-learn, as roc_auc or r2; with the class that it is of, as f1:ill",
    ),
    "--by": (
        (CRITERIA, None, None),
        "what chooses: the error of folds (cv, default), the exact leave-one-out error (loo), or an "
        "estimate of it from one fit",
    ),
    "--folds": ((_count, None, "K"), "of cross-validation (default 10)"),
    "select --folds": ((_count, None, "K"), "of cross-validation (default 3)"),
    "--groups": (
        (str, None, "COLUMN"),
        "of a table: rows with the same value in it are held out together; no feature",
    ),
    "--seed": ((_seed, 0, "N"), "of the folds' shuffle (default 0)"),
    "--rule": (
        (RULES, "best", None),
        "which model to take: the best (default), the middle of the best ones, or the simplest within a "
        "standard error of the best",
    ),
    "--outer": (
        (_count, None, "K"),
        "the error or the score of the whole selection, too, by K folds that take no part in it (K times "
        "the time)",
    ),
    "--save": ((str, None, "MODEL"), "where to write the model, for 'svmselect predict'"),
    "--report": (
        ([str], None, "FILE"),
        "write a page, FILE.html, on errors, misclassified rows or residuals, and support vectors; may be "
        "repeated",
    ),
    "select --report": (
        ([str], None, "FILE"),
        "write a file by its ending, .html: a page; .csv: all models; .pdf, .svg or .png: their errors as "
        "a figure; may be repeated",
    ),
    "--save-as": (
        (("skops", "libsvm"), "skops", None),
        "skops (default) holds how columns become features; libsvm is for svm-predict",
    ),
    "--calibration": (
        (("sigmoid", "isotonic"), None, None),
        "give the model probabilities, calibrated on the left-out decision values by Platt's sigmoid or "
        "by a monotone step function, which wants more rows",
    ),
    "--threshold": (
        (str, None, "SCORE"),
        "of two classes: predict the second one from the decision value on at which this score of the "
        "left-out rows is largest, as balanced_accuracy or f1:ill (default: from 0 on)",
    ),
    "--intervals": (
        None,
        "of numbers to predict: save the models without each row, too, for 'predict --intervals'",
    ),
    "predict --intervals": (
        (_share, None, "ALPHA"),
        "of numbers, beside them: jackknife+ intervals that hold a share of about 1 - ALPHA of the "
        "numbers, by a model that was saved with 'train --intervals'",
    ),
    "--output": ((str, None, "CSV"), "where to write the predictions (default standard output)"),
    "--decision-values": (None, "beside the classes; one for each where there are three"),
    "--probabilities": (
        None,
        "of each class, beside the classes, by a model with --calibration or of svm-train -b 1",
    ),
}


def parser(commands):
    """Return the parser of the command line; `commands` has ``run(arguments)`` of each command by name."""
    top = Parser(
        prog="svmselect",
        description="Exact leave-one-out errors, cross-validation and selection of support vector machines.",
        epilog="Files are clean tables (CSV, Parquet, ARFF) or LIBSVM text, plain or packed by gzip, bzip2 "
        "or xz; - is standard input. Exit status: 0 done; 2 the command line, the file or the model was no "
        "good, which one sentence on standard error says; 130 stopped by Ctrl-C.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"svmselect {svmselect.__version__}")
    parts = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (summary, options) in COMMANDS.items():
        about = f"{summary[0].upper()}{summary[1:]}."
        part = parts.add_parser(name, help=summary, description=about, allow_abbrev=False)
        part.set_defaults(run=commands[name], part=part)
        if name == "predict":
            part.add_argument("model", metavar="MODEL", help="what --save, save_model or svm-train wrote")
        part.add_argument(
            "file",
            metavar="FILE",
            help="CSV, Parquet or ARFF table, or LIBSVM text; plain, .gz, .bz2 or .xz; - for standard input",
        )
        for option in (*options.split(), "json", "quiet"):
            _add(part, f"--{option}", *OPTIONS.get(f"{name} --{option}", OPTIONS.get(f"--{option}")))
    return top


def _add(part, flag, described, summary):
    """Add an option; its kind is a function of the word, in a list to be repeated, or a tuple of words."""
    if flag == "--header":
        part.add_argument(flag, action=argparse.BooleanOptionalAction, help=summary)
        return
    if described is None:
        flags = dict.fromkeys([flag, flag.replace("standardise", "standardize")])
        part.add_argument(*flags, action="store_true", help=summary)
        return
    kind, default, metavar = described
    given = {"default": default, "metavar": metavar, "help": summary}
    if isinstance(kind, list):
        part.add_argument(flag, action="append", **given | {"type": kind[0], "default": []})
    elif isinstance(kind, tuple):
        part.add_argument(flag, choices=kind, **given)
    else:
        part.add_argument(
            flag, type=kind, required=(part.prog, flag) == ("svmselect train", "--save"), **given
        )
