# Two rules for each paper, made from its declaration: from rows to tables, the CSV files of figures and the verdicts on its claims,
# and from the CSV files to figures.

for paper in PAPERS.values():

    rule:
        name:
            f"{paper.key}_make_exhibits"
        input:
            **paper.rows_of_exhibits(),
            **published_of(paper),
        output:
            **reported(paper, paper.exhibit_files()),
            **paper.decided(),
        log:
            f"<logs>/{paper.key}/make_exhibits.log",
        group:
            f"{paper.key}_exhibits"
        params:
            code=code_of("scripts.make_exhibits", *paper.modules("exhibits", "layout", "claims")),
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
            captions=captions_of(paper.to_plot.values()),
        output:
            **reported(paper, paper.plotted()),
        log:
            f"<logs>/{paper.key}/plot_figures.log",
        group:
            f"{paper.key}_exhibits"
        params:
            code=code_of("scripts.plot_figures", *paper.modules("plots")),
            paper=paper.key,
            exhibits=list(map(asdict, paper.to_plot.values())),
            facts=facts_of(paper),
            form=config["figures"],
        script:
            "../scripts/plot_figures.py"
