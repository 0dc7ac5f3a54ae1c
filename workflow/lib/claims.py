"""Claims: the numbers that decide each, and a verdict."""

import operator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from lib.exhibits import Context
from lib.tables import by_method, by_number, is_tidy, part_of

# the beginnings of all verdicts
REPRODUCED, BUT_FOR, NOT_REPRODUCED, NOT_TESTABLE = VERDICTS = (
    "reproduced",
    "reproduced but for",
    "not reproduced",
    "not testable here",
)


# how a number is related to its limit if the test holds
RELATIONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq}


@dataclass(frozen=True)
class Limit:
    """A tolerance of a test: a number, or numbers by name, and the reason for it."""

    value: float | dict
    why: str


def claim(*, statement, test, exhibits, by="paper", text="", limits=(), full_scale=False, assumption=""):
    """Declare a claim, and decorate the function that tests it: ``claim_<id>``, underscores for hyphens.

    The function gets the paper's `Results` and yields numbers (`Results.test`, `number`), which
    claims_numbers.csv has. A claim is reproduced if all of them hold, reproduced but for some if more than
    half do, and not testable here if the data sets or methods that it needs were not run.

    Parameters
    ----------
    statement, test : str
        What is claimed, and what decides it: a sentence each.
    exhibits : list of str
        The exhibits that it is about.
    by : {"paper", "svmselect"}
        Who says it.
    text : str
        The words of the paper; a claim by the paper needs them.
    limits : list of str
        Those of the paper's ``LIMITS`` that the test uses.
    full_scale : bool
        Whether it is testable only at the scale of the preset ``paper``.
    assumption : str
        How an ambiguous protocol was read.
    """
    declared = {"by": by, "statement": statement, "text": text, "test": test, "exhibits": list(exhibits)}
    declared |= {"limits": list(limits), "full_scale": full_scale, "assumption": assumption}

    def decorate(function):
        function.declared = {key: value for key, value in declared.items() if value}
        return function

    return decorate


def declared_claims(module):
    """Return the claims that a paper's module declares, by id, in their order."""
    return {name: test.declared for name, test in claim_tests(module).items()}


def check_claims(papers):
    """Check the claims of all papers. A `ValueError` has one sentence per mistake: a limit or an exhibit
    that is not there but named by a claim, a limit that no claim names, a claim of a paper without its words,
    or a statement or a test that is no sentence."""
    mistakes = []
    for name, paper in papers.items():
        claims = paper["claims"].items()
        for kind in ("limits", "exhibits"):
            mistakes += [
                f"The claim {name}.{key} names {entry!r}, which is not among the {kind} of {name}."
                for key, declaration in claims
                for entry in sorted(set(declaration.get(kind, [])) - set(paper[kind]))
            ]
        used = {entry for _, declaration in claims for entry in declaration.get("limits", [])}
        mistakes += [
            f"No claim names the limit {entry!r} of {name}." for entry in sorted(set(paper["limits"]) - used)
        ]
        mistakes += [
            f"The claim {name}.{key} is by {declaration['by']!r}; it must be paper or svmselect."
            for key, declaration in claims
            if declaration["by"] not in ("paper", "svmselect")
        ]
        mistakes += [
            f"The claim {name}.{key} is by the paper and has no text, the words of the paper."
            for key, declaration in claims
            if declaration["by"] == "paper" and "text" not in declaration
        ]
        mistakes += [
            f"The {part} of the claim {name}.{key} is no sentence: {declaration[part]!r}."
            for key, declaration in claims
            for part in ("statement", "test")
            if not declaration[part].endswith(".")
        ]
    if mistakes:
        raise ValueError("\n".join(mistakes))


def limits(paper):
    """Return the tolerances of a paper's tests: name -> value."""
    return {name: limit["value"] for name, limit in paper["limits"].items()}


