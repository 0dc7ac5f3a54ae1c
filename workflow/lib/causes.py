"""Causes of published results that ours miss: variants of a protocol, and proofs.

``papers/<paper>/causes.yaml`` declares them. A cause says on which figures it acts. It is shown if its value
lands within tolerance on all of them, also on those where ours does already; otherwise it is disproved. A
tolerance that is too wide can disprove a cause and cannot show it. A proof is a bound on the value of any
run; it shows that the printed number is beyond the bound.

A cause that failed is not narrowed: the narrower one is a new cause, and the old one stays listed as
disproved. ``git log`` has the date of each.
"""

from copy import deepcopy
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib import import_module

import numpy as np
import pandas as pd

from lib.shown import EXPLAINED_BY, FOUND_AFTERWARDS, NOT_EXPLAINED, PROVED, TOO_WIDE, UNDECIDABLE
from lib.tables import KEY, TIDY_COLUMNS

SHOWN, DISPROVED, PREPARED = "shown", "disproved", "prepared, not run"
COLUMNS = ["cause", *TIDY_COLUMNS]


def runs_of(paper, name, declaration, config, registry):
    """Return the runs that compute a cause's cells; their stage has the name of the cause. There are none if
    the cause is made from rows of the paper.

    The ``overlay`` of its `declaration` is laid over the paper's section of the configuration; of the plan
    that follows, the cells of the ``stage`` whose names match one of ``cells`` are run. Or ``plan`` names a
    function that returns a run, of the paper's causes.py or as ``module.function``. Each cell takes at least
    ``mem_mb``.
    """
    if "plan" in declaration:
        module, _, function = declaration["plan"].rpartition(".")
        runs = [getattr(import_module(f"papers.{paper}.{module or 'causes'}"), function)(config, registry)]
    elif "overlay" in declaration:
        laid = deepcopy(config)
        laid[paper] |= declaration["overlay"]
        runs = import_module(f"papers.{paper}.plan").plan(laid, registry).runs
        runs = [run for run in runs if run.stage == declaration["stage"]]
    else:
        runs = []
    patterns = declaration.get("cells", ["*"])
    cause_runs = []
    for run in runs:
        cells = {
            cell: replace(planned_cell, mem_mb=max(planned_cell.mem_mb, declaration.get("mem_mb", 0)))
            for cell, planned_cell in run.cells.items()
            if any(fnmatchcase(cell, pattern) for pattern in patterns)
        }
        if cells:
            cause_runs.append(replace(run, cells=cells, stage=name, cause=name))
    several = len(cause_runs) > 1
    return [replace(run, name=f"{name}_{run.name}" if several else name) for run in cause_runs]


@dataclass
class Cause:
    """A cause, and what its variant has.

    Attributes
    ----------
    name : str
    declaration : dict
        Its declaration.
    values, spreads : dict
        Exhibit, data set, setting, method and metric -> value, and its standard deviation.
    run : bool
        Whether it was run; one that is undecidable here never is.
    landed : dict
        As `values`: of figures on which it acts, whether it is within tolerance; `TOO_WIDE` where that says
        nothing.
    """

    name: str
    declaration: dict
    values: dict = field(default_factory=dict)
    spreads: dict = field(default_factory=dict)
    run: bool = True
    landed: dict = field(default_factory=dict)

    def acts_on(self, key):
        """Return whether the cause claims to act on a figure: exhibit, data set, setting, method and
        metric."""
        return any(
            key[0] == entry["exhibit"]
            and all(
                value in entry.get(f"{name}s", [value]) for name, value in zip(KEY[1:], key[1:], strict=True)
            )
            for entry in self.declaration.get("acts", [])
        )

    def land(self, key, allowed):
        """Note whether the cause explains a printed number that is compared with ours: a variant if it is
        within the tolerance `allowed`, a proof if it is beyond it."""
        if not self.run or "missing" in self.declaration or not self.acts_on(key):
            return
        value = self.values.get(key)
        proof = self.declaration.get("proof")
        if value is None:
            self.landed[key] = False
        elif proof:
            self.landed[key] = bool(value > allowed.most if proof == "at least" else value < allowed.least)
        else:
            self.landed[key] = allowed.holds(value) and (not allowed.wide or TOO_WIDE)

    @property
    def verdict(self):
        if "missing" in self.declaration:
            return UNDECIDABLE
        if not self.run:
            return PREPARED
        if "spreads" in self.declaration:
            return "measured"
        if not (self.landed and all(self.landed.values())):
            return DISPROVED
        return SHOWN if True in self.landed.values() else TOO_WIDE

    def explains(self, key):
        """Return which of `EXPLAINED_BY` its verdict makes of a miss on which it acts."""
        if self.verdict in (TOO_WIDE, UNDECIDABLE):
            return self.verdict
        if self.verdict != SHOWN:
            return NOT_EXPLAINED
        if self.landed.get(key) == TOO_WIDE:
            return TOO_WIDE
        return PROVED if "proof" in self.declaration else FOUND_AFTERWARDS


