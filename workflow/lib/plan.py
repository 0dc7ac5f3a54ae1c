"""The plan of a paper: its cells, the functions that compute them, and the stages that gather their rows.

The module ``plan`` of a paper has a function ``plan(config, registry)``, which returns a `Plan` for the
configuration and the registry of data sets. ``rules/cells.smk`` has one rule for each `Run` of it.
"""

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import lib.rows

# Keys of a data set's entry in the registry that say nothing about its contents.
REMARKS = ("title", "licence", "citation", "notes", "homepage")


@dataclass(frozen=True)
class Cell:
    """The computation of one cell: its data set, arguments, settings and needs."""

    dataset: str | None  # the prepared data set that it reads, if any
    # columns that all its rows have, beside the paper, the data set, the cell and the library
    identity: dict[str, Any] = field(default_factory=dict)
    # arguments of the function, by name: numbers, strings, and lists and dicts of these
    arguments: dict[str, Any] = field(default_factory=dict)
    # attributes of the function's argument `settings` that only this cell has, beside `Run.settings`
    settings: dict[str, Any] = field(default_factory=dict)
    mem_mb: int = 1000  # memory that it may take, in 2**20 bytes
    minutes: int = 10  # wall-clock time that a cluster gives it
    modules: Sequence[str] = ()  # of the paper's packages, which it alone uses, such as "estimators.loo"
    # whether nothing that the paper prints or claims is made from its rows
    beyond: bool = False


@dataclass
class Run:
    """The cells that one function computes, by one rule.

    A cell's name is the path of its file below the run's folder, without its suffix; it has the values of the
    parameters. A job computes all cells whose names begin with the same parts, as many as `level` says, such
    as the kernels of a data set and realisation. These names must end alike in all jobs, since a rule has the
    same outputs in each. One job computes all cells at level 0, and each cell has its job without a level.
    """

    name: str  # of the rule and of the folder of the cells' files
    function: str  # module and function in the paper's folder, such as ``cells.run_loo``
    schema: str  # name in `lib.rows` of the schema of the rows
    cells: dict[str, Cell]
    # attributes of the function's argument `settings` that all cells share, and ``timing``
    settings: dict[str, Any] = field(default_factory=dict)
    stage: str = "cells"  # name of the file in which the rows are gathered
    # stages that are gathered first; the function is given the rows of one if it has an argument of its name
    after: Sequence[str] = ()
    level: int | None = None
    cause: str = ""  # the cause of misses whose variant it runs, see `lib.causes`

    def settings_of(self, name: str) -> dict[str, Any]:
        return {**self.settings, **self.cells[name].settings}

    @cached_property
    def jobs(self) -> dict[str, dict[str, Cell]]:
        """The jobs, each with the cells that it computes."""
        jobs: dict[str, dict[str, Cell]] = {}
        for name, cell in self.cells.items():
            jobs.setdefault("/".join(name.split("/")[: self.level]), {})[name] = cell
        return jobs

    @property
    def files(self) -> list[str]:
        """The names of any job's cells, with the wildcard ``job`` but in a job of all cells."""
        job, cells = next(iter(self.jobs.items()))
        return [f"{{job}}{end}" if job else end for end in _ends(job, cells)]

    @property
    def log(self) -> str:
        """The path of a job's log."""
        return f"{self.name}.log" if self.level == 0 else f"{self.name}/{{job}}.log"

    def cells_of(self, wildcards: Any) -> dict[str, Cell]:
        """Return the cells of the job that its wildcards name; a `ValueError` is raised if there is none."""
        job = wildcards.get("job", "")
        if job not in self.jobs:
            raise ValueError(f"The run {self.name} has no job {job!r}; one is {next(iter(self.jobs))!r}.")
        return self.jobs[job]

    def most(self, need: str) -> Callable[[Any, int], int]:
        """Return a function of the wildcards and the attempt: the largest need of a job's cells. Each further
        attempt gets as much more."""
        return lambda wildcards, attempt: (
            attempt * max(getattr(cell, need) for cell in self.cells_of(wildcards).values())
        )

    def total(self, need: str) -> Callable[[Any, int], int]:
        """Return a function of the wildcards and the attempt: the sum of the needs of a job's cells, with
        further attempts as in `most`."""
        return lambda wildcards, attempt: (
            attempt * sum(getattr(cell, need) for cell in self.cells_of(wildcards).values())
        )

    @property
    def datasets(self) -> list[str]:
        """The data sets of all cells, each once."""
        return datasets_of(self.cells)

    @property
    def module(self) -> str:
        return self.function.rpartition(".")[0]


