# Two rules for each paper: from rows to tables, the CSV files of figures and the verdicts on its claims, and from the CSV files to
# figures.

from dataclasses import asdict


def reported(paper, files):
    """Return files of a paper, by key. Those that Snakemake's own report shows are marked for it, with the caption of their exhibit."""
    for exhibit in paper.exhibits.values():
        labels = {"exhibit": exhibit.name, "subject": exhibit.subject}
        # a relative path would be one from the folder of the rules
        caption = os.path.abspath(exhibit.caption)
        for key in files.keys() & exhibit.reported():
            files[key] = report(files[key], caption=caption, category=paper.name, labels=labels)
    return files


for paper in PAPERS.values():

    rule:
        name:
            f"{paper.key}_make_exhibits"
        input:
            **paper.rows_of_exhibits(),
            **published_of(paper),
            code=[
                *map(local, paper.code_of("exhibits", "layout", "claims")),
                *modules("lib/tables", "lib/claims"),
            ],
        output:
            **reported(paper, paper.exhibit_files()),
            **paper.decided(),
        log:
            f"<logs>/{paper.key}/make_exhibits.log",
        group:
            f"{paper.key}_exhibits"
        params:
            paper=paper.key,
            exhibits=list(map(asdict, paper.to_make.values())),
            claims=paper.claims.get("claims", {}),
            facts=facts_of(paper),
        script:
            "../scripts/make_exhibits.py"

    rule:
        name:
            f"{paper.key}_plot_figures"
        input:
            **paper.csv_of(paper.drawn()),
            **published_of(paper),
            captions=[local(exhibit.caption) for exhibit in paper.to_plot.values()],
            code=[*map(local, paper.code_of("plots")), *modules("lib/figures", "lib/shown")],
        output:
            **reported(paper, paper.plotted()),
        log:
            f"<logs>/{paper.key}/plot_figures.log",
        group:
            f"{paper.key}_exhibits"
        params:
            paper=paper.key,
            exhibits=list(map(asdict, paper.to_plot.values())),
            facts=facts_of(paper),
            form=config["figures"],
        script:
            "../scripts/plot_figures.py"
