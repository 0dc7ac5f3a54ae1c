# The cells of all papers: the rules are made from the plans, for each function that computes cells. The first rule of a function
# computes one cell, also below again/, where verify wants it. Cells that take little share a job: they are the outputs of a
# numbered rule, which computes those that are missing or that come from other parameters or code.
#
# gather_rows puts the rows of a stage into one file, rows/<stage>.parquet. Exhibits are made from that file; it is small enough to
# be committed, and it is an input, too: a cell is computed only if the file lacks its rows, or if they come from other data,
# parameters or code.

for paper in PAPERS.values():
    for run in paper.plan.runs:

        jobs = run.jobs(config["minutes_per_job"], DOWNLOADED)

        rule:
            name:
                f"{paper.key}_{run.verb}"
            input:
                unpack(inputs_of(paper, run)),
            output:
                rows=f"<results>/{paper.key}/{{cell}}.parquet",
            log:
                f"<logs>/{paper.key}/{{cell}}.log",
            wildcard_constraints:
                cell=run.pattern([name for job in jobs if len(job) == 1 for name in job]),
            cache: CACHE
            priority: priority_of(paper, run)
            resources:
                **EXCLUSIVE,
                mem_mb=growing(needed(run, "mem_mb")),
                runtime=growing(needed(run, "minutes")),
            params:
                code=code_of("scripts.run_cells"),
                wildcards=named,
                cells=described_of(paper, run),
            script:
                "../scripts/run_cells.py"

        for number, job in enumerate((job for job in jobs if len(job) > 1), start=1):

            rule:
                name:
                    f"{paper.key}_{run.verb}_{number}"
                input:
                    unpack(inputs_of(paper, run, job)),
                output:
                    rows=[updated(f"<results>/{paper.key}/{run.stage}/{name}.parquet") for name in job],
                log:
                    f"<logs>/{paper.key}/{run.stage}/{job[0]}-and-{len(job) - 1}-more.log",
                priority: priority_of(paper, run, job)
                resources:
                    **EXCLUSIVE,
                    mem_mb=growing(max(run.cells[name].mem_mb for name in job)),
                    runtime=growing(run.minutes(job)),
                params:
                    code=code_of("scripts.run_cells"),
                    cells=[described(paper, run, name, REGISTRY) for name in job],
                    stored=stored_rows_parameter(paper, run),
                script:
                    "../scripts/run_cells.py"


# It takes seconds, and its inputs are there: a cluster need not run it.
localrules:
    gather_rows,


rule gather_rows:
    input:
        rows=to_gather,
    output:
        rows=updated("<results>/{paper}/rows/{stage}.parquet"),
    log:
        "<logs>/{paper}/gather_rows/{stage}.log",
    params:
        code=code_of("scripts.gather_rows"),
        names=lambda wildcards: cells_of_rows(wildcards.paper, wildcards.stage),
        schema=lambda wildcards: PAPERS[wildcards.paper].plan.schema(wildcards.stage),
        stored=lambda wildcards, output: stored_rows(wildcards.paper, wildcards.stage),
    script:
        "../scripts/gather_rows.py"


# What the run will cost. The same is asked at any time by: PYTHONPATH=workflow python -m lib.cost
onstart:
    to_make = {FILES.path(file) for job in workflow.dag.needrun_jobs() for file in job.output}
    cost = total(costs(PAPERS, REGISTRY, config, to_make, FILES.readable).values())
    if cost.cells:
        print(f"To compute: {cost}.", file=sys.stderr)
        if not FILES.remote:
            machine = {"cpu": cpu_model(), "cores": workflow.cores, "memory_mb": memory_mb()}
            note(
                RUN_LOG,
                BEGIN,
                commit=commit(),
                **machine,
                cells=cost.cells,
                forecast_cpu_s=round(cost.cpu_s),
            )
        if workflow.local_exec:
            print(verdict(cost, memory_mb(), workflow.cores), file=sys.stderr)
            if cost.known:
                print(forecast(cost, workflow.cores, memory_mb()), file=sys.stderr)


onsuccess:
    note_end(COMPLETE)


onerror:
    note_end("not all could be made: the same call again goes on")
