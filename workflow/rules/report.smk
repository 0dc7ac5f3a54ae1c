# What every preset ends with: provenance and the HTML report.


if not config["redraw"]:

    rule make_provenance:
        input:
            results=[paper.results() for paper in PAPERS.values()],
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


# What the report shows of every exhibit.
SHOWN = [exhibit for paper in PAPERS.values() for exhibit in paper.shown(f"results/{config['preset']}")]


rule make_report:
    input:
        shown=[exhibit["file"] for exhibit in SHOWN],
        captions=[exhibit["caption"] for exhibit in SHOWN],
        description="workflow/report/workflow.rst",
        scorecard="<results>/scorecard.csv",
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=RUN),
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
        claims={name: paper.judged() for name, paper in JUDGED.items()},
        run=RUN,
        shown=SHOWN,
        facts={name: facts_of(paper) for name, paper in PAPERS.items()},
    script:
        "../scripts/make_report.py"
