# Checks the configuration and the installed library before anything runs, and has the functions that the rules use.

import os
import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, update_config

min_version("9.20")

# The folder workflow/, which is found also where another workflow uses this one as a module.
WORKFLOW = Path(os.path.normpath(workflow.current_basedir.get_path_or_uri(secret_free=False))).parent
sys.path.insert(0, str(WORKFLOW))

from lib.claims import check_claims, limits
from lib.config import (
    check_cache,
    check_config,
    check_writable,
    fill_defaults,
    load_schema,
    project_file,
    read_schema,
    read_texts,
)
from lib.environment import COMMIT, cache_folder, commit, cpu_model, set_job_environment
from lib.memory import machine_mb
from lib.papers import from_here, load_papers, with_plans
from lib.plan import contents
from lib.runlog import BEGIN, COMPLETE, END, note, runs
from lib.store import Files
from lib.verify import drawn

set_job_environment(WORKFLOW)

# Jobs on this machine together take no more memory than it has. On a cluster, the nodes see to that.
if workflow.is_main_process and workflow.local_exec and "mem_mb" not in workflow.resource_settings.resources:
    workflow.register_resource("mem_mb", machine_mb())


def memory_mb():
    """Return the memory that the jobs on this machine may take together, in 2**20 bytes."""
    given = workflow.global_resources.get("mem_mb")
    return machine_mb() if given is None else getattr(given, "value", given)


try:
    from lib.cost import costs, forecast, seconds, total, urgency, verdict
    from lib.library import check_installed, code_of
    from data import load_registry
    from lib.rows import cell_records, cells_to_compute
    from lib.run import described, required_cells

    # Only the process that starts a run checks this. Each job compares its own code, so sources may change while jobs run.
    if workflow.is_main_process:
        check_installed(WORKFLOW.parent / "src/svmselect")
except ImportError as error:
    raise WorkflowError(
        f"The installed svmselect is not that of this checkout ({error}): run `make env` first."
    )
except (ValueError, OSError) as error:
    raise WorkflowError(str(error)) from None


def checked(config, declared):
    """Check the configuration and the claims of the papers, and fill in the defaults of the configuration's schema. What is
    wrong ends the run in sentences. Return the papers that the configuration asks for, with their plans, and the registry
    of data sets."""
    try:
        schema = load_schema(WORKFLOW)
        read_texts(config, schema)
        check_config(config, schema)
        fill_defaults(config, schema)
        claims = {name: paper.scorecard_entry() for name, paper in declared.items() if paper.claims}
        check_claims(claims, read_schema("claims"))
        registry = load_registry(project_file(config["registry"], WORKFLOW.parent))
        check_writable(f"{config['folders'][name]}/{config['preset']}" for name in ("results", "logs"))
        check_writable([config["folders"]["resources"]])
        check_cache(cache_folder())
        papers = with_plans(declared, config, registry)
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error)) from None
    return papers, registry


# Where another workflow uses this one as a module, its configuration takes the place of the file that the Snakefile names. It is
# laid over the demo's here, as a file on the command line is.
settings = yaml.safe_load((WORKFLOW.parent / "config/config.yaml").read_text())
update_config(settings, config)
config.update(settings)

PAPERS, REGISTRY = checked(config, load_papers())
RESULTS = f"{config['folders']['results']}/{config['preset']}"
RUN_LOG = f"{RESULTS}/run.log"
FILES = Files(workflow)

# Pods get the sources without their history, and this variable.
if FILES.remote:
    os.environ.setdefault(COMMIT, commit() or "")

    envvars:
        COMMIT,


pathvars:
    results=RESULTS,
    logs=f"{config['folders']['logs']}/{config['preset']}",
    resources=config["folders"]["resources"],
    log_of_data=config["folders"]["logs"],


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    stage=r"\w+",
    paper="|".join(PAPERS),


# The stages of all papers, each a pair of paper and stage.
STAGES = [(name, stage) for name, paper in PAPERS.items() for stage in paper.plan.stages]


# The software of every job, where `--sdm apptainer` asks for it: what container/svmselect.def is built into. Elsewhere Snakemake itself
# runs inside an environment in which svmselect is installed.
container: str(WORKFLOW.parent / "build/svmselect.sif")


def raw(wildcards):
    """Return the raw files of a data set as a named input, if it has any."""
    return {"raw": f"<resources>/raw/{wildcards.dataset}"} if REGISTRY[wildcards.dataset].sources else {}


