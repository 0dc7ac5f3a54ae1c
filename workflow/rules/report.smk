# What every preset ends with: provenance and the HTML report.


if not config["redraw"]:

    rule make_provenance:
        input:
            results=[paper.results() for paper in PAPERS.values()],
            data=expand("resources/data/{dataset}.npz", dataset=DATASETS),
            library=sorted({source for paper in PAPERS.values() for source in paper.sources}),
        output:
            provenance="<results>/provenance.json",
            config="<results>/config.yaml",
        log:
            "<logs>/make_provenance.log",
        conda:
            ENVIRONMENT
        params:
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
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
        templates=expand("workflow/report/{name}.html", name=["macros", "page", "report"]),
        code=lib("figures", "pages", "scorecard", "tables"),
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    conda:
        ENVIRONMENT
    params:
        config=config,
        claims={name: paper.judged() for name, paper in JUDGED.items()},
        run=RUN,
        shown=SHOWN,
        facts={name: facts_of(paper) for name, paper in PAPERS.items()},
    script:
        "../scripts/make_report.py"
