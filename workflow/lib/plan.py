"""The plan of a paper: its cells, the functions that compute them, and the stages that gather their rows.

The module ``plan`` of a paper has a function ``plan(config, registry)``, which returns a `Plan` for the
configuration and the registry of data sets. ``rules/cells.smk`` makes the rules that run cells from it.
"""

import hashlib
import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

# Keys of a data set's entry in the registry that say nothing about its contents.
REMARKS = ("title", "licence", "citation", "notes", "homepage")


@dataclass(frozen=True)
class Cell:
    """The computation of one cell: its data set, arguments, settings and needs."""

    dataset: str | None  # the prepared data set that it reads, if any
    # columns that all its rows have, beside the paper, the data set and the library
    identity: dict[str, Any] = field(default_factory=dict)
    # arguments of the function, by name: numbers, strings, and lists and dicts of these
    arguments: dict[str, Any] = field(default_factory=dict)
    # attributes of the function's argument `settings` that only this cell has, beside `Run.settings`
    settings: dict[str, Any] = field(default_factory=dict)
    mem_mb: int = 1000  # memory that it may take, in 2**20 bytes
    minutes: int = 10  # wall-clock time that a cluster gives it
    modules: Sequence[str] = ()  # in the paper's folder, which it uses and to which no import leads
    # whether nothing that the paper prints or claims is made from its rows
    beyond: bool = False


@dataclass
class Run:
    """The cells that one function computes. A name is the path of the cell's file below the stage's folder,
    without its suffix; it has the values of the parameters."""

    function: str  # module and function in the paper's folder, such as ``cells.run_loo``
    schema: str  # name in `lib.rows` of the schema of the rows
    cells: dict[str, Cell]
    # attributes of the function's argument `settings` that all cells share, and ``timing``
    settings: dict[str, Any] = field(default_factory=dict)
    stage: str = "cells"  # name of the file in which the rows are gathered
    # stages that are gathered first; the function is given the rows of one if it has an argument of its name
    after: Sequence[str] = ()
    # module and function in the paper's folder that says what each of some rows would cost with given
    # settings, see `lib.cost.seconds`; empty: what it did cost
    forecast: str = ""
    priority: int = 0  # Snakemake starts cells of a higher priority before all others
    # the cause of misses whose variant it runs, see `lib.causes`; the paper's own cells have none
    cause: str = ""

    @property
    def verb(self) -> str:
        """The function's name without its module, or that of the cause; the name of the rule ends with it."""
        return self.cause or self.function.rpartition(".")[2]

    @property
    def module(self) -> str:
        return self.function.rpartition(".")[0]

    def settings_of(self, name: str) -> dict[str, Any]:
        return {**self.settings, **self.cells[name].settings}

    def jobs(self, minutes: float | None, downloaded: Container[str] = ()) -> list[list[str]]:
        """Return the cells of each job. Cells share a job as long as their times together are at most
        `minutes`; with None each cell has its own. Cells of a data set that is `downloaded` share no job with
        others, which need not wait for a download; nor do cells `beyond` the paper, which may be left."""
        jobs, open_jobs = [], {}
        for name, cell in self.cells.items():
            if minutes is None or cell.minutes > minutes:
                jobs.append([name])
                continue
            kind = (cell.dataset if cell.dataset in downloaded else None, cell.beyond)
            job = open_jobs.get(kind)
            if job is None or cell.minutes + self.minutes(job) > minutes:
                open_jobs[kind] = job = []
                jobs.append(job)
            job.append(name)
        return jobs

    def minutes(self, names: Sequence[str]) -> int:
        """Return the wall-clock time that a cluster gives to some cells that run one after the other."""
        return sum(self.cells[name].minutes for name in names)

    def datasets(self, names: Iterable[str]) -> list[str]:
        """Return the data sets of some cells, each once."""
        return [
            name for name in dict.fromkeys(self.cells[cell].dataset for cell in names) if name is not None
        ]

    def pattern(self, names: Sequence[str]) -> str:
        """Return a regular expression for files of cells: ``<stage>/<cell>`` for the given names, and
        ``again/<stage>/<cell>`` for all cells of the run, any of which `verify` may compute again."""
        every, given = ("|".join(map(re.escape, group)) or "(?!)" for group in (self.cells, names))
        return f"again/{self.stage}/(?:{every})|{self.stage}/(?:{given})"

    def name(self, file: str) -> str:
        """Return the name of the cell whose file matches `pattern`."""
        return file.removeprefix("again/").removeprefix(f"{self.stage}/")


@dataclass
class Plan:
    """The runs of a paper, and the values that its exhibits may use."""

    runs: list[Run]
    datasets: Sequence[str]  # that have to be prepared
    # what the functions of exhibits, figures and claims may ask for, by the names of their parameters
    facts: dict[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()  # exhibits that need what this configuration does not run

    def __post_init__(self):
        names = [(run.stage, name) for run in self.runs for name in run.cells]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(
                f"The configuration has two cells {'/'.join(twice)}: parameters must differ in ten digits."
            )

    @property
    def stages(self) -> list[str]:
        return list(dict.fromkeys(run.stage for run in self.runs))

    def schema(self, stage: str) -> str:
        """Return the schema of a stage's rows."""
        return next(run.schema for run in self.runs if run.stage == stage)

    def runs_by_cell(self, stage: str) -> dict[str, Run]:
        """Return the names of a stage's cells, in their order, each with the run that it belongs to."""
        return {name: run for run in self.runs if run.stage == stage for name in run.cells}

    def parameters(self, run: Run, name: str, registry: Mapping[str, Any]) -> str:
        """Return a digest of everything that a cell's numbers depend on, except the code: its arguments and
        settings, the registry's entry of its data set, and the parameters of the cells of that data set whose
        rows it is given."""
        cell = run.cells[name]
        depends = {
            "function": run.function,
            "identity": cell.identity,
            "arguments": cell.arguments,
            "settings": run.settings_of(name),
            "contents": cell.dataset and contents(registry[cell.dataset]),
            "after": [
                self.parameters(other, upstream, registry)
                for stage in run.after
                for upstream, other in self.runs_by_cell(stage).items()
                if other.cells[upstream].dataset == cell.dataset
            ],
        }
        return hashlib.sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()[:16]


def contents(entry: Any) -> str:
    """Return the registry's description of the contents of a data set, as text."""
    return repr({key: value for key, value in asdict(entry).items() if key not in REMARKS})


def by_value(name: str, value: float) -> str:
    """Return a parameter and its value as a part of a cell's name: ``by_value("gamma", 0.125)`` is
    "gamma0.125"."""
    return f"{name}{value:.10g}"
