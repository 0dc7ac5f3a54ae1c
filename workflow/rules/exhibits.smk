# One rule for each paper: from rows to tables and figures, and the verdicts on its claims.


def reported(paper):
    """Return the files of a paper's exhibits, by name. The table or picture of each is marked for Snakemake's own report."""
    files = paper.exhibit_files()
    for exhibit in paper.exhibits.values():
        labels = {"exhibit": exhibit.name, "subject": exhibit.subject}
        for name in map(output_name, exhibit.shown_files):
            files[name] = report(files[name], category=paper.name, labels=labels)
    return files


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
            full_scale=config["preset"] == "paper",
            context=paper.context(config),
            form=config["figures"],
        script:
            "../scripts/make_exhibits.py"
