"""The figures that the papers print, and the rule by which ours count as reproduced, one for all papers.

A tolerance follows from what is printed, from the standard error of what is compared, and from whose rows
ours are (`ROWS`). Nothing of it is chosen figure by figure.

- A setting is equal as printed. An anchor, which is the end of an axis, is not exceeded.
- On the paper's own rows ours differs by the rounding of what is printed and by one point more or less,
  such as an error or a support vector.
- On other rows of the same distribution it differs by rounding and by three standard errors of the
  difference, from the spread over draws, or, of one draw, from the binomial spread of a share of points.
- Work and times depend on the program and the machine: they are compared as ratios, at most the declared
  factor apart, and on other rows of the same distribution by three standard errors more, where these are
  known.

A tolerance is too wide to show that a result is reproduced or explained if its half-width exceeds half of
the printed number. For a printed 0 the limit is half of the range of a share, and one unit of the last digit
of other numbers. A result outside of such a tolerance is a miss all the same.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from data.yaml_file import read_yaml
from lib.tables import TIDY_COLUMNS

KINDS = SETTING, RESULT, ANCHOR = ("setting", "result", "anchor")
ROWS = EXACT, SAME, OTHER = ("exact", "same distribution", "other")
ERRORS = 3
ROUND_OFF = 1e-9
# the whole of a share, by its unit
SHARES = {"percent": 100.0, "fraction": 1.0}


@dataclass(frozen=True)
class Tolerance:
    """The interval in which ours counts as reproduced."""

    # its ends, NaN where nothing is decided
    least: float = np.nan
    most: float = np.nan
    words: str = ""  # how it came about
    wide: bool = False  # whether it is too wide to show anything
    undecided: str = ""  # why nothing is decided; empty where it is

    def holds(self, value):
        return bool(self.least - ROUND_OFF <= value <= self.most + ROUND_OFF)


def rounding(printed):
    """Return half a unit of the last digit of a number as it is printed (text)."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def rows_of(rule, dataset, method):
    """Return which of `ROWS` describes our rows of a data set and method. ``rule["rows"]`` is one of them, or
    a list of dicts: each has ``are``, and ``datasets`` and ``methods`` if it is about some of them only; the
    first that fits counts. If none fits, a `ValueError` is raised."""
    rows = rule.get("rows", EXACT)
    for entry in [{"are": rows}] if isinstance(rows, str) else rows:
        if dataset in entry.get("datasets", [dataset]) and method in entry.get("methods", [method]):
            return entry["are"]
    raise ValueError(f"printed.yaml does not say whose rows those of {dataset!r}, method {method!r}, are")


def tolerance(rule, rows, printed, *, unit="", spread=np.nan, ours=None, base=None):
    """Return the tolerance of a published figure from the rule of its metric (``figures`` of the paper's
    printed.yaml) and from `rows`, see `rows_of`.

    Parameters
    ----------
    printed : str
        The figure as printed.
    unit : str
        Its unit; "percent" is a share of 100.
    spread : float
        The printed standard deviation, over ``rule["draws"]["theirs"]`` draws.
    ours : dict
        Facts of our number, as far as they are known: its ``spread`` over ``draws``, and ``theirs``, the
        draws of the paper; ``drawn``, the rows of a table drawn anew, of which the draws are splits;
        ``measured``, whether the spread is that of single draws; ``chosen``, a further deviation if the
        tested model is chosen on another draw; ``points``, the numbers of points or models that it is a
        share or a mean of.
    base : str
        The number, as printed, by which the figure is divided before it is compared.
    """
    value, half = float(printed), rounding(printed)
    limit = abs(value) / 2 or SHARES.get(unit, 4 * half) / 2
    if rule["kind"] == SETTING:
        return Tolerance(value - half, value + half, "equal as printed")
    if rule["kind"] == ANCHOR:
        return Tolerance(-np.inf, value, "not beyond the end of the axis")
    if "factor" in rule:
        allowed = _ratio(rule["factor"], printed, base)
        if rows == SAME:
            allowed = _wider(allowed, value, ours)
        return _marked(allowed, limit / float(base or 1))
    if rows == OTHER:
        return Tolerance(undecided="not decidable: the rows are others than the paper's")
    points = [number for number in ours.get("points", ()) if np.isfinite(number)]
    if rows == EXACT:
        whole = SHARES.get(unit, 1.0)
        if unit != "count" and not points:
            return Tolerance(undecided="not decidable: it is not known how many points it is a share of")
        apart, words = (sum(whole / number for number in points) if points else 1.0), "one point"
    else:
        error = _standard_error(unit, value, spread, points, ours)
        apart, words = ERRORS * error, f"{ERRORS} standard errors"
        if not np.isfinite(apart):
            return Tolerance(undecided="not decidable: of one draw there is no standard error")
    apart += half
    return _marked(Tolerance(value - apart, value + apart, f"{words} and rounding: {apart:.3g}"), limit)


