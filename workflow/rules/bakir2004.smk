# Bakir, Bottou and Weston, "Breaking SVM complexity with cross-training", NIPS 2004. The chain: run (cells of rows) -> make -> plot.


rule bakir2004_run_figure1:
    output:
        rows="<bakir2004>/cells/figure1.parquet",
    log:
        "<logs>/bakir2004/run_figure1.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("scripts.bakir2004.run_figure1"),
        cell=bakir2004_figure1(),
    script:
        "../scripts/bakir2004/run_figure1.py"


rule bakir2004_run_figure3:
    output:
        rows="<bakir2004>/cells/figure3/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure3/run-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(max(BAKIR2004["figure3"]["sizes"]))),
        runtime=growing(60),
    params:
        code=code_of("scripts.bakir2004.run_figure3"),
        cell=bakir2004_figure3(),
    script:
        "../scripts/bakir2004/run_figure3.py"


rule bakir2004_run_figure4:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<bakir2004>/cells/figure4/{dataset}/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure4/{dataset}/run-{realisation}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(REGISTRY[BAKIR2004["figure4"]["dataset"]].rows)),
        runtime=growing(180),
    params:
        code=code_of("scripts.bakir2004.run_figure4"),
        wildcards=named,
        cell=bakir2004_figure4(),
    script:
        "../scripts/bakir2004/run_figure4.py"


rule bakir2004_run_table1:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<bakir2004>/cells/table1/{dataset}/train-{train}.parquet",
    log:
        "<logs>/bakir2004/run_table1/{dataset}/train-{train}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(lambda wildcards: bakir2004_mb(int(wildcards.train))),
        runtime=growing(720),
    params:
        code=code_of("scripts.bakir2004.run_table1"),
        wildcards=named,
        cell=lambda wildcards: bakir2004_table1(wildcards.dataset, int(wildcards.train)),
    script:
        "../scripts/bakir2004/run_table1.py"


rule bakir2004_run_growth:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<bakir2004>/cells/growth/{dataset}.parquet",
    log:
        "<logs>/bakir2004/run_growth/{dataset}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(max(BAKIR2004["growth"]["methods"].values()))),
        runtime=growing(360),
    params:
        code=code_of("scripts.bakir2004.run_growth"),
        wildcards=named,
        cell=bakir2004_growth(),
    script:
        "../scripts/bakir2004/run_growth.py"


rule bakir2004_make_figure1:
    input:
        rows="<bakir2004>/rows/cells.parquet",
    output:
        csv="<bakir2004>/figure1.csv",
    log:
        "<logs>/bakir2004/make_figure1.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_figure1"),
    script:
        "../scripts/bakir2004/make_figure1.py"


rule bakir2004_make_figure3:
    input:
        rows="<bakir2004>/rows/cells.parquet",
    output:
        csv="<bakir2004>/figure3.csv",
    log:
        "<logs>/bakir2004/make_figure3.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_figure3"),
    script:
        "../scripts/bakir2004/make_figure3.py"


rule bakir2004_make_figure4:
    input:
        rows="<bakir2004>/rows/cells.parquet",
    output:
        csv="<bakir2004>/figure4.csv",
    log:
        "<logs>/bakir2004/make_figure4.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_figure4"),
    script:
        "../scripts/bakir2004/make_figure4.py"


rule bakir2004_make_growth:
    input:
        rows="<bakir2004>/rows/cells.parquet",
    output:
        csv="<bakir2004>/growth.csv",
    log:
        "<logs>/bakir2004/make_growth.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_growth"),
    script:
        "../scripts/bakir2004/make_growth.py"


rule bakir2004_make_table1:
    input:
        rows="<bakir2004>/rows/cells.parquet",
        published="config/published/bakir2004.csv",
    output:
        csv="<bakir2004>/table1.csv",
        md=report(
            "<bakir2004>/table1.md",
            caption="../report/bakir2004/table1.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Table 1", "what": "accuracy and support vectors"},
        ),
        tex="<bakir2004>/table1.tex",
    log:
        "<logs>/bakir2004/make_table1.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_table1"),
    script:
        "../scripts/bakir2004/make_table1.py"


rule bakir2004_plot_figure1:
    input:
        csv="<bakir2004>/figure1.csv",
        caption="workflow/report/bakir2004/figure1.rst",
    output:
        pdf="<bakir2004>/figure1.pdf",
        svg=report(
            "<bakir2004>/figure1.svg",
            caption="../report/bakir2004/figure1.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Figure 1", "what": "support vectors against the overlap"},
        ),
    log:
        "<logs>/bakir2004/plot_figure1.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.plot_figure1"),
    script:
        "../scripts/bakir2004/plot_figure1.py"


rule bakir2004_plot_figure3:
    input:
        csv="<bakir2004>/figure3.csv",
        caption="workflow/report/bakir2004/figure3.rst",
    output:
        pdf="<bakir2004>/figure3.pdf",
        svg=report(
            "<bakir2004>/figure3.svg",
            caption="../report/bakir2004/figure3.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Figure 3", "what": "Gaussian classes"},
        ),
    log:
        "<logs>/bakir2004/plot_figure3.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.plot_figure3"),
    script:
        "../scripts/bakir2004/plot_figure3.py"


rule bakir2004_plot_figure4:
    input:
        csv="<bakir2004>/figure4.csv",
        caption="workflow/report/bakir2004/figure4.rst",
    output:
        pdf="<bakir2004>/figure4.pdf",
        svg=report(
            "<bakir2004>/figure4.svg",
            caption="../report/bakir2004/figure4.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Figure 4", "what": "label noise"},
        ),
    log:
        "<logs>/bakir2004/plot_figure4.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.plot_figure4"),
    script:
        "../scripts/bakir2004/plot_figure4.py"


rule bakir2004_plot_growth:
    input:
        csv="<bakir2004>/growth.csv",
        caption="workflow/report/bakir2004/growth.rst",
    output:
        pdf="<bakir2004>/growth.pdf",
        svg=report(
            "<bakir2004>/growth.svg",
            caption="../report/bakir2004/growth.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Growth", "what": "time and memory"},
        ),
    log:
        "<logs>/bakir2004/plot_growth.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.plot_growth"),
    script:
        "../scripts/bakir2004/plot_growth.py"


rule bakir2004_make_claims:
    input:
        exhibits=expand(
            "<bakir2004>/{exhibit}.csv", exhibit=["figure1", "figure3", "figure4", "growth", "table1"]
        ),
        published="config/published/bakir2004.csv",
    output:
        csv=report(
            "<bakir2004>/claims.csv",
            caption="../report/bakir2004/claims.rst",
            category="Bakir et al. (2004)",
            labels={"exhibit": "Claims", "what": "verdicts"},
        ),
        numbers="<bakir2004>/claims_numbers.csv",
        md="<bakir2004>/claims.md",
    log:
        "<logs>/bakir2004/make_claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.bakir2004.make_claims"),
        claims=CLAIMS["bakir2004"]["claims"],
        limits=limits(CLAIMS["bakir2004"], config["preset"]),
    script:
        "../scripts/bakir2004/make_claims.py"
