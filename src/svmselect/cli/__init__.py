"""The command `svmselect`: leave-one-out errors, cross-validation and model selection for files."""

import io
import os
import sys
import warnings
from importlib import import_module

from svmselect.cli.arguments import parser
from svmselect.cli.output import NumbersError, check_outputs, warn

__all__ = ["COMMANDS", "exit_status", "main"]


def _late(module, name, for_targets=None):
    """Return a command whose module, which takes seconds to import, is imported when it runs.

    `for_targets` is the function of `svmselect.cli.targets` that takes its place with --task regression, or
    where the label can be nothing else.
    """

    def run(arguments):
        if for_targets is None:
            return _function(module, name)(arguments)
        guessed = arguments.task is None
        if guessed:
            arguments.task = "classification" if arguments.epsilon is None else "regression"
        if arguments.task == "classification":
            try:
                return _function(module, name)(arguments)
            except NumbersError as error:
                # standard input cannot be read again
                if not guessed or arguments.strict or arguments.file == "-":
                    raise
                warn(f"{error.finding}: it is taken for a number to predict, as --task regression says")
            arguments.task = "regression"
        return _function("targets", for_targets)(arguments)

    return run


def _function(module, name):
    return getattr(import_module(f"svmselect.cli.{module}"), name)


COMMANDS = {
    "loo": _late("loo", "loo", "loo_of_targets"),
    "cv": _late("models", "cv", "cv_of_targets"),
    "span": _late("models", "span", "span_of_targets"),
    "select": _late("select", "select", "select_of_targets"),
    "train": _late("train", "train", "train_of_targets"),
    "predict": _late("predict", "predict"),
}


def main(words=None):
    """Run a command.

    Parameters
    ----------
    words : list of str, optional
        The command line; by default that of the process.

    Returns
    -------
    int
        See `exit_status`; a wrong command line is a SystemExit of 2.
    """
    arguments = parser(COMMANDS).parse_args(words)
    arguments.words = sys.argv[1:] if words is None else list(words)
    return exit_status(arguments)


def exit_status(arguments):
    """Run the function of a parsed command line, ``arguments.run(arguments)``, and return the exit status.

    Returns
    -------
    int
        0 done; 1 the reader of the output has closed it; 2 a ValueError or an OSError, told in one sentence
        on standard error; 130 stopped by Ctrl-C.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for names of files that are no text
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *place, **more: warn(message)
            check_outputs(arguments)
            arguments.run(arguments)
        sys.stdout.flush()
    except (ValueError, OSError, MemoryError) as error:
        if isinstance(error, BrokenPipeError):
            # the reader has closed the pipe; nothing may be written at exit either
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        warn(f"error: {' '.join(str(error).split()) or type(error).__name__}")
        return 2
    except KeyboardInterrupt:
        warn("stopped")
        return 130
    return 0
