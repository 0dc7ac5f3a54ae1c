# The configuration, checked; what jobs inherit; the sources that numbers depend on.

import sys
from dataclasses import asdict
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate
from svmselect.data import load_registry

min_version("9.20")

WORKFLOW = Path(workflow.basedir, "workflow")
sys.path.insert(0, str(WORKFLOW))

from lib.claims import check_claims, limits
from lib.config import check_cache, check_config, check_datasets, check_writable, grid
from lib.environment import cache_folder, set_job_environment
from lib.library import sources
from lib.papers import load_papers
from lib.redraw import with_rows

set_job_environment(WORKFLOW)


def schema(name):
    return WORKFLOW / "schemas" / f"{name}.schema.yaml"


def checked(config, claims):
    """Check the configuration and the claims of the papers, in sentences; fill in the defaults of the configuration's schema; return
    the registry of data sets."""
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
    stage=r"cells|stopping|test|seeds|cached|libsvm|along_C|variants",
    experiment=r"width|C|class_weights|instance_weights|size",
    m=r"\d+",
    part=r"\d+",
    train=r"\d+",
    settings=r"published|chosen",
    k=r"\d+|loo",


# The software of every job, for the record: run snakemake inside this environment, with svmselect installed.
ENVIRONMENT = "../../environment.yml"

# Sources that numbers depend on. They are inputs of the jobs that use them, so that an edit reruns those; tests/workflow
# checks that none is missing in the rules. A method in a folder of its own is named by the papers that use it.
SOLVER_SOURCES = sources("src/svmselect")
LOO_SOURCES = sources("src/svmselect/loo")
BOUNDS_SOURCES = sources("src/svmselect/bounds")
CV_SOURCES = sources("src/svmselect/cv")
EDITING_SOURCES = sources("src/svmselect/editing")
DATA_SOURCES = expand(
    "src/svmselect/data/{file}.py",
    file=[
        "bundled",
        "dataset",
        "formats",
        "matlab",
        "prepare",
        "registry",
        "splits",
        "synthetic",
    ],
)
SPLIT_SOURCES = expand("src/svmselect/data/{file}.py", file=["dataset", "splits"])


def lib(*modules):
    """Files of the modules of workflow/lib that a script imports, for the same reason."""
    return [f"workflow/lib/{module.replace('.', '/')}.py" for module in modules]


def code_of(paper, *modules):
    """The same, of modules of a paper."""
    return [f"workflow/papers/{paper}/{module}.py" for module in modules]


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
