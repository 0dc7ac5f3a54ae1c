# Every published figure beside ours, and the verdict on every claim.

# The papers that are run; what is run beside them has no claims.
REPRODUCED = [name for name in PAPERS if name in CLAIMS]
# The papers that print numbers, also those that are not run.
PRINTED = [name for name, paper in CLAIMS.items() if "figures" in paper]
# The exhibits that have them, and the paper of each.
PRINTED_EXHIBITS = [
    (name, file) for name in REPRODUCED if name in PRINTED for file in PAPERS[name]["printed"]
]


rule make_scorecard:
    input:
        exhibits=[file for _, file in PRINTED_EXHIBITS],
        claims=expand("<results>/{paper}/claims.csv", paper=REPRODUCED),
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=REPRODUCED),
        published=expand("config/published/{paper}.csv", paper=PRINTED),
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
        claims=CLAIMS,
        preset=config["preset"],
        run=REPRODUCED,
        printed=PRINTED,
        paper_of=[name for name, _ in PRINTED_EXHIBITS],
    script:
        "../scripts/make_scorecard.py"