def named(wildcards, output):
    """Return the wildcards of a job as a parameter. Snakemake's cache knows a job by its script, parameters and inputs; without the
    wildcards it would take two cells of one data set for the same. The argument `output` keeps Snakemake from comparing
    the parameter with that of the last run."""
    return dict(wildcards.items())


# Whether prepared data and cells may come from a cache that checkouts share, and go there.
CACHE = cache_folder() is not None

# Priorities that no sum of minutes reaches: of what others wait for, and of what takes more than half of the memory.
FIRST, LARGE = 1_000_000, 100_000

# Wall-clock times are taken where nothing else runs: on a cluster each job gets a node of its own.
EXCLUSIVE = {"slurm_extra": "--exclusive"} if config["timing"] == "exclusive" else {}


def described_of(paper, run):
    """Return a function of the wildcards that returns the description of their cell, as a list of one."""
    return lambda wildcards: [described(paper, run, run.name(wildcards.cell), REGISTRY)]


def stored_rows_parameter(paper, run):
    """Return a parameter as a function of the wildcards and the output. Its value has the file of stored rows of a run's stage, and
    whether rows of any code will do. The folder of the output is no part of it, so that moved results do not rerun.
    """
    return lambda wildcards, output: (stored_rows(paper.key, run.stage), EVERY_CODE)


def needed(run, resource):
    """Return a function of the wildcards that returns how much of a resource, one of its attributes, their cell needs."""
    return lambda wildcards: getattr(run.cells[run.name(wildcards.cell)], resource)


def note_end(how):
    """Note the end of a run that had something to compute."""
    if not FILES.remote and (noted := runs(RUN_LOG)) and noted[-1]["ended"] is None:
        note(RUN_LOG, END, how=how)


@cache
def seconds_of(key, stage):
    """Return the CPU time that each cell of a stage would take by its last rows."""
    return seconds(stored_rows(key, stage), key, PAPERS[key].plan.runs_by_cell(stage))


def priority_of(paper, run, names=None):
    """Return the priority of a job, as a function of the wildcards. It is `lib.cost.urgency` of the minutes that its cells take by
    their last rows, or else by the plan, so that all cores end at the same time. Runs that others wait for start first.
    """

    def minutes(name):
        known = seconds_of(paper.key, run.stage).get(name)
        return run.cells[name].minutes if known is None else known / 60

    def priority(wildcards):
        if not workflow.is_main_process:
            return 0
        cells = names or [run.name(wildcards.cell)]
        large, longest = urgency(
            sum(map(minutes, cells)), max(run.cells[name].mem_mb for name in cells), memory_mb()
        )
        return run.priority * FIRST + large * LARGE + longest

    return priority


def growing(need):
    """Return a resource that grows with the attempts. `need`, a number or a function of the wildcards, is what the first attempt gets;
    each further one gets as much more."""
    return lambda wildcards, attempt: attempt * (need(wildcards) if callable(need) else need)


def dated(renewed, file):
    """Return a file as an input whose timestamp is ignored, unless the job has to run for another reason. After a job that ran,
    Snakemake would otherwise start the next one for the timestamp alone."""
    return file if renewed else ancient(file)


def inputs_of(paper, run, names=None):
    """Return an input function for some cells, or for that of the wildcards. Its files are those of their data sets, each once, and
    the gathered rows that they get, by the names of their stages. The cells' parameters tell what these files are made from, so
    that nothing is computed when they are merely written again."""

    def inputs(wildcards):
        cells = names or [run.name(wildcards.cell)]
        renewed = workflow.is_main_process and not missing_cells(paper.key, run.stage).isdisjoint(cells)
        data = [dated(renewed, f"<resources>/data/{dataset}.npz") for dataset in run.datasets(cells)]
        return {"data": data} | {stage: dated(renewed, paper.gathered(stage)) for stage in run.after}

    return inputs


@cache
def required_of(key, stage):
    return required_cells(PAPERS[key], stage, REGISTRY)


def file_of_cell(paper, stage, name):
    return f"{RESULTS}/{paper.key}/{stage}/{name}.parquet"


def file_of_rows(paper, stage):
    return paper.gathered(stage, RESULTS)


@cache
def stored_rows(key, stage):
    """Return the path of the rows of a stage that exist before this run."""
    return FILES.readable(file_of_rows(PAPERS[key], stage))


def updated(files):
    """Return outputs that a job finds as they were and changes. A job does not find files that are in a store: it gets the stored
    rows as a parameter."""
    return files if FILES.remote else update(files)