@dataclass
class Results:
    """The exhibits of a paper, from which its claims are decided. The class of a paper adds the methods that
    its claims share."""

    exhibits: dict  # exhibit -> the rows of its CSV file; of one in parts, part -> rows
    context: Context  # that of its exhibits

    @cached_property
    def tidy(self):
        """Tidy rows of all exhibits without parts."""
        frames = (rows for rows in self.exhibits.values() if isinstance(rows, pd.DataFrame))
        return pd.concat(rows for rows in frames if is_tidy(rows))

    @property
    def limits(self):
        return self.context.limits

    @property
    def published(self):
        return self.context.published

    def curves(self, exhibit, metric):
        """Yield each data set of an exhibit with its curves, a DataFrame of methods by setting, in increasing
        order."""
        for dataset, rows in part_of(self.tidy, exhibit, metric).groupby("dataset", sort=False):
            yield dataset, by_method(by_number(rows), "setting")

    def test(self, dataset, quantity, value, relation, limit, kernel="rbf", decides=True):
        """Return a number that decides a claim by its relation (of `RELATIONS`) to a limit, which is a number
        or the name of one of the `limits`. With `decides` False the number only explains."""
        if not decides:
            return number(dataset, quantity, value, kernel=kernel)
        limit = self.limits[limit] if isinstance(limit, str) else limit
        holds = RELATIONS[relation](value, limit)
        return number(dataset, quantity, value, f"{relation} {limit:g}", holds, kernel)

    def test_each(self, values, quantity, relation, limit):
        """Yield a test, as `test` returns it, for each of some values, a Series whose index names the data
        sets."""
        for dataset, value in values.items():
            yield self.test(dataset, quantity, value, relation, limit)


def claim_tests(module):
    """Return the tests of a paper's claims by id: the functions that `claim` decorates."""
    tests = {name: test for name, test in vars(module).items() if hasattr(test, "declared")}
    return {name.removeprefix("claim_").replace("_", "-"): test for name, test in tests.items()}


def verdict(tests, held):
    """Return the verdict on a claim or an exhibit from its number of tests and how many of them held. If more
    than half held, the verdict counts the others."""
    if not tests:
        return NOT_TESTABLE
    if held == tests:
        return REPRODUCED
    return f"{BUT_FOR} {tests - held} of {tests}" if 2 * held > tests else NOT_REPRODUCED


def kind_of(verdict):
    """Return the one of `VERDICTS` that a verdict begins with."""
    return max((word for word in VERDICTS if verdict.startswith(word)), key=len)


def decide(claims, tests, results, full_scale=True):
    """Decide every claim by its test, a callable of `tests` (see `claim_tests`) that yields the numbers
    (`Results.test`, `number`) found in the `results`. Without `full_scale` these are not of the papers'
    scale, and numbers of claims that need it decide nothing.

    Returns a DataFrame with one row per claim, and one with a row per number, in which limit and ``holds``
    are empty where a number only explains others.
    """
    verdicts, numbers = [], []
    for claim, declared in claims.items():
        claim_numbers = [
            {"claim": claim, **row} for row in tests[claim](results) if not np.isnan(row["value"])
        ]
        if declared.get("full_scale") and not full_scale:
            claim_numbers = [{**row, "holds": ""} for row in claim_numbers]
        numbers += claim_numbers
        decided = [row["holds"] for row in claim_numbers if row["holds"]]
        held = decided.count("yes")
        said = {"claim": claim, "by": declared["by"], "statement": declared["statement"]}
        count = {"tests": len(decided), "held": held, "verdict": verdict(len(decided), held)}
        verdicts.append({**said, **count})
    columns = ["claim", "dataset", "kernel", "quantity", "value", "limit", "holds"]
    return pd.DataFrame(verdicts), pd.DataFrame(numbers, columns=columns)


def number(dataset, quantity, value, limit="", holds=None, kernel="rbf"):
    """Return one number of a claim, as a dict. If `holds` is given it decides the claim, and `limit` says
    what was claimed; otherwise it only explains."""
    decided = "" if holds is None else "yes" if holds else "no"
    return {
        "dataset": dataset,
        "kernel": kernel,
        "quantity": quantity,
        "value": float(value),
        "limit": limit,
        "holds": decided,
    }
