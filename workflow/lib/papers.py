"""Papers, each declared in a folder of its own.

A paper is a folder ``papers/<paper>``: its declaration ``paper.yaml``; ``plan.py``, which says what cells
there are (`lib.plan`), and ``cells.py``, which computes their rows; ``exhibits.py`` with one function per
exhibit, of its name, from rows to tidy rows; ``layout.py`` with ``<exhibit>_layout`` for each table and
``plots.py`` with ``plot_<exhibit>`` for each figure; ``claims.py`` and ``claims.yaml``; ``published.csv``; a
caption for each exhibit. These functions say by the names of their parameters what they want to be given
(`lib.given.Given`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import yaml

from lib.config import check_config, check_names
from lib.plan import Plan

__all__ = ["Exhibit", "Paper", "alt_text", "from_here", "load_papers", "with_plans"]

FOLDER = Path(__file__).resolve().parents[1] / "papers"
SCHEMAS = FOLDER.parent / "schemas"


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure.

    Attributes
    ----------
    paper, key : str
        The paper, and the name of the exhibit's function, caption and files.
    kind : {"table", "figure"}
    name, what : str
        As people call it, and what it shows.
    heading : str
        Above a table, the name of its parts in braces standing for one; the title of a figure's files, if it
        is not the name.
    rows : list of str
        Stages whose rows it is made from: the function is given all of them as ``rows``.
    beside : list of str
        Further stages, whose rows the function is given by their names.
    of : dict of str to list of str
        One name -> parts of which each has files of its own, ``<exhibit>/<part>``; the functions may ask for
        the part by that name. Empty: one file, ``<exhibit>``.
    also : list of str
        Further CSV files that its function returns.
    text : str
        Of a table: a function of its layout that says in sentences what it shows, and the file of these.
    drawn_from : str
        Of a figure without rows of its own: the exhibit whose rows it draws.
    own : bool
        Whether it is ours, and not the paper's.
    run_time : str or None
        What its rows took at full scale.
    """

    paper: str
    key: str
    kind: str
    name: str
    what: str
    heading: str = ""
    rows: list = field(default_factory=list)
    beside: list = field(default_factory=list)
    of: dict = field(default_factory=dict)
    also: list = field(default_factory=list)
    text: str = ""
    drawn_from: str = ""
    own: bool = False
    run_time: str | None = None

    @property
    def parts(self):
        """Its parts, each with its name: a list of dicts, one empty where it has none."""
        return [{name: part} for name, parts in self.of.items() for part in parts] or [{}]

    def stem(self, part):
        """Name of the files of a part, without suffix."""
        return "/".join([self.key, *part.values()])

    @property
    def caption(self):
        return from_here(FOLDER / self.paper / "captions" / f"{self.key}.rst")

    @property
    def title(self):
        return f"{self.name}: {self.what}"

    def made(self, part):
        """Files that are made from rows of a part: key in the rule's output -> name in the paper's results;
        the first is the CSV file of the exhibit, the last ones are those of `also`."""
        suffixes = ("csv", "md", "tex") if self.kind == "table" else ("csv",)
        files = [f"{self.stem(part)}.{suffix}" for suffix in suffixes]
        files += [f"{self.text}.md"] if self.text else []
        return {_key(file): file for file in [*files, *(f"{name}.csv" for name in self.also)]}

    def plotted(self):
        """Files that are plotted, likewise."""
        return {_key(file): file for file in (f"{self.key}.pdf", f"{self.key}.svg")}

    @property
    def target(self):
        """The file that stands for it."""
        return f"{self.key}.pdf" if self.kind == "figure" else f"{self.stem(self.parts[0])}.csv"


def from_here(path):
    """A path as text, relative to the working directory if it is below it: so a checkout may be moved."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def alt_text(caption):
    """First paragraph of a caption file (reStructuredText), on one line."""
    return " ".join(Path(caption).read_text().strip().split("\n\n")[0].split())


def _key(file):
    """A file's name as that of an output in a rule."""
    return file.replace("/", "_").replace(".", "_")


