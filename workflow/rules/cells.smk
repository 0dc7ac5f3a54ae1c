# The cells of all papers, and the files of rows that gather them: included where the configuration says `compute: true`. Each run
# of a plan (papers/<paper>/plan.py) has one rule. A job of it computes one cell, all cells of a folder, such as the kernels of a
# data set and realisation, or all cells.

# Wall-clock times are taken where nothing else runs: on a cluster each job gets a node of its own.
EXCLUSIVE = {"slurm_extra": "--exclusive"} if config["timing"] == "exclusive" else {}

# The modules of all papers that run cells.
RUNNING = ("cell", "checkpoint", "job", "rows", "sample", "timing")

# The rows that cells of later stages are given. Cells that verify computes again get those of the preset that they are compared with.
EARLIER = f"{config['folders']['results']}/{config['verify']['preset']}" if config["verify"] else "<results>"


for paper in PAPERS.values():
    for run in paper.plan.runs:

        rule:
            name:
                f"{paper.key}_{run.name}"
            input:
                unpack(paper.inputs_of(run, EARLIER)),
                code=[*map(local, paper.code(run)), *modules(*(f"lib/{name}" for name in RUNNING))],
            output:
                rows=paper.cell_files(run, run.files),
            log:
                f"<logs>/{paper.key}/{run.log}",
            cache: CACHE and len(run.files) == 1
            resources:
                **EXCLUSIVE,
                mem_mb=run.most("mem_mb"),
                runtime=run.total("minutes"),
            params:
                library=LIBRARY,
                stage=run.stage,
                cells=paper.descriptions_of(run, REGISTRY),
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
