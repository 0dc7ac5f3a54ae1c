# Franc, Laskov and Mueller, "Stopping conditions for exact computation of leave-one-out error in support vector machines",
# ICML 2008. The chain: run (cells of rows) -> select (models) -> run (test errors) -> make (tables) -> plot.


rule franc2008_run_loo:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<franc2008>/cells/{dataset}/realisation-{realisation}/{cell}.parquet",
    log:
        "<logs>/franc2008/run_loo/{dataset}/realisation-{realisation}/{cell}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(franc2008_minutes),
    params:
        code=code_of("scripts.franc2008.run_loo"),
        wildcards=named,
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            **{key: FRANC2008[key] for key in ("methods", "eps", "efficiency_test", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "../scripts/franc2008/run_loo.py"


rule franc2008_run_stopping:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<franc2008>/stopping/{dataset}/realisation-{realisation}/{cell}.parquet",
    log:
        "<logs>/franc2008/run_stopping/{dataset}/realisation-{realisation}/{cell}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("scripts.franc2008.run_stopping"),
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            "eps": [10**exponent for exponent in FRANC2008["figure1"]["log10_eps"]],
            "max_iter": FRANC2008["max_iter"],
            "timing": config["timing"],
        },
    script:
        "../scripts/franc2008/run_stopping.py"


# The test errors in rows/ are those of models that were selected: a redraw takes these as they are, too.
if not config["redraw"]:

    rule franc2008_select_models:
        input:
            rows=expand(
                "<franc2008>/cells/{{dataset}}/realisation-{realisation}/{cell}.parquet",
                realisation=range(1, FRANC2008["realisations"] + 1),
                cell=FRANC2008_CELLS,
            ),
        output:
            selected="<franc2008>/selected/{dataset}.csv",
        log:
            "<logs>/franc2008/select_models/{dataset}.log",
        conda:
            ENVIRONMENT
        params:
            code=code_of("scripts.franc2008.select_models"),
            method=FRANC2008["methods"][0],
        script:
            "../scripts/franc2008/select_models.py"


rule franc2008_run_test:
    input:
        data="resources/data/{dataset}.npz",
        selected="<franc2008>/selected/{dataset}.csv",
    output:
        rows="<franc2008>/test/{dataset}/{kernel}.parquet",
    log:
        "<logs>/franc2008/run_test/{dataset}/{kernel}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("scripts.franc2008.run_test"),
        n_realisations=lambda wildcards: franc2008_test_realisations(wildcards.dataset),
        settings={
            **{key: FRANC2008[key] for key in ("eps", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "../scripts/franc2008/run_test.py"


rule franc2008_make_table2:
    input:
        selected=expand("<franc2008>/selected/{dataset}.csv", dataset=FRANC2008["datasets"]),
        rows="<franc2008>/rows/test.parquet",
    output:
        csv=report(
            "<franc2008>/table2.csv",
            caption="../report/franc2008/table2.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Table 2", "what": "LOO and test errors"},
        ),
        md="<franc2008>/table2.md",
        tex="<franc2008>/table2.tex",
    log:
        "<logs>/franc2008/make_table2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.make_table2"),
        datasets=FRANC2008["datasets"],
    script:
        "../scripts/franc2008/make_table2.py"


rule franc2008_make_table3:
    input:
        rows="<franc2008>/rows/cells.parquet",
    output:
        csv=report(
            "<franc2008>/table3.csv",
            caption="../report/franc2008/table3.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Table 3", "what": "cost and speed-up"},
        ),
        md="<franc2008>/table3.md",
        tex="<franc2008>/table3.tex",
    log:
        "<logs>/franc2008/make_table3.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.make_table3"),
        datasets=FRANC2008["datasets"],
    script:
        "../scripts/franc2008/make_table3.py"


rule franc2008_make_figure1:
    input:
        rows="<franc2008>/rows/stopping.parquet",
    output:
        csv="<franc2008>/figure1.csv",
    log:
        "<logs>/franc2008/make_figure1.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.make_figure1"),
        datasets=FRANC2008["figure1"]["datasets"],
    script:
        "../scripts/franc2008/make_figure1.py"


rule franc2008_make_agreement:
    input:
        rows="<franc2008>/rows/cells.parquet",
    output:
        csv=report(
            "<franc2008>/agreement.csv",
            caption="../report/franc2008/agreement.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Agreement", "what": "method against method"},
        ),
        points="<franc2008>/agreement_points.csv",
        md="<franc2008>/agreement.md",
    log:
        "<logs>/franc2008/make_agreement.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.make_agreement"),
        datasets=FRANC2008["datasets"],
        degenerate=limits(CLAIMS["franc2008"], config["preset"])["degenerate"],
    script:
        "../scripts/franc2008/make_agreement.py"


rule franc2008_plot_figure1:
    input:
        csv="<franc2008>/figure1.csv",
        caption="workflow/report/franc2008/figure1.rst",
    output:
        pdf="<franc2008>/figure1.pdf",
        svg=report(
            "<franc2008>/figure1.svg",
            caption="../report/franc2008/figure1.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Figure 1", "what": "LOO error and time against eps"},
        ),
    log:
        "<logs>/franc2008/plot_figure1.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.plot_figure1"),
        datasets=FRANC2008["figure1"]["datasets"],
    script:
        "../scripts/franc2008/plot_figure1.py"


rule franc2008_plot_speedup:
    input:
        csv="<franc2008>/table3.csv",
        published="config/published/franc2008.csv",
        caption="workflow/report/franc2008/speedup.rst",
    output:
        pdf="<franc2008>/speedup.pdf",
        svg=report(
            "<franc2008>/speedup.svg",
            caption="../report/franc2008/speedup.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Speed-up", "what": "reproduced beside published"},
        ),
    log:
        "<logs>/franc2008/plot_speedup.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.plot_speedup"),
        datasets=FRANC2008["datasets"],
    script:
        "../scripts/franc2008/plot_speedup.py"


rule franc2008_make_claims:
    input:
        exhibits=[*FRANC2008_TABLES, "<franc2008>/figure1.csv"],
        points="<franc2008>/agreement_points.csv" if FRANC2008_COMPARES else [],
        published="config/published/franc2008.csv",
    output:
        csv=report(
            "<franc2008>/claims.csv",
            caption="../report/franc2008/claims.rst",
            category="Franc et al. (2008)",
            labels={"exhibit": "Claims", "what": "verdicts"},
        ),
        numbers="<franc2008>/claims_numbers.csv",
        md="<franc2008>/claims.md",
    log:
        "<logs>/franc2008/make_claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.franc2008.make_claims"),
        claims=CLAIMS["franc2008"]["claims"],
        limits=limits(CLAIMS["franc2008"], config["preset"]),
        datasets=FRANC2008["datasets"],
        methods=FRANC2008["methods"],
    script:
        "../scripts/franc2008/make_claims.py"