def _marked(allowed, limit):
    """Return the tolerance, marked as too wide if its half-width exceeds a limit."""
    return replace(allowed, wide=bool(allowed.most - allowed.least > 2 * limit + ROUND_OFF))


def _standard_error(unit, value, spread, points, ours):
    """Return the standard error of the difference of the two means, each over its draws."""
    our_spread, draws, theirs = (ours.get(name, np.nan) for name in ("spread", "draws", "theirs"))
    if np.isfinite(our_spread) and (draws > 1 or ours.get("measured")):
        printed = spread if np.isfinite(spread) and not ours.get("measured") else our_spread
        # splits of two tables differ by these, too
        table_error = np.nan_to_num(_share_error(unit, value, ours.get("drawn", np.nan)))
        return np.sqrt(
            printed**2 / theirs + our_spread**2 / draws + table_error**2 + 2 * ours.get("chosen", 0.0) ** 2
        )
    if len(points) != 1:
        return np.nan
    return _share_error(unit, value, points[0])


def _share_error(unit, value, number):
    """Return the standard error of the difference of two independent draws, for a share or a count of
    points."""
    whole = SHARES.get(unit, number)
    share = value / whole
    return whole * np.sqrt(2 * share * (1 - share) / number)


def _wider(allowed, value, ours):
    """Return the tolerance of a ratio, widened on rows that were drawn anew by the relative standard error of
    the difference of two means. Draws of the paper are taken to be as far apart as ours."""
    our_spread, mean, draws, theirs = (
        ours.get(name, np.nan) for name in ("spread", "value", "draws", "theirs")
    )
    apart = ERRORS * value * our_spread / mean * np.sqrt(1 / draws + 1 / theirs) if mean else np.nan
    if not np.isfinite(apart):
        return allowed
    words = f"{allowed.words}, and {ERRORS} standard errors: {apart:.3g}"
    return Tolerance(allowed.least - apart, allowed.most + apart, words)


def _ratio(factor, printed, base):
    """Return the tolerance of a number by a factor, with the rounding of the number and of its base."""
    value, half = float(printed), rounding(printed)
    below = (1.0, 1.0) if base is None else (float(base) + rounding(base), float(base) - rounding(base))
    words = f"at most {factor:g} times as large or as small, and rounding"
    return Tolerance((value - half) / below[0] / factor, (value + half) / below[1] * factor, words)


def declared(path):
    """Return the declaration of the published figures in the paper.yaml beside their file. ``datasets`` has
    the registry's names of data sets; ``settings`` has the setting of exhibits that print none;
    ``extrapolated`` has the figures that the paper extrapolated itself (exhibit, data set, setting and
    method); ``stand_ins`` has data sets of the same distribution, see `lib.scorecard.figures`."""
    declaration = read_yaml(Path(path).with_name("paper.yaml")).get("published", {})
    extrapolated = {tuple(figure) for figure in declaration.get("extrapolated", [])}
    return {"datasets": {}, "settings": {}, "stand_ins": {}, **declaration, "extrapolated": extrapolated}


def read_printed(path):
    """Return a file of published figures as it stands: a DataFrame of text, one row per figure, with the
    columns `lib.tables.TIDY_COLUMNS`."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(frame.columns) != TIDY_COLUMNS:
        raise ValueError(f"{path} has the columns {list(frame.columns)}, wanted {TIDY_COLUMNS}")
    return frame


def read_published(path):
    """Return the published figures of ``papers/<paper>/printed.csv`` as tidy rows that join with those of
    the exhibits.

    They are as `lib.tables.read_tidy` has them, under the registry's names of data sets, and have a column
    ``printed``, the values as text, which shows how they are rounded. The index counts the rows of the file:
    subsets printed as "5x200" are two rows of one index, ``subsets`` and ``subset_size``, of the data set and
    no method.
    """
    declaration, frame = declared(path), read_printed(path)
    frame["dataset"] = frame["dataset"].replace(declaration["datasets"])
    for exhibit, setting in declaration["settings"].items():
        frame.loc[frame["exhibit"] == exhibit, "setting"] = setting
    products = frame["metric"] == "subsets"
    pair = frame.loc[products, "value"].str.split("x", expand=True)
    parts = [
        frame[products].assign(method="", metric=metric, value=pair[place], unit="count")
        for place, metric in enumerate(("subsets", "subset_size"))
        if len(pair)
    ]
    frame = pd.concat([frame[~products], *parts]).sort_index(kind="stable")
    frame = frame.assign(printed=frame["value"]).replace("", np.nan)
    return frame.astype({"value": float, "spread": float})
