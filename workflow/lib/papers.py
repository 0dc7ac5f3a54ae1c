"""Papers, each declared in a folder of its own.

A paper is a folder ``papers/<paper>``: its declaration ``paper.yaml``; ``plan.py``, which says what cells
there are (`lib.plan`), and ``cells.py``, which computes their rows; ``exhibits/`` with a file for each table
and figure (`lib.exhibits`); ``claims.py``; ``printed.csv`` and ``printed.yaml``, what the paper prints.
"""

import os
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path

import lib.rows
from data.yaml_file import read_yaml
from lib.causes import runs_of
from lib.claims import declared_claims, limits
from lib.config import WORKFLOW, check_settings
from lib.environment import differs_from_commit
from lib.exhibits import Exhibit, check_stages, load_exhibits
from lib.plan import Plan, check_plan, datasets_of, description
from lib.rows import check_stage

FOLDER = Path(__file__).resolve().parents[1] / "papers"
# modules and the package of a paper that compute no cells
NOT_RUN = ("plan.py", "causes.py", "claims.py", "story.py", "exhibits")


def from_here(path):
    """Return a path as text, relative to the working directory if it is below it: so a checkout may be
    moved."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def output_name(file):
    """Return a file's name as the name of an output in a rule."""
    return file.replace("/", "_").replace(".", "_")


