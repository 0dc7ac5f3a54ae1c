"""Exhibits: the tables and figures of a paper, each a file ``papers/<paper>/exhibits/<exhibit>.py``.

``EXHIBITS`` of the package ``papers/<paper>/exhibits`` lists the modules in the order of the report. Each has

- a docstring: name and title on its first line, such as "Table 4: how well each rule predicts the test
  error.", then the caption, a template (reStructuredText with Jinja, see `Exhibit.caption_of`). Its first
  paragraph describes the picture to those who do not see it.
- ``STAGES``, the stages of rows that it is made from; none if it is made from exhibits listed before it. The
  stage of a cause is left out where the cause is not run.
- if need be ``PARTS``, names of parts that have files of their own, and ``RUN_TIME``, what its rows took at
  full scale.
- ``tidy(rows, context)``, from rows, a dict of stage -> DataFrame, to the tidy rows of ``<exhibit>.csv``:
  dicts as `lib.tables.measured` makes them, or a DataFrame.
- ``table(tidy, context)``, from these tidy rows to a `lib.tables.Table`, or ``figure(tidy, context)``, to a
  figure of Matplotlib (`lib.figures`). Which of both there is says what kind the exhibit is of.

The argument `context` is a `Context`.
"""

import inspect
import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pandas as pd

from lib.tolerances import read_published


@dataclass(frozen=True, kw_only=True)
class Context:
    """Values that the functions of an exhibit use beside their rows."""

    settings: dict = field(default_factory=dict)  # the paper's section of the configuration
    facts: dict = field(default_factory=dict)  # of the paper's plan, see `lib.plan.Plan`
    limits: dict = field(default_factory=dict)  # tolerances of the paper's claims, by name
    published: pd.DataFrame | None = None  # what the paper prints, as tidy rows
    part: str = ""  # the one of `PARTS` that is made, if the exhibit has any
    exhibits: dict = field(default_factory=dict)  # in `tidy`: the tidy rows of the exhibits before this one


def read_context(values, part=""):
    """Return the `Context` of a paper, from the `values` of `lib.papers.Paper.context`."""
    published = read_published(values["published"]) if values["published"] else None
    return Context(**{**values, "published": published, "part": part})


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure of a paper, as its module declares it."""

    key: str  # the name of its module, and of its files
    module: ModuleType
    title: str  # name and subject
    caption: str  # the template
    kind: str  # table or figure
    stages: tuple
    parts: tuple  # one part without a name if it has none
    run_time: str

    @property
    def name(self):
        return self.title.partition(": ")[0]

    @property
    def subject(self):
        return self.title.partition(": ")[2]

    @property
    def alt(self):
        """The description of the picture: the first paragraph of the caption, on one line."""
        return " ".join(self.caption.split("\n\n")[0].split())

    @property
    def numbered(self):
        """Whether it is the paper's: those beyond it have no number."""
        return bool(re.fullmatch(r"(table|figure)\d+", self.key))

    def caption_of(self, config, values):
        """Return the caption with the values that its template names: ``config`` is the configuration, and
        others, such as ``settings["folds"]``, are `values` of `Context`."""
        # imported here, as the Snakefile imports this module and writes no caption
        from jinja2 import StrictUndefined, Template

        return Template(self.caption, undefined=StrictUndefined).render(config=config, **values)

    def stem(self, part):
        """Return the name of the files of a part, without suffix."""
        return f"{self.key}/{part}" if part else self.key

    def title_of(self, part):
        return f"{self.title}, {part}" if part else self.title

    @property
    def tidy_files(self):
        return [f"{self.stem(part)}.csv" for part in self.parts]

    def files_of(self, part):
        """Return the files of a part: the tidy rows first, then those for readers, Markdown and LaTeX or PDF
        and SVG."""
        suffixes = ("csv", "md", "tex") if self.kind == "table" else ("csv", "pdf", "svg")
        return [f"{self.stem(part)}.{suffix}" for suffix in suffixes]

    @property
    def shown_files(self):
        """The files that a page shows: the tidy rows of a table, the picture of a figure."""
        return self.tidy_files if self.kind == "table" else [f"{self.key}.svg"]

    @property
    def target(self):
        """The file that stands for it."""
        return self.tidy_files[0] if self.kind == "table" else f"{self.key}.pdf"


def load_exhibits(paper):
    """Return the exhibits of a paper by key, in their order. If a module is no exhibit, a `ValueError` names
    the paper, the file and what it lacks."""
    package = import_module(f"papers.{paper}.exhibits")
    if not hasattr(package, "EXHIBITS"):
        raise ValueError(f"{paper}: {_file(package)} lacks EXHIBITS, the modules of its exhibits.")
    exhibits = [_exhibit(paper, module) for module in package.EXHIBITS]
    return {exhibit.key: exhibit for exhibit in exhibits}


def _exhibit(paper, module):
    title, _, caption = inspect.cleandoc(module.__doc__ or "").partition("\n")
    kinds = [kind for kind in ("table", "figure") if hasattr(module, kind)]
    needs = {
        'a docstring whose first line is "Name: title."': ": " in title,
        "a caption, the rest of its docstring": caption.strip(),
        "STAGES, the stages whose rows it is made from": hasattr(module, "STAGES"),
        "the function tidy(rows, context)": hasattr(module, "tidy"),
        "a function table(tidy, context) or figure(tidy, context), and only one": len(kinds) == 1,
    }
    for need, holds in needs.items():
        if not holds:
            raise ValueError(f"{paper}: {_file(module)} lacks {need}.")
    return Exhibit(
        key=module.__name__.rpartition(".")[2],
        module=module,
        title=title.rstrip("."),
        caption=caption.strip(),
        kind=kinds[0],
        stages=module.STAGES,
        parts=getattr(module, "PARTS", ("",)),
        run_time=getattr(module, "RUN_TIME", ""),
    )


def check_stages(paper, exhibits, stages):
    """Check that the plan of a paper has the stages whose rows its exhibits are made from."""
    for exhibit in exhibits:
        for stage in exhibit.stages:
            if stage not in stages:
                raise ValueError(
                    f"{paper}: {_file(exhibit.module)} names the stage {stage!r}, which plan.py lacks with "
                    f"this configuration; the stages are: {', '.join(stages)}."
                )


def _file(module):
    return "/".join(Path(module.__file__).parts[-4:])
