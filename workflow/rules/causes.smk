# Causes of misses: what their variants and proofs have, made from their rows. The cells of a variant are a run of the plan.

EXPLAINED = {name: paper for name, paper in PAPERS.items() if paper.causes_run}

for paper in EXPLAINED.values():

    rule:
        name:
            f"{paper.key}_make_causes"
        input:
            **paper.rows_of_causes(),
            code=list(map(local, paper.modules)),
        output:
            csv=f"<results>/{paper.key}/causes.csv",
        log:
            f"<logs>/{paper.key}/make_causes.log",
        params:
            paper=paper.key,
            causes={name: paper.causes[name] for name in paper.causes_run},
        script:
            "../scripts/make_causes.py"
