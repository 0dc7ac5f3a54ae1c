# Every published figure beside ours, and the verdict on every claim.

# The papers with claims, and those that print numbers, run or not.
JUDGED = {name: paper for name, paper in DECLARED.items() if paper.claims}
PRINTED = {name: paper for name, paper in JUDGED.items() if paper.published}
# Those that are run, and their exhibits that have printed numbers.
RUN = [name for name in JUDGED if name in PAPERS]
PRINTED_EXHIBITS = [(name, file) for name in PRINTED if name in PAPERS for file in PAPERS[name].printed()]


rule make_scorecard:
    input:
        exhibits=[file for _, file in PRINTED_EXHIBITS],
        claims=expand("<results>/{paper}/claims.csv", paper=RUN),
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=RUN),
        published=[paper.published for paper in PRINTED.values()],
        templates=expand("workflow/report/{name}.html", name=["macros", "page", "scorecard"]),
        code=lib("claims", "pages", "published", "scorecard", "tables"),
    output:
        csv="<results>/scorecard.csv",
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        md="<results>/scorecard.md",
        html="<results>/scorecard.html",
    log:
        "<logs>/make_scorecard.log",
    conda:
        ENVIRONMENT
    params:
        claims={name: paper.judged() for name, paper in JUDGED.items()},
        preset=config["preset"],
        run=RUN,
        printed=list(PRINTED),
        paper_of=[name for name, _ in PRINTED_EXHIBITS],
    script:
        "../scripts/make_scorecard.py"
