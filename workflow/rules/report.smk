# The report: all exhibits with their captions, the scorecard and the provenance on one page.

# The files of every exhibit that the report shows, with their captions.
SHOWN = [exhibit for paper in PAPERS.values() for exhibit in paper.shown(RESULTS)]


rule make_report:
    input:
        shown=[exhibit["file"] for exhibit in SHOWN],
        captions=[local(exhibit["caption"]) for exhibit in SHOWN],
        description=local(from_here(WORKFLOW / "report/workflow.rst")),
        scorecard="<results>/scorecard.csv",
        pictures=["<results>/scorecard.svg", "<results>/misses.svg"],
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        causes="<results>/scorecard_causes.csv",
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=SCORED),
        libraries="<results>/libraries.csv",
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
        templates=templates("report.html"),
        code=modules("lib/pages", "lib/scorecard", "lib/shown", "lib/tables"),
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    params:
        config=config,
        claims={name: paper.scorecard_entry() for name, paper in SCORED.items()},
        places={name: paper.places() for name, paper in SCORED.items()},
        shown=SHOWN,
        facts={name: facts_of(paper) for name, paper in PAPERS.items()},
    script:
        "../scripts/make_report.py"