@dataclass
class Paper:
    """A paper, as its folder and its rules declare it."""

    key: str  # name of its folder
    name: str
    year: int | None  # None: not a paper, the comparison
    exhibits: dict[str, Exhibit]  # the exhibits that the configuration asks for
    claims: dict  # ``claims`` and ``limits`` of claims.py, and ``figures`` of printed.yaml, if there are any
    causes: dict  # what causes.yaml says
    plan: Plan | None = None  # what it runs
    causes_run: list = field(default_factory=list)

    @property
    def schema(self):
        """The schema of the paper's section of the configuration."""
        return FOLDER / self.key / "config.schema.yaml"

    def set_plan(self, config, registry):
        """Set the plan of the paper, and leave out exhibits whose rows the configuration does not run. A
        `ValueError` names what the plan needs and is not there."""
        plan = import_module(f"papers.{self.key}.plan").plan(config, registry)
        requested = config["causes"]
        self.causes_run = [
            name
            for name, cause in self.causes.items()
            if "missing" not in cause and (requested == "all" or f"{self.key}/{name}" in requested)
        ]
        cause_runs = [
            run
            for name in self.causes_run
            for run in runs_of(self.key, name, self.causes[name], config, registry)
        ]
        datasets = [*plan.datasets, *(dataset for run in cause_runs for dataset in run.datasets)]
        runs = [*plan.runs, *cause_runs]
        if config["job"] == "run":
            runs = [replace(run, level=0) for run in runs]
        self.plan = replace(plan, runs=runs, datasets=list(dict.fromkeys(datasets)))
        check_plan(self.key, self.plan, FOLDER / self.key)
        # stages of data sets that the configuration leaves out have no rows
        stages = {*self.plan.stages}
        self.causes_run = [name for name in self.causes_run if stages >= {*self._stages_of_cause(name)}]
        self.exhibits = {
            key: exhibit for key, exhibit in self.exhibits.items() if key not in self.plan.without
        }
        check_stages(self.key, self.exhibits.values(), [*self.plan.stages, *self.causes])

    def context(self, config):
        """Return the values from which `lib.exhibits.read_context` makes the context of its exhibits."""
        return {
            "settings": config[self.key],
            "facts": self.plan.facts,
            "limits": limits(self.claims) if self.claims else {},
            "published": self.published,
        }

    @property
    def modules(self):
        """The files of its code, but for the story, which the pages on the results alone read."""
        paths = sorted((FOLDER / self.key).rglob("*.py"))
        return [from_here(path) for path in paths if path.name != "story.py"]

    def code(self, run):
        """Return the files of the paper's code that a run executes: all modules but those of exhibits,
        claims, plan and causes, and the module of its function."""
        folder = FOLDER / self.key
        modules = sorted(folder.rglob("*.py"))
        paths = [path for path in modules if path.relative_to(folder).parts[0] not in NOT_RUN]
        return [from_here(path) for path in dict.fromkeys([*paths, folder / f"{run.module}.py"])]

    @property
    def folder(self):
        return f"<results>/{self.key}"

    def gathered(self, stage, results="<results>"):
        """Return the file of all rows of a stage, below the folder of all results."""
        return f"{results}/{self.key}/rows/{stage}.parquet"

    @property
    def published(self):
        """The file of published figures, or None."""
        path = FOLDER / self.key / "printed.csv"
        return from_here(path) if path.exists() else None

    @property
    def figures(self):
        """The exhibits that are figures."""
        return [exhibit for exhibit in self.exhibits.values() if exhibit.kind == "figure"]

    def stages_of(self, exhibit):
        """Return the stages whose rows an exhibit shows; all stages if it is made from other exhibits."""
        return [stage for stage in exhibit.stages if stage in self.plan.stages] or self.plan.stages

    def exhibit_files(self):
        """Return the files of its exhibits: name in the rule's output -> path."""
        return self._paths(
            file
            for exhibit in self.exhibits.values()
            for part in exhibit.parts
            for file in exhibit.files_of(part)
        )

    def decided(self):
        """Return the files that verdicts on claims are written to: name in the rule's output -> path."""
        return self._paths(("claims.csv", "claims_numbers.csv") if self.claims else ())

    def _paths(self, files):
        return {output_name(file): f"{self.folder}/{file}" for file in files}

    def rows_of_exhibits(self):
        """Return the stages that its exhibits are made from: ``rows_<stage>`` -> file of rows."""
        shown = {stage: None for exhibit in self.exhibits.values() for stage in exhibit.stages}
        return self._rows(stage for stage in shown if stage in self.plan.stages)

    def rows_of_causes(self):
        """Return the stages that its causes are made from: ``rows_<stage>`` -> file of rows."""
        return self._rows(stage for name in self.causes_run for stage in self._stages_of_cause(name))

    def _stages_of_cause(self, name):
        return self.causes[name].get("rows", [name])

    def _rows(self, stages):
        return {f"rows_{stage}": self.gathered(stage) for stage in dict.fromkeys(stages)}

    def cell_files(self, run, names):
        """Return the files of some cells of a run."""
        return [f"{self.folder}/cells/{run.name}/{name}.parquet" for name in names]

    def inputs_of(self, run, earlier):
        """Return a function of the wildcards: the prepared data that a job of a run reads, and the rows of
        earlier stages below the folder `earlier`."""

        def inputs(wildcards):
            datasets = datasets_of(run.cells_of(wildcards))
            data = [f"<resources>/data/{dataset}.npz" for dataset in datasets]
            return {"data": data} | {stage: self.gathered(stage, earlier) for stage in run.after}

        return inputs

    def descriptions_of(self, run, registry):
        """Return a function of the wildcards: all that the rows of a job's cells depend on, but its
        inputs."""
        return lambda wildcards: [
            description(self.key, run, name, registry) for name in run.cells_of(wildcards)
        ]

    def cells_of_stage(self, stage):
        """Return the files of the cells of a stage, in the order of their rows."""
        runs = [run for run in self.plan.runs if run.stage == stage]
        return [file for run in runs for file in self.cell_files(run, run.cells)]

    def printed_cells(self):
        """Return the files of the cells from which something is made that the paper prints or claims; there
        are none of the comparison."""
        runs = [run for run in self.plan.runs if self.year is not None and not run.cause]
        return [
            file
            for run in runs
            for file in self.cell_files(run, (name for name, cell in run.cells.items() if not cell.beyond))
        ]

    def results(self):
        """Return the files that the paper's target asks for."""
        rows = [self.gathered(stage) for stage in self.plan.stages]
        return [*rows, *self.exhibit_files().values(), *self.decided().values()]

    def printed(self):
        """Return the CSV files of the exhibits whose numbers the paper prints."""
        lines = Path(self.published).read_text().splitlines()[1:] if self.published else []
        named = {line.partition(",")[0] for line in lines}
        return [
            f"{self.folder}/{exhibit.tidy_files[0]}"
            for exhibit in self.exhibits.values()
            if exhibit.key in named
        ]

    def scorecard_entry(self):
        """Return the paper's entry for the scorecard: name, exhibits, claims, limits and tolerances."""
        exhibits = {
            key: {"target": exhibit.target, "title": exhibit.title, "run_time": exhibit.run_time}
            for key, exhibit in self.exhibits.items()
            if exhibit.numbered
        }
        return {"name": self.name, "exhibits": exhibits, **self.claims}

    def places(self):
        """Return how each exhibit is made: the ``stages`` whose rows it shows, and the ``rules`` in turn."""
        places = {}
        for key, exhibit in self.exhibits.items():
            stages = self.stages_of(exhibit)
            names = [run.name for run in self.plan.runs if run.stage in stages]
            rules = [f"{self.key}_{name}" for name in (*names, "make_exhibits")]
            places[key] = {"stages": stages, "rules": rules}
        return places

    @property
    def explained(self):
        """The file of what the variants of its causes have, as a list, empty without them."""
        return [f"{self.folder}/causes.csv"] if self.causes_run else []


