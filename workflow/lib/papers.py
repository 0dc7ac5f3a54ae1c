"""Papers, each declared in a folder of its own.

A paper is a folder ``papers/<paper>``: its declaration ``paper.yaml``; ``plan.py``, which says what cells
there are (`lib.plan`), and ``cells.py``, which computes their rows; ``exhibits.py`` with one function per
exhibit, of its name, from rows to tidy rows; ``layout.py`` with ``<exhibit>_layout`` for each table and
``plots.py`` with ``plot_<exhibit>`` for each figure; ``claims.py``; ``printed.csv`` and ``printed.yaml``; a
caption for each exhibit. The parameters of these functions name the values that they get
(`lib.given.Given`).
"""

import os
import re
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path

import yaml

from lib.causes import runs_of
from lib.claims import declared_claims
from lib.config import WORKFLOW, check_config
from lib.plan import Plan, check_plan, description

FOLDER = Path(__file__).resolve().parents[1] / "papers"
# modules of a paper that compute no cells
NOT_RUN = ("plan", "causes", "exhibits", "layout", "plots", "claims")


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure: the paper (key of its folder), the ``key`` that names the exhibit's function,
    caption and files, and the fields of its entry in ``exhibits``, see ``schemas/paper.schema.yaml``."""

    paper: str
    key: str
    kind: str
    name: str
    subject: str
    heading: str = ""
    rows: list = field(default_factory=list)
    beside: list = field(default_factory=list)
    split_by: dict = field(default_factory=dict)
    also: list = field(default_factory=list)
    text: str = ""
    drawn_from: str = ""
    unpublished: bool = False
    run_time: str | None = None

    @property
    def parts(self):
        """Parts of the exhibit, each with its name: a list of dicts, one empty if the exhibit has no
        parts."""
        return [{name: part} for name, parts in self.split_by.items() for part in parts] or [{}]

    def stem(self, part):
        """Return the name of the files of a part, without suffix."""
        return "/".join([self.key, *part.values()])

    @property
    def caption(self):
        return from_here(FOLDER / self.paper / "captions" / f"{self.key}.rst")

    @property
    def title(self):
        return f"{self.name}: {self.subject}"

    def exhibit_files(self, part):
        """Return the files that are made from rows of a part: key in the rule's output -> name in the paper's
        results; the first is the CSV file of the exhibit, the last ones are those of `also`."""
        suffixes = ("csv", "md", "tex") if self.kind == "table" else ("csv",)
        files = [f"{self.stem(part)}.{suffix}" for suffix in suffixes]
        files += [f"{self.text}.md"] if self.text else []
        return {_key(file): file for file in [*files, *(f"{name}.csv" for name in self.also)]}

    def plotted(self):
        """Return the files that are plotted: key in the rule's output -> name in the paper's results."""
        return {_key(file): file for file in (f"{self.key}.pdf", f"{self.key}.svg")}

    def reported(self):
        """Return the keys of the files that Snakemake's own report shows: the CSV file of a table, the SVG
        file of a figure."""
        if self.kind == "figure":
            return {_key(f"{self.key}.svg")}
        return {_key(f"{self.stem(part)}.csv") for part in self.parts}

    @property
    def target(self):
        """The file that stands for it."""
        return f"{self.key}.pdf" if self.kind == "figure" else f"{self.stem(self.parts[0])}.csv"


def from_here(path):
    """Return a path as text, relative to the working directory if it is below it: so a checkout may be
    moved."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def alt_text(caption):
    """Return the first paragraph of a caption file (reStructuredText), on one line."""
    return " ".join(Path(caption).read_text().strip().split("\n\n")[0].split())


