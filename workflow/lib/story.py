"""The results of a paper as its story reads them: values, checks of sentences, and numbers as text.

A paper's ``story.py`` has a function ``values(results)``, which returns the values that its ``story.md``
names. It checks every sentence that the results could contradict.
"""

from functools import cache

import numpy as np
import pandas as pd

from lib.causes import SHOWN
from lib.rows import read_rows

NUMBERS = ["no", "one", "two", "three", "four", "five", "six"]
NUMBERS += ["seven", "eight", "nine", "ten", "eleven", "twelve"]


class Untrue(Exception):
    """A sentence of a story that the results contradict."""


class Results:
    """The results of one paper, as its story reads them.

    Parameters
    ----------
    folder : Path
        The folder of all results.
    paper : str
    """

    def __init__(self, folder, paper):
        self.folder, self.paper = folder, paper
        self._causes = _paper_rows(pd.read_csv(folder / "scorecard_causes.csv"), paper).set_index("cause")
        self._card = _paper_rows(
            pd.read_csv(folder / "scorecard.csv", dtype=str, keep_default_na=False), paper
        )

    @cache  # noqa: B019 - a story's results live as long as the program
    def csv(self, name):
        """Return the rows of ``<paper>/<name>.csv``."""
        return pd.read_csv(self.folder / self.paper / f"{name}.csv")

    @cache  # noqa: B019
    def rows(self, stage):
        """Return the rows of a stage."""
        return read_rows([self.folder / self.paper / f"rows/{stage}.parquet"])

    def values(self, name, /, **where):
        """Return the values of all tidy rows that have the given columns, in their order."""
        return _chosen(self.csv(name), where)["value"]

    def value(self, name, /, **where):
        """Return the one value that has the given columns."""
        return _only(self.values(name, **where), f"{self.paper}/{name}", where)

    def card(self, **where):
        """Return rows of the scorecard as text, printed and reproduced."""
        return _chosen(self._card, where)

    def printed(self, **where):
        """Return the printed number of one figure, as it is printed."""
        return _only(self.card(**where)["value"], "the scorecard", where)

    def ours(self, **where):
        """Return the reproduced number of one figure."""
        return float(_only(self.card(**where)["reproduced"], "the scorecard", where))

    def shown(self, cause):
        """Check that a cause is shown."""
        verdict = self._causes.loc[cause, "verdict"]
        check(verdict == SHOWN, f"the cause {cause} is {SHOWN}", f"it is {verdict}")

    def claim(self, name):
        """Return the row of a claim in claims.csv: tests, held, verdict."""
        return self.csv("claims").set_index("claim").loc[name]

    def cpu_minutes(self, *stages, **where):
        """Return the CPU time of the methods in rows of some stages that have the given columns."""
        return sum(_chosen(self.rows(stage), where)["cpu_s"].sum() for stage in stages) / 60


def _paper_rows(frame, paper):
    return frame[frame["paper"] == paper]


def _chosen(frame, where):
    """Return the rows in which each of the given columns has the given value, or one of the given values."""
    for name, value in where.items():
        options = value if isinstance(value, list) else [value]
        frame = frame[frame[name].fillna("").astype(str).isin([str(option) for option in options])]
    return frame


def _only(values, source, where):
    if len(values) != 1:
        condition = ", ".join(f"{name} {value}" for name, value in where.items())
        raise LookupError(f"{source} has {len(values)} values, not one, for {condition}")
    return values.iloc[0]


def check(holds, sentence, contradiction=""):
    """Raise an error that names a sentence if it does not hold; else return nothing to print."""
    if not holds:
        raise Untrue(f"The story says that {sentence}; {contradiction or 'the results do not'}.")
    return ""


def fixed(number, decimals=0):
    """Return a number with some decimals, and commas between thousands."""
    return f"{float(number):,.{decimals}f}"


def digits(number, count=2):
    """Return a number rounded to some significant digits, with commas between thousands."""
    rounded, _, exponent = f"{float(number):.{count - 1}e}".partition("e")
    if not float(rounded):
        return "0"
    return fixed(f"{rounded}e{exponent}", max(count - 1 - int(exponent), 0))


def span(numbers, count=2):
    """Return the range of some numbers, from the least to the greatest."""
    least, most = digits(np.min(numbers), count), digits(np.max(numbers), count)
    return least if least == most else f"{least} to {most}"


def named(number):
    """Return a number as a word, up to twelve."""
    return NUMBERS[number] if number < len(NUMBERS) else fixed(number)
