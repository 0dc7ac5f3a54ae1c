# All estimators of the test error on the same models, which none of the papers has. The chain: run (cells of rows) -> make -> plot.


include: "plan.smk"


rule comparison_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/comparison/cells/{dataset}/realisation-{realisation}.parquet",
    log:
        "<logs>/comparison/run_models/{dataset}/realisation-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("papers.comparison.scripts.run_models"),
        kernels=COMPARISON_KERNELS,
        settings={
            **{key: COMPARISON[key] for key in ("tol", "max_iter", "folds")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_models.py"
