"""Arguments of the functions of a paper, which declare by the names of their parameters what they need."""

import inspect

import pandas as pd

from lib.tables import TIDY_COLUMNS, read_tidy
from lib.tolerances import read_published


class Given:
    """Values by name, some of which are read from files when they are first used.

    `files` are read: ``published`` as the paper's own figures, others as CSV files; a list of files stands
    for all their rows. `values` are known already.
    """

    def __init__(self, files, values):
        self.values, self._files = dict(values), dict(files)

    def __contains__(self, name):
        return name in self.values or name in self._files

    def __getitem__(self, name):
        if name not in self.values:
            self.values[name] = self._read(name)
        return self.values[name]

    def _read(self, name):
        files = self._files[name]
        if name == "published":
            return read_published(files)
        return pd.concat(map(_read_csv, [files] if isinstance(files, str) else files))

    def call(self, function, **overrides):
        """Call a function with the values that its parameters name; `overrides` take precedence. A parameter
        without a value or a default raises a `TypeError` that names it."""
        arguments = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if name in overrides:
                arguments[name] = overrides[name]
            elif name in self:
                arguments[name] = self[name]
            elif parameter.default is parameter.empty:
                available = ", ".join(sorted({*self.values, *self._files, *overrides}))
                asking = getattr(function, "func", function)  # a partial has it as `func`
                raise TypeError(
                    f"{asking.__module__}.{asking.__name__} asks for {name!r}; there are: {available}"
                )
        return function(**arguments)


def _read_csv(path):
    """Return the tidy rows of a CSV file, or another table as it is."""
    header = pd.read_csv(path, nrows=0)
    return read_tidy(path) if list(header.columns) == TIDY_COLUMNS else pd.read_csv(path)