def _key(file):
    """Return a file's name as the key of an output in a rule."""
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
        self.plan = replace(plan, runs=[*plan.runs, *cause_runs], datasets=list(dict.fromkeys(datasets)))
        check_plan(self.key, self.plan, FOLDER / self.key)
        # stages of data sets that the configuration leaves out have no rows
        stages = {*self.plan.stages}
        self.causes_run = [name for name in self.causes_run if stages >= {*self._stages_of_cause(name)}]
        self.exhibits = {
            key: exhibit for key, exhibit in self.exhibits.items() if key not in self.plan.without
        }

    def code_of(self, *names):
        """Return the files of those modules among some names that the paper has, and of its packages."""
        folder = FOLDER / self.key
        paths = [path for name in dict.fromkeys(names) if (path := folder / f"{name}.py").exists()]
        return list(map(from_here, [*paths, *sorted(folder.glob("*/[!_]*.py"))]))

    def modules_of_causes(self):
        """Return the modules of the functions that make values of causes from rows."""
        functions = (self.causes[name]["make"] for name in self.causes_run)
        return [name.split(".")[0] for name in functions if "." in name]

    def code(self, run):
        """Return the files of the paper's code that a run executes: all modules but those of exhibits,
        claims, plan and causes, and the module of its function."""
        folder = FOLDER / self.key
        paths = [path for path in sorted(folder.rglob("*.py")) if path.stem not in NOT_RUN]
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
    def to_make(self):
        """The exhibits that have tidy rows of their own, by key."""
        return {key: exhibit for key, exhibit in self.exhibits.items() if not exhibit.drawn_from}

    @property
    def to_plot(self):
        """The figures, by key."""
        return {key: exhibit for key, exhibit in self.exhibits.items() if exhibit.kind == "figure"}

    def drawn(self):
        """Return the exhibits whose rows figures draw."""
        return [self.exhibits[exhibit.drawn_from or key] for key, exhibit in self.to_plot.items()]

    def stages_of(self, exhibit):
        """Return the stages whose rows an exhibit shows; all stages if it is made from other exhibits."""
        if exhibit.drawn_from:
            return self.stages_of(self.exhibits[exhibit.drawn_from])
        return [*exhibit.rows, *exhibit.beside] or self.plan.stages

    def exhibit_files(self):
        """Return the files that are made from rows: key in the rule's output -> path."""
        files = {}
        for exhibit in self.to_make.values():
            for part in exhibit.parts:
                files |= exhibit.exhibit_files(part)
        return self._paths(files)

    def plotted(self):
        """Return the files that are plotted: key in the rule's output -> path."""
        return self._paths(
            {key: file for exhibit in self.to_plot.values() for key, file in exhibit.plotted().items()}
        )

    def decided(self):
        """Return the files that verdicts on claims are written to: key in the rule's output -> path."""
        files = ("claims.csv", "claims_numbers.csv") if self.claims else ()
        return self._paths({_key(file): file for file in files})

    def _paths(self, files):
        return {key: f"{self.folder}/{file}" for key, file in files.items()}

    def rows_of_exhibits(self):
        """Return the stages that its exhibits are made from: ``rows_<stage>`` -> file of rows."""
        return self._rows(
            stage for exhibit in self.to_make.values() for stage in (*exhibit.rows, *exhibit.beside)
        )

    def rows_of_causes(self):
        """Return the stages that its causes are made from: ``rows_<stage>`` -> file of rows."""
        return self._rows(stage for name in self.causes_run for stage in self._stages_of_cause(name))

    def _stages_of_cause(self, name):
        return self.causes[name].get("rows", [name])

    def _rows(self, stages):
        return {f"rows_{stage}": self.gathered(stage) for stage in dict.fromkeys(stages)}

    def csv_of(self, exhibits):
        """Return the CSV files of some exhibits, and those that are made beside them: name -> path."""
        files = {
            exhibit.stem(part): f"{exhibit.stem(part)}.csv" for exhibit in exhibits for part in exhibit.parts
        }
        files |= {name: f"{name}.csv" for exhibit in exhibits for name in exhibit.also}
        return self._paths(files)

    def cell_files(self, run, names):
        """Return the files of some cells of a run."""
        return [f"{self.folder}/cells/{run.name}/{name}.parquet" for name in names]

    def inputs_of(self, run, earlier):
        """Return a function of the wildcards: the prepared data that a job of a run reads, and the rows of
        earlier stages below the folder `earlier`."""

        def inputs(wildcards):
            # all cells of a job read one data set, or none
            dataset = next(iter(run.cells_of(wildcards.job).values())).dataset
            data = {} if dataset is None else {"data": f"<resources>/data/{dataset}.npz"}
            return data | {stage: self.gathered(stage, earlier) for stage in run.after}

        return inputs

    def descriptions_of(self, run, registry):
        """Return a function of the wildcards: all that the rows of a job's cells depend on, but its
        inputs."""
        return lambda wildcards: [
            description(self.key, run, name, registry) for name in run.cells_of(wildcards.job)
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
        return [*rows, *self.exhibit_files().values(), *self.plotted().values(), *self.decided().values()]

    def printed(self):
        """Return the CSV files of the exhibits whose numbers the paper prints."""
        lines = Path(self.published).read_text().splitlines()[1:] if self.published else []
        named = {line.partition(",")[0] for line in lines}
        return [
            f"{self.folder}/{exhibit.stem(exhibit.parts[0])}.csv"
            for exhibit in self.exhibits.values()
            if exhibit.key in named
        ]

    def shown(self, results):
        """Return the entries of the report, a dict for each part of an exhibit: a ``file`` below the folder
        of all `results`, an image or a Markdown table; the path of its ``caption``; ``paper``, ``category``,
        ``key``, ``exhibit`` (its name) and ``subject``; and the ``stages`` whose rows it shows."""
        entries = []
        for exhibit in self.exhibits.values():
            for part in exhibit.parts:
                file = f"{exhibit.key}.svg" if exhibit.kind == "figure" else f"{exhibit.stem(part)}.md"
                subject = ", ".join([exhibit.subject, *part.values()])
                entries.append(
                    (file, exhibit.key, exhibit.key, exhibit.name, subject, self.stages_of(exhibit))
                )
        captions = FOLDER / self.key / "captions"
        return [
            {
                "file": f"{results}/{self.key}/{file}",
                "caption": from_here(captions / f"{caption}.rst"),
                "paper": self.key,
                "category": self.name,
                "key": key,
                "exhibit": name,
                "subject": subject,
                "stages": stages,
            }
            for file, caption, key, name, subject, stages in entries
        ]

    def scorecard_entry(self):
        """Return the paper's entry for the scorecard: name, exhibits, claims, limits and tolerances."""
        exhibits = {
            key: {"target": exhibit.target, "title": exhibit.title, "run_time": exhibit.run_time}
            for key, exhibit in self.exhibits.items()
            if not exhibit.unpublished
        }
        return {"name": self.name, "exhibits": exhibits, **self.claims}

    def places(self):
        """Return how each exhibit is made: the ``stages`` whose rows it shows, and the ``rules`` in turn."""
        places = {}
        for key, exhibit in self.exhibits.items():
            stages = self.stages_of(exhibit)
            names = [run.name for run in self.plan.runs if run.stage in stages]
            last = ["make_exhibits", "plot_figures"] if exhibit.kind == "figure" else ["make_exhibits"]
            places[key] = {"stages": stages, "rules": [f"{self.key}_{name}" for name in names + last]}
        return places

    @property
    def explained(self):
        """The file of what the variants of its causes have, as a list, empty without them."""
        return [f"{self.folder}/causes.csv"] if self.causes_run else []


def load_papers(folder=FOLDER):
    """Return the papers by key, from the folders that have a declaration, in the order of the years. A
    declaration that breaks its schema raises a `ValueError`."""
    papers = [_load(path) for path in Path(folder).glob("*/paper.yaml")]
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


def implied(key, entry, run_time=None):
    """Return the entry of an exhibit completed by its defaults, see the head of
    ``schemas/paper.schema.yaml``."""
    if not isinstance(entry, dict):
        return entry
    rows = {} if "drawn_from" in entry else {"rows": ["cells"]}
    numbered = re.fullmatch(r"(table|figure)(\d+)", key)
    named = {"kind": numbered[1], "name": f"{numbered[1].capitalize()} {numbered[2]}"} if numbered else {}
    complete = (
        {"unpublished": not numbered, "name": key.capitalize(), "run_time": run_time} | rows | named | entry
    )
    subject = complete.get("subject", "")
    return (
        {"heading": subject[:1].upper() + subject[1:], **complete}
        if complete.get("kind") == "table"
        else complete
    )


def _load(path):
    """Return the paper of a folder; a `ValueError` says in a sentence what its files lack."""
    key = path.parent.name
    for name in ("plan.py", "config.schema.yaml"):
        if not path.with_name(name).exists():
            raise ValueError(f"The paper {key} lacks the file {path.with_name(name)}.")
    declared = yaml.safe_load(path.read_text())
    entries, run_time = declared.get("exhibits", {}), declared.get("run_time")
    declared["exhibits"] = {name: implied(name, entry, run_time) for name, entry in entries.items()}
    check_config(declared, WORKFLOW / "schemas/paper.schema.yaml", f"declaration {key}/paper.yaml")
    exhibits = {name: Exhibit(key, name, **entry) for name, entry in declared["exhibits"].items()}
    causes_file, printed = path.with_name("causes.yaml"), path.with_name("printed.yaml")
    causes = yaml.safe_load(causes_file.read_text()) if causes_file.exists() else {}
    check_config(causes, WORKFLOW / "schemas/causes.schema.yaml", f"file {key}/causes.yaml")
    claims = {}
    if path.with_name("claims.py").exists():
        module = import_module(f"papers.{key}.claims")
        for name in ("Results", "LIMITS"):
            if not hasattr(module, name):
                raise ValueError(f"{path.with_name('claims.py')} lacks {name}.")
        limits = {name: asdict(limit) for name, limit in module.LIMITS.items()}
        claims = {"claims": declared_claims(module), "limits": limits}
    if path.with_name("printed.csv").exists() != printed.exists():
        raise ValueError(
            f"{path.with_name('printed.csv')} and printed.yaml need each other; one is not there."
        )
    if printed.exists():
        claims["figures"] = yaml.safe_load(printed.read_text())
        check_config(claims["figures"], WORKFLOW / "schemas/printed.schema.yaml", f"file {key}/printed.yaml")
    return Paper(key, declared["name"], declared.get("year"), exhibits, claims, causes)
