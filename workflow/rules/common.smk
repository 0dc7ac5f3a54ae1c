# Checks the configuration and the installed library before anything runs, and has the functions that several rules use.

import os
import sys
from copy import deepcopy
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod
from snakemake.utils import min_version, update_config

min_version("9.20")

# The folder workflow/, which is found also where another workflow uses this one as a module.
WORKFLOW = Path(os.path.normpath(workflow.current_basedir.get_path_or_uri(secret_free=False))).parent
if not (WORKFLOW / "lib").is_dir():
    raise WorkflowError(
        f"{WORKFLOW} is no folder of this machine: rules import modules beside them, so clone the repository, "
        "and name the Snakefile of the clone."
    )
sys.path.insert(0, str(WORKFLOW))

from lib.environment import (
    check_installed,
    library_folder,
    library_id,
    other_library,
    set_job_environment,
)

# Before any module that imports svmselect, and before PYTHONPATH has the folder of the workflow. Rows that are there are drawn by
# any library.
try:
    if config.get("compute", True):
        check_installed(WORKFLOW.parent)
    elif library_folder() is None:
        raise ValueError(other_library(WORKFLOW.parent))
except ValueError as error:
    raise WorkflowError(str(error)) from None

set_job_environment(WORKFLOW)

# Another svmselect that hides the installed one need not have what the workflow imports.
try:
    from data.registry import NAME
    from data.yaml_file import read_yaml
    from lib.config import call_of
    from lib.joblog import say_every_minute
    from lib.papers import check_rows, from_here, output_name
    from lib.run import check_any_rows, started
except ImportError as error:
    raise WorkflowError(f"{other_library(WORKFLOW.parent)} ({error})") from None

# Where another workflow uses this one as a module, its configuration takes the place of the file that the Snakefile names. It is
# laid over the demo's here, as a file on the command line is.
demo = read_yaml(WORKFLOW.parent / "config/config.yaml")
settings = deepcopy(demo)
update_config(settings, config)
is_demo = settings == demo
config.update(settings)

try:
    # Snakemake has read these files, and lets the last of two equal keys win
    for file in workflow.configfiles:
        if str(file).endswith((".yaml", ".yml")):
            read_yaml(file)
    PAPERS, REGISTRY = started(config)
    RESULTS = f"{config['folders']['results']}/{config['preset']}"
    # rows in a bucket are no files here
    if not (config["compute"] or workflow.storage_settings.default_storage_provider):
        check_any_rows(PAPERS, RESULTS)
except (ValueError, OSError) as error:
    raise WorkflowError(str(error)) from None

LOGS = f"{config['folders']['logs']}/{config['preset']}"
LIBRARY = library_id()
# What makes files of this configuration again, for readers of the report.
CALL = call_of(config, RESULTS, is_demo=is_demo)


pathvars:
    results=RESULTS,
    logs=LOGS,
    resources=config["folders"]["resources"],
    log_of_data=config["folders"]["logs"],


# The one handler that Snakemake calls before the first job, and before it deletes what jobs draw anew.
onstart:
    # 1) rows that no job of this run makes are held against the plan
    jobs = list(workflow.dag.needrun_jobs())
    files = {file for job in jobs for file in job.input} - {file for job in jobs for file in job.output}
    try:
        check_rows(PAPERS, RESULTS, files, config["compute"])
        if config["verify"]:
            compared = f"{config['folders']['results']}/{config['verify']['preset']}"
            check_rows(PAPERS, compared, files, computed=False)
    except ValueError as error:
        raise WorkflowError(str(error)) from None
    # 2) on a terminal there is a bar of progress, or a line for each job
    if not sys.stderr.isatty():
        say_every_minute(config["folders"]["logs"])


wildcard_constraints:
    dataset=NAME.pattern,
    stage=r"\w+",
    paper="|".join(PAPERS),


# The stages of all papers, each a pair of paper and stage.
STAGES = [(name, stage) for name, paper in PAPERS.items() for stage in paper.plan.stages]


# The software of every job, where `--sdm apptainer` asks for it: what container/svmselect.def is built into. Elsewhere Snakemake itself
# runs inside an environment in which svmselect is installed, and no image is named: its path may not have a blank.
if DeploymentMethod.APPTAINER in workflow.deployment_settings.deployment_method:

    container: str(WORKFLOW.parent / "build/svmselect.sif")


def modules(*names):
    """Return files of the workflow's code, as inputs: a rule runs again when they change."""
    return [local(from_here(WORKFLOW / f"{name}.py")) for name in names]


def published_of(paper):
    return {"published": local(paper.published)} if paper.published else {}


def reported(paper):
    """Return the files of a paper's exhibits, by name. The table or picture of each is marked for Snakemake's own report."""
    files = paper.exhibit_files()
    for exhibit in paper.exhibits.values():
        labels = {"exhibit": exhibit.name, "subject": exhibit.subject}
        for name in map(output_name, exhibit.shown_files):
            files[name] = report(files[name], category=paper.name, labels=labels)
    return files


def templates(*names):
    """Return the templates of HTML pages and the files that all of them include, as inputs."""
    included = ("macros.html", "page.html", "page.js", *names)
    return [local(from_here(WORKFLOW / "report" / name)) for name in included]


def raw_files(wildcards):
    """Return the folder of a data set's raw files, as a list; empty if it is generated, or comes with scikit-learn."""
    return (
        expand("<resources>/raw/{dataset}", dataset=wildcards.dataset)
        if REGISTRY[wildcards.dataset].sources
        else []
    )