@dataclass
class Paper:
    """A paper, as its folder and its rules declare it.

    Attributes
    ----------
    key, name : str
        Name of its folder, and of the paper.
    year : int or None
        None: not a paper, the comparison.
    exhibits : dict of str to Exhibit
        Those that the configuration asks for.
    claims : dict
        What `claims.yaml` says: ``claims``, ``limits`` and ``figures``; empty where there are no claims.
    plan : lib.plan.Plan
        What it runs.
    """

    key: str
    name: str
    year: int | None
    exhibits: dict
    claims: dict
    plan: Plan | None = None

    def set_plan(self, config, registry):
        """Find out what the paper runs, and leave out exhibits that need what is not run.

        Raises
        ------
        ValueError
            In a sentence, if the configuration names what there is not.
        """
        self.plan = import_module(f"papers.{self.key}.plan").plan(config, registry)
        self.exhibits = {key: own for key, own in self.exhibits.items() if key not in self.plan.without}

    @property
    def folder(self):
        return f"<results>/{self.key}"

    def gathered(self, stage):
        """The file of all rows of a stage."""
        return f"{self.folder}/rows/{stage}.parquet"

    @property
    def published(self):
        """The file of published figures, or None."""
        path = FOLDER / self.key / "published.csv"
        return from_here(path) if path.exists() else None

    @property
    def to_make(self):
        """The exhibits that have tidy rows of their own, by key."""
        return {key: own for key, own in self.exhibits.items() if not own.drawn_from}

    @property
    def to_plot(self):
        """The figures, by key."""
        return {key: own for key, own in self.exhibits.items() if own.kind == "figure"}

    def drawn(self):
        """The exhibits whose rows figures draw."""
        return [self.exhibits[own.drawn_from or key] for key, own in self.to_plot.items()]

    def modules(self, *names):
        """Those of some of its modules that it has, and the modules of its packages, which it finds by their
        folders and not by imports; as `lib.library.code_of` names them."""
        folder = FOLDER / self.key
        found = [path for name in names if (path := folder / f"{name}.py").exists()]
        for package in sorted(folder.glob("*/__init__.py")):
            found += sorted(package.parent.glob("[!_]*.py"))
        return [".".join(path.relative_to(FOLDER.parent).with_suffix("").parts) for path in found]

    def modules_of(self, run, cell):
        """The modules that a cell of a run executes, and those of the runs before it, likewise."""
        upstream = [own.module for own in self.plan.runs if own.stage in run.after]
        modules = dict.fromkeys([run.module, *run.cells[cell].modules, *upstream])
        return ["scripts.run_cells", *(f"papers.{self.key}.{module}" for module in modules)]

    def stages_of(self, exhibit):
        """The stages whose rows an exhibit shows; all of them where it is made from other exhibits."""
        if exhibit.drawn_from:
            return self.stages_of(self.exhibits[exhibit.drawn_from])
        return [*exhibit.rows, *exhibit.beside] or self.plan.stages

    def made(self):
        """What is made from rows: key in the rule's output -> path."""
        made = {}
        for own in self.to_make.values():
            for part in own.parts:
                made |= own.made(part)
        return self._paths(made)

    def plotted(self):
        """What is plotted, likewise."""
        return self._paths(
            {key: file for own in self.to_plot.values() for key, file in own.plotted().items()}
        )

    def decided(self):
        """What claims are written to, likewise."""
        if not self.claims:
            return {}
        return self._paths({_key(file): file for file in ("claims.csv", "claims_numbers.csv", "claims.md")})

    def _paths(self, files):
        return {key: f"{self.folder}/{file}" for key, file in files.items()}

    def rows_of(self, exhibits):
        """The stages that some exhibits are made from: ``rows_<stage>`` -> file of rows."""
        stages = dict.fromkeys(stage for own in exhibits for stage in (*own.rows, *own.beside))
        return {f"rows_{stage}": self.gathered(stage) for stage in stages}

    def csv_of(self, exhibits):
        """The CSV files of some exhibits, and what is made beside them: name -> path."""
        files = {own.stem(part): f"{own.stem(part)}.csv" for own in exhibits for part in own.parts}
        files |= {name: f"{name}.csv" for own in exhibits for name in own.also}
        return self._paths(files)

    def results(self):
        """What the paper's target asks for."""
        rows = [self.gathered(stage) for stage in self.plan.stages]
        return [*rows, *self.made().values(), *self.plotted().values(), *self.decided().values()]

    def printed(self):
        """CSV files whose figures the paper prints."""
        return [
            f"{self.folder}/{own.target}"
            for own in self.exhibits.values()
            if own.kind == "table" and not own.own and self.published
        ]

    def shown(self, results):
        """What the report shows: a dict per exhibit, and part of it, and one of the claims.

        Parameters
        ----------
        results : str
            The folder of all results.

        Returns
        -------
        list of dict
            ``file``, an image or a Markdown table; ``caption``, its path; ``paper``, ``category``,
            ``exhibit`` and ``what``; ``stages``, those whose rows it shows.
        """
        found = []
        for own in self.exhibits.values():
            for part in own.parts:
                file = f"{own.key}.svg" if own.kind == "figure" else f"{own.stem(part)}.md"
                what = ", ".join([own.what, *part.values()])
                found.append((file, own.key, own.name, what, self.stages_of(own)))
        if self.claims:
            found.append(("claims.md", "claims", "Claims", "verdicts", self.plan.stages))
        captions = FOLDER / self.key / "captions"
        return [
            {
                "file": f"{results}/{self.key}/{file}",
                "caption": from_here(captions / f"{caption}.rst"),
                "paper": self.key,
                "category": self.name,
                "exhibit": name,
                "what": what,
                "stages": stages,
            }
            for file, caption, name, what, stages in found
        ]

    def judged(self):
        """What the scorecard is told: name, the paper's exhibits, claims, limits and tolerances."""
        exhibits = {
            key: {"target": own.target, "title": own.title, "run_time": own.run_time}
            for key, own in self.exhibits.items()
            if not own.own
        }
        return {"name": self.name, "exhibits": exhibits, **self.claims}