def read_causes(declared, variant_rows, run):
    """Return the causes of a paper, as declared. `variant_rows` has rows with the columns `COLUMNS`, or is
    None; `run` names the causes that were run."""
    values, spreads = {}, {}
    for row in (
        []
        if variant_rows is None
        else variant_rows.fillna({name: "" for name in KEY}).itertuples(index=False)
    ):
        key = tuple(getattr(row, name) for name in KEY)
        values.setdefault(row.cause, {})[key] = row.value
        spreads.setdefault(row.cause, {})[key] = row.spread
    return [
        Cause(name, declaration, values.get(name, {}), spreads.get(name, {}), name in run)
        for name, declaration in declared.items()
    ]


def spreads_of(causes):
    """Return the standard deviations of one draw of the rows, by figure, from the causes that declare
    spreads. If several causes give one for a figure, their variances add up."""
    spreads = {}
    for cause in causes:
        for key, spread in cause.spreads.items() if "spreads" in cause.declaration else []:
            spreads[key] = np.hypot(spreads.get(key, 0.0), spread)
    return spreads


def cause_of(causes, key):
    """Return the cause that explains a miss, as the columns ``cause``, ``variant`` and ``explained_by``.

    If several causes act on a figure, the one with the strongest evidence counts; a disproved one is named,
    too.
    """
    acting = [cause for cause in causes if cause.acts_on(key)]
    if not acting:
        return {"explained_by": NOT_EXPLAINED}
    best = min(acting, key=lambda cause: EXPLAINED_BY.index(cause.explains(key)))
    named = best.name if best.verdict == SHOWN else f"{best.name} ({best.verdict})"
    return {"cause": named, "variant": best.values.get(key, np.nan), "explained_by": best.explains(key)}


def cause_table(causes, figures):
    """Return a table of the causes of all papers, one row for each. From the scorecard's figures of all
    papers it counts the compared figures on which a cause ``acts``, those that it ``landed`` on, those of
    ``too_wide`` a tolerance, and the ``misses`` that it explains or leaves undecidable. Its ``evidence`` is
    variant, proof, spread, or what is missing."""
    names = ("paper", "cause", "statement", "evidence", "acts", "landed", "too_wide", "misses", "verdict")
    counted = (PROVED, FOUND_AFTERWARDS, UNDECIDABLE)
    misses = figures[figures["explained_by"].isin(counted)].groupby(["paper", "cause"]).size()
    rows = [
        (
            paper,
            cause.name,
            cause.declaration["statement"],
            _evidence(cause.declaration),
            len(cause.landed),
            sum(landed is True for landed in cause.landed.values()),
            sum(landed == TOO_WIDE for landed in cause.landed.values()),
            sum(misses.get((paper, name), 0) for name in (cause.name, f"{cause.name} ({cause.verdict})")),
            cause.verdict,
        )
        for paper, paper_causes in causes.items()
        for cause in paper_causes
    ]
    return pd.DataFrame(rows, columns=names)


def _evidence(declaration):
    """Return what a cause rests on, in words."""
    if "missing" in declaration:
        return f"missing: {declaration['missing']}"
    if "spreads" in declaration:
        return "spread"
    return "proof" if "proof" in declaration else "variant"
