# What every preset ends with: provenance and the HTML report.


if not config["redraw"]:

    rule make_provenance:
        input:
            results=[paper["results"] for paper in PAPERS.values()],
            data=expand("resources/data/{dataset}.npz", dataset=DATASETS),
        output:
            provenance="<results>/provenance.json",
            config="<results>/config.yaml",
        log:
            "<logs>/make_provenance.log",
        conda:
            ENVIRONMENT
        params:
            code=code_of("scripts.make_provenance"),
            cells=lambda wildcards: {
                f"{paper}/{stage}": digests
                for (paper, stage), digests in zip(STAGES, present_codes(), strict=True)
            },
            config=config,
        script:
            "../scripts/make_provenance.py"


# What rules mark with report(): a table is shown as its Markdown file has it, beside the CSV that is marked.
TARGETS = {
    target.replace(f"<{name}>", f"results/{config['preset']}/{name}")
    for name, paper in PAPERS.items()
    for target in paper["results"]
}
MARKED = marked(workflow.rules, workflow.basedir, TARGETS, {"settings": WEN2017_BOTH})


rule make_report:
    input:
        shown=[exhibit["file"] for exhibit in MARKED],
        captions=[exhibit["caption"] for exhibit in MARKED],
        description="workflow/report/workflow.rst",
        scorecard="<results>/scorecard.csv",
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=JUDGED),
        libraries="<results>/libraries.csv",
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
        templates=expand("workflow/report/{name}.html", name=["macros", "page", "report"]),
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.make_report"),
        config=config,
        claims=CLAIMS,
        run=JUDGED,
        marked=MARKED,
        stages=lambda wildcards: [
            stages_behind(workflow.rules, exhibit["file"], STAGE_ROWS) for exhibit in MARKED
        ],
    script:
        "../scripts/make_report.py"
