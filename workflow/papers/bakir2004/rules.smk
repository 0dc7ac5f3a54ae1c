# Bakir, Bottou and Weston, "Breaking SVM complexity with cross-training", NIPS 2004. The chain: run (cells of rows) -> make -> plot.


include: "plan.smk"


rule bakir2004_run_figure1:
    output:
        rows="<results>/bakir2004/cells/figure1.parquet",
    log:
        "<logs>/bakir2004/run_figure1.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("papers.bakir2004.scripts.run_figure1"),
        cell=bakir2004_figure1(),
    script:
        "scripts/run_figure1.py"


rule bakir2004_run_figure3:
    output:
        rows="<results>/bakir2004/cells/figure3/run-{realisation}.parquet",
    log:
        "<logs>/bakir2004/run_figure3/run-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(bakir2004_mb(max(BAKIR2004["figure3"]["sizes"]))),
        runtime=growing(60),
    params:
        code=code_of("papers.bakir2004.scripts.run_figure3"),
        cell=bakir2004_figure3(),
    script:
        "scripts/run_figure3.py"


rule bakir2004_run_figure4:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/figure4/{dataset}/run-{realisation}.parquet",
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
        code=code_of("papers.bakir2004.scripts.run_figure4"),
        wildcards=named,
        cell=bakir2004_figure4(),
    script:
        "scripts/run_figure4.py"


rule bakir2004_run_table1:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/table1/{dataset}/train-{train}.parquet",
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
        code=code_of("papers.bakir2004.scripts.run_table1"),
        wildcards=named,
        cell=lambda wildcards: bakir2004_table1(wildcards.dataset, int(wildcards.train)),
    script:
        "scripts/run_table1.py"


rule bakir2004_run_growth:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/bakir2004/cells/growth/{dataset}.parquet",
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
        code=code_of("papers.bakir2004.scripts.run_growth"),
        wildcards=named,
        cell=bakir2004_growth(),
    script:
        "scripts/run_growth.py"
