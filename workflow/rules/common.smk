# The configuration and the library, checked; what jobs inherit.

import sys
from dataclasses import asdict
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate

min_version("9.20")

WORKFLOW = Path(workflow.basedir, "workflow")
sys.path.insert(0, str(WORKFLOW))

from lib.claims import check_claims, limits
from lib.config import check_cache, check_config, check_datasets, check_writable, grid
from lib.environment import cache_folder, set_job_environment
from lib.origins import present_code
from lib.papers import load_papers
from lib.redraw import with_rows

set_job_environment(WORKFLOW)

try:
    from lib.library import check_installed, code_of
    from svmselect.data import load_registry

    # Only where a run starts: a job says itself which code it ran, so sources may change while jobs run.
    if workflow.is_main_process:
        check_installed(WORKFLOW.parent / "src/svmselect")
except ImportError as error:
    raise WorkflowError(
        f"The installed svmselect is not that of this checkout ({error}): run `make env` first."
    )
except (ValueError, OSError) as error:
    raise WorkflowError(str(error)) from None


def schema(name):
    return WORKFLOW / "schemas" / f"{name}.schema.yaml"


def checked(config, claims):
    """Check the configuration and the claims of the papers, in sentences; fill in the defaults of the configuration's
    schema; return the registry of data sets."""
    try:
        check_config(config, yaml.safe_load(schema("config").read_text()))
        validate(config, str(schema("config")))
        check_claims(claims, yaml.safe_load(schema("claims").read_text()))
        registry = load_registry(config["registry"])
        check_writable(f"{folder}/{config['preset']}" for folder in ("results", "logs"))
        check_writable(["resources"])
        check_cache(cache_folder())
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error)) from None
    return registry


# What each paper declares; its rules add the rest.
PAPERS = DECLARED = load_papers()
REGISTRY = checked(config, {name: paper.judged() for name, paper in PAPERS.items() if paper.claims})


pathvars:
    results=f"results/{config['preset']}",
    logs=f"logs/{config['preset']}",


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    realisation=r"\d+",
    cell=r"linear|rbf-\d+",
    kernel=r"linear|rbf",
    stage=r"\w+",
    experiment=r"width|C|class_weights|instance_weights|size",
    m=r"\d+",
    part=r"\d+",
    train=r"\d+",
    settings=r"published|chosen",
    k=r"\d+|loo",


# The software of every job, for the record: run snakemake inside this environment, with svmselect installed.
ENVIRONMENT = str(WORKFLOW.parent / "environment.yml")


def contents(dataset):
    """What the registry says of a data set's contents, as text; a change of it prepares the set anew."""
    remarks = ("title", "licence", "citation", "notes", "homepage")
    return repr({key: value for key, value in asdict(REGISTRY[dataset]).items() if key not in remarks})


def raw(wildcards):
    """The raw files of a data set as a named input, if it has any."""
    return {"raw": f"resources/raw/{wildcards.dataset}"} if REGISTRY[wildcards.dataset].sources else {}


def known(names, among=REGISTRY):
    """Check data sets that the configuration names: key -> names; in sentences."""
    try:
        check_datasets(names, among)
    except ValueError as error:
        raise WorkflowError(str(error)) from None


def growing(need):
    """A resource: a number, or a function of the wildcards, and as much again with each further attempt."""

    def of_attempt(wildcards, attempt):
        return attempt * (need(wildcards) if callable(need) else need)

    return of_attempt


def named(wildcards, output):
    """The wildcards of a job as a parameter: Snakemake's cache, which knows a job by its script, parameters and
    inputs, would take two cells of one data set for the same. With `output` in the signature the parameter is not
    compared with that of the last run."""
    return dict(wildcards.items())


# Whether jobs that are dear may come from a cache that checkouts share, and go there.
CACHE = cache_folder() is not None

# Wall-clock times are taken where nothing else runs: on a cluster, a node of its own for each job.
EXCLUSIVE = {"slurm_extra": "--exclusive"} if config["timing"] == "exclusive" else {}


def present_codes():
    """Digests of the code that makes the rows of each stage now."""
    results = f"results/{config['preset']}"
    return [
        present_code(
            workflow.rules, (file.replace("<results>", results) for file in PAPERS[name].rows[stage])
        )
        for name, stage in STAGES
    ]


def shown(paper, exhibit, file):
    """A file for the report, with the caption of its exhibit."""
    labels = {"exhibit": exhibit.name, "what": exhibit.what}
    return report(file, caption=exhibit.caption, category=paper.name, labels=labels)


def made(paper):
    """Outputs made from rows; of a table the report has the CSV file."""
    files = paper.made()
    for exhibit in paper.to_make.values():
        for part in exhibit.parts if exhibit.kind == "table" else []:
            csv = next(iter(exhibit.made(part)))
            files[csv] = shown(paper, exhibit, files[csv])
    return files


def plotted(paper):
    """Outputs that are plotted; the report has the SVG file."""
    files = paper.plotted()
    for exhibit in paper.to_plot.values():
        _, svg = exhibit.plotted()
        files[svg] = shown(paper, exhibit, files[svg])
    return files


def facts_of(paper):
    """What the functions of a paper may ask for beside rows and files."""
    tolerances = limits(paper.claims, config["preset"]) if paper.claims else {}
    return {**paper.facts, **tolerances, "limits": tolerances}


def published_of(paper):
    return {"published": paper.published} if paper.published else {}