def load_papers():
    """Return the papers by key, from the folders that have a declaration, in the order of the years. A
    declaration that breaks its schema, or a module that is no exhibit, raises a `ValueError`."""
    papers = []
    for path in FOLDER.glob("*/paper.yaml"):
        key, (declared, claims, causes) = path.parent.name, deepcopy(_declarations(path))
        papers.append(Paper(key, declared["name"], declared.get("year"), load_exhibits(key), claims, causes))
    papers.sort(key=lambda paper: (paper.year is None, paper.year or 0, paper.key))
    return {paper.key: paper for paper in papers}


def with_plans(papers, config, registry):
    """Return the papers (from `load_papers`) that the configuration runs, with their plans. A data set that
    does not exist raises a `ValueError`."""
    names = config["papers"] or papers
    chosen = {name: paper for name, paper in papers.items() if name in names}
    for paper in chosen.values():
        paper.set_plan(config, registry)
    return chosen


def check_rows(papers, results, files, computed):
    """Hold gathered rows against the plans. A `ValueError` names the first file that does not have what is
    planned, and a remedy.

    Parameters
    ----------
    papers : dict of Paper
    results : str
        The folder of all results of a preset.
    files : collection of str
        Files that jobs read; those of gathered rows in `results` are checked.
    computed : bool
        Whether the configuration has rules that compute these rows.
    """
    for paper in papers.values():
        for stage in paper.plan.stages:
            path = paper.gathered(stage, results)
            if path not in files:
                continue
            schema = getattr(lib.rows, paper.plan.schema(stage))
            try:
                check_stage(path, paper.key, schema, paper.plan.runs_by_cell(stage))
            except (ValueError, OSError) as error:
                raise ValueError(f"{error}: {_remedy(path, computed)}.") from None


def _remedy(path, computed):
    """Return what brings right rows back."""
    if computed:
        return "delete it, and the next run that needs its rows computes them"
    if differs_from_commit(path):
        return f"`git checkout HEAD -- {path}` brings back the committed rows"
    return "delete it, and the same command with `--config compute=true` computes its rows"


@cache
def _declarations(path):
    """Return the declaration, claims and causes of a paper's folder; a `ValueError` says what its files lack.

    They are read and checked once in a process: reading the schemas takes half a second.
    """
    key = path.parent.name
    for name in ("plan.py", "config.schema.yaml"):
        if not path.with_name(name).exists():
            raise ValueError(f"The paper {key} lacks the file {path.with_name(name)}.")
    declared = read_yaml(path)
    check_settings(declared, WORKFLOW / "schemas/paper.schema.yaml", f"declaration {key}/paper.yaml")
    causes_file, printed = path.with_name("causes.yaml"), path.with_name("printed.yaml")
    causes = read_yaml(causes_file) if causes_file.exists() else {}
    check_settings(causes, WORKFLOW / "schemas/causes.schema.yaml", f"file {key}/causes.yaml")
    claims = {}
    if path.with_name("claims.py").exists():
        module = import_module(f"papers.{key}.claims")
        for name in ("Results", "LIMITS"):
            if not hasattr(module, name):
                raise ValueError(f"{path.with_name('claims.py')} lacks {name}.")
        tolerances = {name: asdict(limit) for name, limit in module.LIMITS.items()}
        claims = {"claims": declared_claims(module), "limits": tolerances}
    if path.with_name("printed.csv").exists() != printed.exists():
        raise ValueError(
            f"{path.with_name('printed.csv')} and printed.yaml need each other; one is not there."
        )
    if printed.exists():
        claims["figures"] = read_yaml(printed)
        check_settings(
            claims["figures"], WORKFLOW / "schemas/printed.schema.yaml", f"file {key}/printed.yaml"
        )
    return declared, claims, causes
