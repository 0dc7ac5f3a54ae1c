"""The command `svmselect`: leave-one-out errors, cross-validation and model selection for files."""

import io
import os
import sys
import warnings
from importlib import import_module

from svmselect.cli.arguments import parser
from svmselect.cli.output import check_outputs, warn

__all__ = ["COMMANDS", "exit_status", "main"]


def _late(name, module):
    """Return a command whose module, which takes seconds to import, is imported when it runs."""
    return lambda arguments: getattr(import_module(f"svmselect.cli.{module}"), name)(arguments)


COMMANDS = {name: _late(name, "commands") for name in ("loo", "cv", "span", "select", "train")}
COMMANDS["predict"] = _late("predict", "predict")


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
