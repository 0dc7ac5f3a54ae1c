# One rule for each paper: from rows to tables and figures, and the verdicts on its claims.


# The modules of all papers that make exhibits.
DRAWING = ("claims", "exhibits", "figures", "shown", "tables")


for paper in PAPERS.values():

    rule:
        name:
            f"{paper.key}_make_exhibits"
        input:
            **paper.rows_of_exhibits(),
            **published_of(paper),
            code=[*map(local, paper.modules), *modules(*(f"lib/{name}" for name in DRAWING))],
        output:
            **reported(paper),
            **paper.decided(),
        log:
            f"<logs>/{paper.key}/make_exhibits.log",
        params:
            paper=paper.key,
            exhibits=list(paper.exhibits),
            claims=paper.claims.get("claims", {}),
            full_scale=config["full_scale"],
            context=paper.context(config),
            form=config["figures"],
        script:
            "../scripts/make_exhibits.py"


# Rows that no job of this run makes are held against the plan before Snakemake deletes what the jobs draw anew.
onstart:
    jobs = list(workflow.dag.needrun_jobs())
    files = {file for job in jobs for file in job.input} - {file for job in jobs for file in job.output}
    try:
        check_rows(PAPERS, RESULTS, files, config["compute"])
        if config["verify"]:
            compared = f"{config['folders']['results']}/{config['verify']['preset']}"
            check_rows(PAPERS, compared, files, computed=False)
    except ValueError as error:
        raise WorkflowError(str(error)) from None
