# Every published figure beside ours, and the verdict on every claim.

# The papers that are run, and those that print numbers, run or not.
JUDGED = [name for name in CLAIMS if name in PAPERS]
PRINTED = [name for name, paper in CLAIMS.items() if "figures" in paper]
# The exhibits that have them, and the paper of each.
PRINTED_EXHIBITS = [(name, file) for name in JUDGED if name in PRINTED for file in PAPERS[name]["printed"]]

# The stages of all papers, and the stage of each file of rows.
STAGES = [(name, stage) for name, paper in PAPERS.items() for stage in paper["rows"]]
STAGE_ROWS = {placed(name, f"<{name}>/rows/{stage}.parquet"): stage for name, stage in STAGES}


rule make_libraries:
    input:
        rows=list(STAGE_ROWS),
    output:
        csv="<results>/libraries.csv",
    log:
        "<logs>/make_libraries.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.make_libraries"),
        stages=STAGES,
        present=lambda wildcards: present_codes(),
    script:
        "../scripts/make_libraries.py"


rule make_scorecard:
    input:
        exhibits=[file for _, file in PRINTED_EXHIBITS],
        claims=expand("<results>/{paper}/claims.csv", paper=JUDGED),
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=JUDGED),
        published=expand("config/published/{paper}.csv", paper=PRINTED),
        libraries="<results>/libraries.csv",
        templates=expand("workflow/report/{name}.html", name=["macros", "page", "scorecard"]),
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
        code=code_of("scripts.make_scorecard"),
        claims=CLAIMS,
        preset=config["preset"],
        run=JUDGED,
        printed=PRINTED,
        paper_of=[name for name, _ in PRINTED_EXHIBITS],
        stages=lambda wildcards: {
            paper: {
                exhibit: shown_stages(paper, shown["target"]) if paper in PAPERS else []
                for exhibit, shown in entry["exhibits"].items()
            }
            for paper, entry in CLAIMS.items()
        },
    script:
        "../scripts/make_scorecard.py"
