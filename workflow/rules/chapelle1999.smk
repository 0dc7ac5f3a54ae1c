# Chapelle and Vapnik, "Model selection for support vector machines", NIPS 1999. The chain: run (cells of rows) -> make -> plot.


rule chapelle1999_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<chapelle1999>/cells/{experiment}/{dataset}/realisation-{realisation}.parquet",
    log:
        "<logs>/chapelle1999/run_models/{experiment}/{dataset}/realisation-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        code=code_of("scripts.chapelle1999.run_models"),
        cell=lambda wildcards: CHAPELLE1999_CELLS[wildcards.experiment],
        settings={
            **{key: CHAPELLE1999[key] for key in ("tol", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "../scripts/chapelle1999/run_models.py"


rule chapelle1999_make_figure2:
    input:
        rows="<chapelle1999>/rows/cells.parquet",
    output:
        csv="<chapelle1999>/figure2.csv",
    log:
        "<logs>/chapelle1999/make_figure2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.make_figure2"),
    script:
        "../scripts/chapelle1999/make_figure2.py"


rule chapelle1999_make_figure3:
    input:
        rows="<chapelle1999>/rows/cells.parquet",
    output:
        csv="<chapelle1999>/figure3.csv",
    log:
        "<logs>/chapelle1999/make_figure3.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.make_figure3"),
    script:
        "../scripts/chapelle1999/make_figure3.py"


rule chapelle1999_make_figure4:
    input:
        rows="<chapelle1999>/rows/cells.parquet",
    output:
        csv="<chapelle1999>/figure4.csv",
    log:
        "<logs>/chapelle1999/make_figure4.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.make_figure4"),
    script:
        "../scripts/chapelle1999/make_figure4.py"


rule chapelle1999_plot_figure2:
    input:
        csv="<chapelle1999>/figure2.csv",
        caption="workflow/report/chapelle1999/figure2.rst",
    output:
        pdf="<chapelle1999>/figure2.pdf",
        svg=report(
            "<chapelle1999>/figure2.svg",
            caption="../report/chapelle1999/figure2.rst",
            category="Chapelle and Vapnik (1999)",
            labels={"exhibit": "Figure 2", "what": "errors against the width and C"},
        ),
    log:
        "<logs>/chapelle1999/plot_figure2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.plot_figure2"),
    script:
        "../scripts/chapelle1999/plot_figure2.py"


rule chapelle1999_plot_figure3:
    input:
        csv="<chapelle1999>/figure3.csv",
        caption="workflow/report/chapelle1999/figure3.rst",
    output:
        pdf="<chapelle1999>/figure3.pdf",
        svg=report(
            "<chapelle1999>/figure3.svg",
            caption="../report/chapelle1999/figure3.rst",
            category="Chapelle and Vapnik (1999)",
            labels={"exhibit": "Figure 3", "what": "CPU time against the width"},
        ),
    log:
        "<logs>/chapelle1999/plot_figure3.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.plot_figure3"),
    script:
        "../scripts/chapelle1999/plot_figure3.py"


rule chapelle1999_plot_figure4:
    input:
        csv="<chapelle1999>/figure4.csv",
        caption="workflow/report/chapelle1999/figure4.rst",
    output:
        pdf="<chapelle1999>/figure4.pdf",
        svg=report(
            "<chapelle1999>/figure4.svg",
            caption="../report/chapelle1999/figure4.rst",
            category="Chapelle and Vapnik (1999)",
            labels={"exhibit": "Figure 4", "what": "radius-margin functional against the width"},
        ),
    log:
        "<logs>/chapelle1999/plot_figure4.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.plot_figure4"),
    script:
        "../scripts/chapelle1999/plot_figure4.py"


rule chapelle1999_make_claims:
    input:
        exhibits=expand("<chapelle1999>/figure{figure}.csv", figure=[2, 3, 4]),
    output:
        csv=report(
            "<chapelle1999>/claims.csv",
            caption="../report/chapelle1999/claims.rst",
            category="Chapelle and Vapnik (1999)",
            labels={"exhibit": "Claims", "what": "verdicts"},
        ),
        numbers="<chapelle1999>/claims_numbers.csv",
        md="<chapelle1999>/claims.md",
    log:
        "<logs>/chapelle1999/make_claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.chapelle1999.make_claims"),
        claims=CLAIMS["chapelle1999"]["claims"],
        limits=limits(CLAIMS["chapelle1999"], config["preset"]),
    script:
        "../scripts/chapelle1999/make_claims.py"
