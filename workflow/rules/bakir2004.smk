# Bakir, Bottou and Weston, "Breaking SVM complexity with cross-training", NIPS 2004. The chain: run (cells of rows) -> make -> plot.


rule bakir2004_run_figure1:
    input:
        library=BAKIR2004_SOURCES,
    output:
        rows="<bakir2004>/cells/figure1.parquet",
    log:
        "<logs>/bakir2004/run_figure1.log",
    conda:
        ENVIRONMENT
    params:
        cell=bakir2004_figure1(),
    script:
        "../scripts/bakir2004/run_figure1.py"


rule bakir2004_run_figure3:
    input:
        library=BAKIR2004_SOURCES,
    output:
        rows="<bakir2004>/cells/figure3/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure3/run-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=bakir2004_mb(max(BAKIR2004["figure3"]["sizes"])),
    params:
        cell=bakir2004_figure3(),
    script:
        "../scripts/bakir2004/run_figure3.py"


rule bakir2004_run_figure4:
    input:
        data="resources/data/{dataset}.npz",
        library=BAKIR2004_SOURCES,
    output:
        rows="<bakir2004>/cells/figure4/{dataset}/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure4/{dataset}/run-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=bakir2004_mb(REGISTRY[BAKIR2004["figure4"]["dataset"]].rows),
    params:
        cell=bakir2004_figure4(),
    script:
        "../scripts/bakir2004/run_figure4.py"


rule bakir2004_run_table1:
    input:
        data="resources/data/{dataset}.npz",
        library=BAKIR2004_SOURCES,
    output:
        rows="<bakir2004>/cells/table1/{dataset}/train-{train}.parquet",
    log:
        "<logs>/bakir2004/run_table1/{dataset}/train-{train}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=lambda wildcards: bakir2004_mb(int(wildcards.train)),
    params:
        cell=lambda wildcards: bakir2004_table1(wildcards.dataset, int(wildcards.train)),
    script:
        "../scripts/bakir2004/run_table1.py"


rule bakir2004_run_growth:
    input:
        data="resources/data/{dataset}.npz",
        library=BAKIR2004_SOURCES,
    output:
        rows="<bakir2004>/cells/growth/{dataset}.parquet",
    log:
        "<logs>/bakir2004/run_growth/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=bakir2004_mb(max(BAKIR2004["growth"]["methods"].values())),
    params:
        cell=bakir2004_growth(),
    script:
        "../scripts/bakir2004/run_growth.py"


rule bakir2004_gather_rows:
    input:
        rows=BAKIR2004_ROWS,
        code=lib("rows"),
    output:
        rows="<bakir2004>/rows/cells.parquet",
    log:
        "<logs>/bakir2004/gather_rows.log",
    conda:
        ENVIRONMENT
    script:
        "../scripts/gather_rows.py"