def load_papers(folder=FOLDER):
    """Papers by key, from the folders that have a declaration, in the order of the years.

    Raises
    ------
    ValueError
        In a sentence, if a declaration is not as the schema says.
    """
    schema = yaml.safe_load((SCHEMAS / "paper.schema.yaml").read_text())
    papers = [_load(path, schema) for path in Path(folder).glob("*/paper.yaml")]
    papers.sort(key=lambda paper: (paper.year is None, paper.year or 0, paper.key))
    return {paper.key: paper for paper in papers}


def with_plans(papers, config, registry):
    """Those of the papers that the configuration runs, with their plans.

    Parameters
    ----------
    papers : dict of str to Paper
        From `load_papers`.
    config : dict
        Checked, its defaults filled in.
    registry : svmselect.data.Registry

    Raises
    ------
    ValueError
        In a sentence, if the configuration names a paper or a data set that there is not.
    """
    names = config["papers"] or papers
    check_names("papers", names, papers)
    chosen = {name: own for name, own in papers.items() if name in names}
    for paper in chosen.values():
        paper.set_plan(config, registry)
    return chosen


def _load(path, schema):
    declared = yaml.safe_load(path.read_text())
    key = path.parent.name
    check_config(declared, schema, f"declaration {key}/paper.yaml")
    exhibits = {}
    for name, entry in declared["exhibits"].items():
        exhibits[name] = Exhibit(key, name, **entry)
    claims = path.with_name("claims.yaml")
    return Paper(
        key,
        declared["name"],
        declared.get("year"),
        exhibits,
        yaml.safe_load(claims.read_text()) if claims.exists() else {},
    )
