# One rule for each paper: from rows to tables and figures, and the verdicts on its claims.


# The modules of all papers that make exhibits.
DRAWING = ("claims", "exhibits", "figures", "shown", "tables")


for paper in PAPERS.values():

    rule:
        name:
            f"{paper.key}_make_exhibits"
        input:
            **paper.rows_of_exhibits(),
            **published_of(paper),
            code=[*map(local, paper.modules), *modules(*(f"lib/{name}" for name in DRAWING))],
        output:
            **reported(paper),
            **paper.decided(),
        log:
            f"<logs>/{paper.key}/make_exhibits.log",
        params:
            paper=paper.key,
            exhibits=list(paper.exhibits),
            claims=paper.claims.get("claims", {}),
            full_scale=config["full_scale"],
            context=paper.context(config),
            form=config["figures"],
        script:
            "../scripts/make_exhibits.py"
