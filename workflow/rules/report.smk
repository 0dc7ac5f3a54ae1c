# The report: all exhibits with their captions, the scorecard and the provenance on one page.

# Every exhibit that the report shows: paper, exhibit and part; and the files that it reads.
SHOWN_EXHIBITS = [(name, exhibit) for name, paper in PAPERS.items() for exhibit in paper.exhibits.values()]
SHOWN = [(name, exhibit.key, part) for name, exhibit in SHOWN_EXHIBITS for part in exhibit.parts]
SHOWN_FILES = [f"<results>/{name}/{file}" for name, exhibit in SHOWN_EXHIBITS for file in exhibit.shown_files]


rule make_report:
    input:
        shown=SHOWN_FILES,
        published=[local(paper.published) for paper in PAPERS.values() if paper.published],
        scorecard="<results>/scorecard.csv",
        picture="<results>/scorecard.svg",
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        causes="<results>/scorecard_causes.csv",
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=SCORED),
        libraries="<results>/libraries.csv",
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
        templates=templates("report.html"),
        code=[
            *(local(module) for paper in PAPERS.values() for module in paper.modules),
            *modules("lib/exhibits", "lib/scorecard", "lib/shown", "lib/tables"),
        ],
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    params:
        config=config,
        papers={name: paper.name for name, paper in PAPERS.items()},
        contexts={name: paper.context(config) for name, paper in PAPERS.items()},
        claims={name: paper.scorecard_entry() for name, paper in SCORED.items()},
        places={name: paper.places() for name, paper in SCORED.items()},
        shown=SHOWN,
        call=CALL,
        results=lambda wildcards, output: os.path.dirname(output.html),
        logs=LOGS,
    script:
        "../scripts/make_report.py"
