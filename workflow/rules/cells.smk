# The cells of all papers, and the files of rows that gather them: included where the configuration says `compute: true`. Each run
# of a plan (papers/<paper>/plan.py) has one rule. A job of it computes one cell, or all cells of a folder, such as the kernels of
# a data set and realisation.

from lib.plan import description

# Wall-clock times are taken where nothing else runs: on a cluster each job gets a node of its own.
EXCLUSIVE = {"slurm_extra": "--exclusive"} if config["timing"] == "exclusive" else {}

# The modules of all papers that run cells.
RUNNING = ("cell", "checkpoint", "job", "rows", "sample", "timing")

# The rows that cells of later stages are given. Cells that verify computes again get those of the preset that they are compared with.
EARLIER = f"{config['folders']['results']}/{config['verify']['preset']}" if config["verify"] else "<results>"


def cells_of(run, job):
    """Return the cells of a job, by name; there may be no such job."""
    if job not in run.jobs:
        raise WorkflowError(f"The run {run.name} has no job {job!r}; one is {next(iter(run.jobs))!r}.")
    return {name: run.cells[name] for name in run.jobs[job]}


def inputs_of(paper, run):
    """Return a function of the wildcards: the prepared data of a job, if it reads any, and the rows of earlier stages."""

    def inputs(wildcards):
        datasets = {cell.dataset for cell in cells_of(run, wildcards.job).values()} - {None}
        data = {"data": f"<resources>/data/{dataset}.npz" for dataset in datasets}
        return data | {stage: paper.gathered(stage, EARLIER) for stage in run.after}

    return inputs


def descriptions_of(paper, run):
    """Return a function of the wildcards: all that the rows of each cell of a job depend on, but for its inputs."""
    return lambda wildcards: [
        description(paper.key, run, name, REGISTRY) for name in cells_of(run, wildcards.job)
    ]


def most(run, need):
    """Return a function of the wildcards and the attempt: the largest need of a job's cells. Each further attempt gets as much more."""
    return lambda wildcards, attempt: attempt * max(
        getattr(cell, need) for cell in cells_of(run, wildcards.job).values()
    )


def together(run, need):
    """Return a function of the wildcards and the attempt: the sum of the needs of a job's cells, as `most` does."""
    return lambda wildcards, attempt: attempt * sum(
        getattr(cell, need) for cell in cells_of(run, wildcards.job).values()
    )


for paper in PAPERS.values():
    for run in paper.plan.runs:

        rule:
            name:
                f"{paper.key}_{run.name}"
            input:
                unpack(inputs_of(paper, run)),
                code=[*map(local, paper.code(run)), *modules(*(f"lib/{name}" for name in RUNNING))],
            output:
                rows=paper.cell_files(run, run.files),
            log:
                f"<logs>/{paper.key}/{run.name}/{{job}}.log",
            cache: CACHE and run.level is None
            resources:
                **EXCLUSIVE,
                mem_mb=most(run, "mem_mb"),
                runtime=together(run, "minutes"),
            params:
                library=LIBRARY,
                cells=descriptions_of(paper, run),
            script:
                "../scripts/run_cells.py"


# It takes seconds, and its inputs are there: a cluster need not run it.
localrules:
    gather_rows,
    make_provenance,


rule gather_rows:
    """Put the rows of all cells of a stage into one file."""
    input:
        cells=lambda wildcards: PAPERS[wildcards.paper].cells_of_stage(wildcards.stage),
    output:
        rows="<results>/{paper}/rows/{stage}.parquet",
    log:
        "<logs>/{paper}/gather_rows/{stage}.log",
    params:
        schema=lambda wildcards: PAPERS[wildcards.paper].plan.schema(wildcards.stage),
    script:
        "../scripts/gather_rows.py"


rule make_provenance:
    """Write what was run, with what, and when."""
    input:
        rows=[PAPERS[name].gathered(stage) for name, stage in STAGES],
        data=expand("<resources>/data/{dataset}.npz", dataset=DATASETS),
    output:
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
    log:
        "<logs>/make_provenance.log",
    params:
        config=config,
    script:
        "../scripts/make_provenance.py"


rule printed:
    """All that the papers print and claim, but not what explains or goes beyond it."""
    input:
        [paper.printed_cells() for paper in PAPERS.values()],
