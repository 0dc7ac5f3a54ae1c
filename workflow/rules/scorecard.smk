# Every published figure beside ours, and the verdict on every claim.

# The papers with claims, and those that print numbers, run or not.
JUDGED = {name: paper for name, paper in DECLARED.items() if paper.claims}
PRINTED = {name: paper for name, paper in JUDGED.items() if paper.published}
# Those that are run, and their exhibits that have printed numbers.
RUN = [name for name in JUDGED if name in PAPERS]
PRINTED_EXHIBITS = [(name, file) for name in PRINTED if name in PAPERS for file in PAPERS[name].printed()]

# The stages of all papers.
STAGES = [(name, stage) for name, paper in PAPERS.items() for stage in paper.rows]


rule make_libraries:
    input:
        rows=[f"<results>/{name}/rows/{stage}.parquet" for name, stage in STAGES],
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
        claims=expand("<results>/{paper}/claims.csv", paper=RUN),
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=RUN),
        published=[paper.published for paper in PRINTED.values()],
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
        claims={name: paper.judged() for name, paper in JUDGED.items()},
        preset=config["preset"],
        run=RUN,
        printed=list(PRINTED),
        paper_of=[name for name, _ in PRINTED_EXHIBITS],
        stages={
            name: {
                key: paper.stages_of(exhibit) if name in PAPERS else []
                for key, exhibit in paper.exhibits.items()
            }
            for name, paper in JUDGED.items()
        },
    script:
        "../scripts/make_scorecard.py"
