# Checks the configuration and the installed library before anything runs, and has the functions that several rules use.

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, update_config

min_version("9.20")

# The folder workflow/, which is found also where another workflow uses this one as a module.
WORKFLOW = Path(os.path.normpath(workflow.current_basedir.get_path_or_uri(secret_free=False))).parent
sys.path.insert(0, str(WORKFLOW))

from data.yaml_file import read_yaml
from lib.config import project_file
from lib.environment import set_job_environment
from lib.papers import check_rows, from_here, output_name

set_job_environment(WORKFLOW)

# Where another workflow uses this one as a module, its configuration takes the place of the file that the Snakefile names. It is
# laid over the demo's here, as a file on the command line is.
settings = read_yaml(WORKFLOW.parent / "config/config.yaml")
update_config(settings, config)
config.update(settings)

try:
    from data.registry import NAME
    from lib.environment import check_installed, library_id
    from lib.run import started

    # Snakemake has read these files, and lets the last of two equal keys win
    for file in workflow.configfiles:
        if str(file).endswith((".yaml", ".yml")):
            read_yaml(file)
    # rows that are there are drawn by any library
    if config.get("compute", True):
        check_installed(WORKFLOW.parent)
    PAPERS, REGISTRY = started(config)
except ImportError as error:
    raise WorkflowError(
        f"The installed svmselect is not that of this checkout ({error}): run `make env` first."
    )
except (ValueError, OSError) as error:
    raise WorkflowError(str(error)) from None

LIBRARY = library_id()
RESULTS = f"{config['folders']['results']}/{config['preset']}"


pathvars:
    results=RESULTS,
    logs=f"{config['folders']['logs']}/{config['preset']}",
    resources=config["folders"]["resources"],
    log_of_data=config["folders"]["logs"],


wildcard_constraints:
    dataset=NAME.pattern,
    stage=r"\w+",
    paper="|".join(PAPERS),


# The stages of all papers, each a pair of paper and stage.
STAGES = [(name, stage) for name, paper in PAPERS.items() for stage in paper.plan.stages]


# The software of every job, where `--sdm apptainer` asks for it: what container/svmselect.def is built into. Elsewhere Snakemake itself
# runs inside an environment in which svmselect is installed.
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
