# The scorecard: every published number beside ours, the verdict on every claim, and which libraries computed the rows.

# The papers with claims; those of them whose printed numbers we have; and the exhibits that these numbers stand in.
SCORED = {name: paper for name, paper in PAPERS.items() if paper.claims}
PRINTED = {name: paper for name, paper in SCORED.items() if paper.published}
PRINTED_EXHIBITS = [(name, file) for name, paper in PRINTED.items() for file in paper.printed()]


rule make_scorecard:
    """Compare every published number with ours, count, and draw all results."""
    input:
        exhibits=[file for _, file in PRINTED_EXHIBITS],
        claims=expand("<results>/{paper}/claims.csv", paper=SCORED),
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=SCORED),
        published=[local(paper.published) for paper in PRINTED.values()],
        causes=[file for paper in PRINTED.values() for file in paper.explained],
        rows=[PAPERS[name].gathered(stage) for name, stage in STAGES],
        code=modules(
            *(
                f"lib/{name}"
                for name in ("scorecard", "tolerances", "causes", "claims", "overview", "figures", "shown")
            )
        ),
    output:
        csv="<results>/scorecard.csv",
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        causes="<results>/scorecard_causes.csv",
        libraries="<results>/libraries.csv",
        pdf="<results>/scorecard.pdf",
        svg="<results>/scorecard.svg",
    log:
        "<logs>/make_scorecard.log",
    params:
        claims={name: paper.scorecard_entry() for name, paper in SCORED.items()},
        all_stages=STAGES,
        causes={name: paper.causes for name, paper in PRINTED.items()},
        causes_run={name: paper.causes_run for name, paper in PRINTED.items()},
        paper_of=[name for name, _ in PRINTED_EXHIBITS],
        papers={name: paper.name for name, paper in PRINTED.items()},
        form=config["figures"],
    script:
        "../scripts/make_scorecard.py"
