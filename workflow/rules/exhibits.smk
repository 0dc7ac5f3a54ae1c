# Two rules for each paper: from rows to tables, the CSV files of figures and the verdicts on its claims, and from the CSV files to
# figures.


def reported(paper, kind, files):
    """Return files of a paper, by name. Those that show its exhibits of a kind are marked for Snakemake's own report."""
    for exhibit in paper.exhibits.values():
        shown = exhibit.tidy_files if kind == "table" else [f"{exhibit.key}.svg"]
        for name in map(output_name, shown if exhibit.kind == kind else []):
            labels = {"exhibit": exhibit.name, "subject": exhibit.subject}
            files[name] = report(files[name], category=paper.name, labels=labels)
    return files


for paper in PAPERS.values():

    rule:
        name:
            f"{paper.key}_make_exhibits"
        input:
            **paper.rows_of_exhibits(),
            **published_of(paper),
            code=[*map(local, paper.modules), *modules("lib/exhibits", "lib/tables", "lib/claims")],
        output:
            **reported(paper, "table", paper.exhibit_files()),
            **paper.decided(),
        log:
            f"<logs>/{paper.key}/make_exhibits.log",
        group:
            f"{paper.key}_exhibits"
        params:
            paper=paper.key,
            exhibits=list(paper.exhibits),
            claims=paper.claims.get("claims", {}),
            full_scale=config["preset"] == "paper",
            context=paper.context(config),
        script:
            "../scripts/make_exhibits.py"

    rule:
        name:
            f"{paper.key}_plot_figures"
        input:
            **paper.tidy_of(paper.figures),
            **published_of(paper),
            code=[*map(local, paper.modules), *modules("lib/exhibits", "lib/figures", "lib/shown")],
        output:
            **reported(paper, "figure", paper.plotted()),
        log:
            f"<logs>/{paper.key}/plot_figures.log",
        group:
            f"{paper.key}_exhibits"
        params:
            paper=paper.key,
            exhibits=[exhibit.key for exhibit in paper.figures],
            context=paper.context(config),
            form=config["figures"],
        script:
            "../scripts/plot_figures.py"
