# Chapelle and Vapnik, "Model selection for support vector machines", NIPS 1999. The chain: run (cells of rows) -> make -> plot.


include: "plan.smk"


rule chapelle1999_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/chapelle1999/cells/{experiment}/{dataset}/realisation-{realisation}.parquet",
    log:
        "<logs>/chapelle1999/run_models/{experiment}/{dataset}/realisation-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(5),
    params:
        code=code_of("papers.chapelle1999.scripts.run_models"),
        cell=lambda wildcards: CHAPELLE1999_CELLS[wildcards.experiment],
        settings={
            **{key: CHAPELLE1999[key] for key in ("tol", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_models.py"
