# Causes of misses: what their variants and proofs have, made from their rows by a rule for each paper. Their cells are stages of the
# plan, so that cells.smk has the rules that run them. `snakemake causes` runs those that the configuration names.

EXPLAINED = {name: paper for name, paper in PAPERS.items() if paper.causes_run}

for paper in EXPLAINED.values():

    rule:
        name:
            f"{paper.key}_make_causes"
        input:
            **paper.rows_of_causes(),
            **published_of(paper),
        output:
            csv=f"<results>/{paper.key}/causes.csv",
        log:
            f"<logs>/{paper.key}/make_causes.log",
        params:
            code=code_of("scripts.make_causes", *paper.modules_of_causes()),
            paper=paper.key,
            causes={name: paper.causes[name] for name in paper.causes_run},
            facts=facts_of(paper),
        script:
            "../scripts/make_causes.py"
