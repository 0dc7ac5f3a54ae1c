# Sarafis, Diou and Delopoulos, "Span error bound for weighted SVM with applications in hyperparameter selection", 2018. The chain:
# run (cells of rows) -> make -> plot.


include: "plan.smk"


rule sarafis2018_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/sarafis2018/cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet",
    log:
        "<logs>/sarafis2018/run_models/{experiment}/{dataset}/rows-{m}/part-{part}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(sarafis2018_mb),
        runtime=growing(60),
    params:
        code=code_of("papers.sarafis2018.scripts.run_models"),
        wildcards=named,
        cell=sarafis2018_cell,
        settings={
            **{key: SARAFIS2018[key] for key in ("tol", "max_iter", "folds", "memory_mb", "cache_mb")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_models.py"