@dataclass
class Plan:
    """The runs of a paper, and the values that its exhibits may use."""

    runs: list[Run]
    datasets: Sequence[str]  # that have to be prepared
    # what exhibits and claims use that the configuration alone does not say
    facts: dict[str, Any] = field(default_factory=dict)
    without: Sequence[str] = ()  # exhibits that need what this configuration does not run

    def __post_init__(self) -> None:
        # a configuration may leave a run without cells
        self.runs = [run for run in self.runs if run.cells]
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


def check_plan(paper: str, plan: Plan, folder: Path) -> None:
    """Check that all that the runs of a plan need is there. A `ValueError` has a sentence for each function,
    schema of rows, setting or earlier stage that is lacking, and names the file."""
    mistakes = []
    for run in plan.runs:
        code = folder / f"{run.module.replace('.', '/')}.py"
        function = run.function.rpartition(".")[2]
        if function not in functions_of(code):
            mistakes.append(f"The run {run.name} of {paper} calls {function}, which is not in {code}.")
        if not hasattr(lib.rows, run.schema):
            mistakes.append(f"The run {run.name} of {paper} has the schema {run.schema}, not in lib/rows.py.")
        if len({tuple(_ends(*job)) for job in run.jobs.items()}) > 1:
            mistakes.append(
                f"The cells of the run {run.name} in {folder / 'plan.py'} end otherwise in each job."
            )
        if "timing" not in run.settings:
            mistakes.append(f"The settings of the run {run.name} in {folder / 'plan.py'} lack 'timing'.")
        mistakes += [
            f"The run {run.name} is after the stage {stage}, which {folder / 'plan.py'} lacks."
            for stage in run.after
            if stage not in plan.stages
        ]
    if mistakes:
        raise ValueError("\n".join(mistakes))


def datasets_of(cells: Mapping[str, Cell]) -> list[str]:
    """Return the data sets of some cells, each once."""
    return [name for name in dict.fromkeys(cell.dataset for cell in cells.values()) if name]


def functions_of(path: Path) -> set[str]:
    """Return the names that a module defines or imports at its top level, without running it."""
    body = ast.parse(path.read_text()).body if path.exists() else []
    names = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign):
            names |= {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return names


def description(paper: str, run: Run, name: str, registry: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the rows of a cell depend on, except the code, the prepared data and the rows of
    earlier stages; `lib.job.run_cell` explains the keys."""
    cell = run.cells[name]
    return {
        "paper": paper,
        "cell": name,
        "function": run.function,
        "schema": run.schema,
        "dataset": cell.dataset,
        "contents": cell.dataset and contents(registry[cell.dataset]),
        "identity": cell.identity,
        "arguments": cell.arguments,
        "settings": run.settings_of(name),
        "modules": list(cell.modules),
    }


def _ends(job: str, cells: Iterable[str]) -> list[str]:
    """Return what follows the name of a job in those of its cells."""
    return [name.removeprefix(job) for name in cells]


def contents(entry: Any) -> str:
    """Return the registry's description of the contents of a data set, as text."""
    return repr({key: value for key, value in asdict(entry).items() if key not in REMARKS})


def by_value(name: str, value: float) -> str:
    """Return a parameter and its value as a part of a cell's name: ``by_value("gamma", 0.125)`` is
    "gamma0.125"."""
    return f"{name}{value:.10g}"