EVERY_CODE = config["rows_of_other_code"] == "keep"


def requested_cells(key, stage):
    """Return the cells of a stage that the configuration asks for: all, or without those beyond what the paper prints and claims."""
    runs, required = PAPERS[key].plan.runs_by_cell(stage), required_of(key, stage)
    leave = config["cells_beyond"] == "leave"
    return [record for record in required if not (leave and runs[record.cell].cells[record.cell].beyond)]


@cache
def missing_cells(key, stage):
    """Return the cells of a stage that its gathered rows lack, or have from other data, parameters or code."""
    return frozenset(cells_to_compute(stored_rows(key, stage), requested_cells(key, stage), EVERY_CODE))


def cells_of_rows(key, stage):
    """Return the cells to keep in the stage's file: the requested ones, and skipped ones that already have rows."""
    requested = {record.cell for record in requested_cells(key, stage)}
    stored = cell_records(stored_rows(key, stage))
    names = [record.cell for record in required_of(key, stage)]
    return [name for name in names if name in requested or name in stored]


def to_gather(wildcards):
    """Return the files of single cells that go into the gathered rows: those to compute, and those that exist."""
    paper, stage = PAPERS[wildcards.paper], wildcards.stage
    missing = missing_cells(paper.key, stage)
    records = {
        file_of_cell(paper, stage, record.cell): record for record in requested_cells(paper.key, stage)
    }
    if missing and workflow.is_main_process:
        # Snakemake does not ask what a file contains, and one that is there is as good to it without its inputs.
        missing_files = {file: record for file, record in records.items() if record.cell in missing}
        stale = [
            file
            for file, record in missing_files.items()
            if cells_to_compute(FILES.readable(file), [record], EVERY_CODE)
        ]
        workflow.dag.forcefiles.update(map(FILES.name, [file_of_rows(paper, stage), *stale]))
    return [file for file, record in records.items() if record.cell in missing or FILES.exists(file)]


@cache
def cells_to_verify():
    """Return the cells that verify computes. They are drawn once, so that input and parameter of the rule agree."""
    cells = [
        f"{name}/{stage}/{cell}" for name, stage in STAGES for cell in PAPERS[name].plan.runs_by_cell(stage)
    ]
    try:
        return drawn(cells, config["verify"])
    except ValueError as error:
        raise WorkflowError(str(error)) from None


def to_verify(wildcards):
    """Return the inputs of verify: the gathered rows of each paper and stage, and the files of the cells that are computed again."""
    names = [name.split("/", 2) for name in cells_to_verify()]
    gathered = {f"{paper}_{stage}": PAPERS[paper].gathered(stage) for paper, stage, _ in names}
    again = [f"{RESULTS}/{paper}/again/{stage}/{cell}.parquet" for paper, stage, cell in names]
    if FILES.remote and workflow.is_main_process:
        # the cells that verify has compared are still in the store
        workflow.dag.forcefiles.update(map(FILES.name, again))
    return {**gathered, "again": again}


def present_codes():
    """Return, for each of the STAGES, the digests of the code that computes its rows at present."""
    return [
        sorted({record.library.rpartition("+")[2] for record in required_of(name, stage)})
        for name, stage in STAGES
    ]


def reported(paper, files):
    """Return files of a paper, by key. Those that Snakemake's own report shows are marked for it, with the caption of their exhibit."""
    for exhibit in paper.exhibits.values():
        labels = {"exhibit": exhibit.name, "subject": exhibit.subject}
        # a relative path would be one from the folder of the rules
        caption = os.path.abspath(exhibit.caption)
        for key in files.keys() & exhibit.reported():
            files[key] = report(files[key], caption=caption, category=paper.name, labels=labels)
    return files


def facts_of(paper):
    """Return the values that the functions of a paper may ask for by name, beside rows and files: facts of its plan, and
    tolerances of its claims."""
    tolerances = limits(paper.claims) if paper.claims else {}
    return {**paper.plan.facts, **tolerances, "limits": tolerances, "full_scale": config["preset"] == "paper"}


def published_of(paper):
    return {"published": local(paper.published)} if paper.published else {}


def captions_of(exhibits):
    return [local(exhibit.caption) for exhibit in exhibits]


def templates(*names):
    """Return the templates of HTML pages and the files that all of them include, as inputs."""
    included = ("macros.html", "page.html", "page.js", *names)
    return [local(from_here(WORKFLOW / "report" / name)) for name in included]
