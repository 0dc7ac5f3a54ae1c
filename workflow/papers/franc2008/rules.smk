# Franc, Laskov and Mueller, "Stopping conditions for exact computation of leave-one-out error in support vector machines",
# ICML 2008. The chain: run (cells of rows) -> select (models) -> run (test errors) -> make (tables) -> plot.


include: "plan.smk"


rule franc2008_run_loo:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/franc2008/cells/{dataset}/realisation-{realisation}/{cell}.parquet",
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
        code=code_of("papers.franc2008.scripts.run_loo"),
        wildcards=named,
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            **{key: FRANC2008[key] for key in ("methods", "eps", "efficiency_test", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_loo.py"


rule franc2008_run_stopping:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/franc2008/stopping/{dataset}/realisation-{realisation}/{cell}.parquet",
    log:
        "<logs>/franc2008/run_stopping/{dataset}/realisation-{realisation}/{cell}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("papers.franc2008.scripts.run_stopping"),
        cell=lambda wildcards: FRANC2008_CELLS[wildcards.cell],
        settings={
            "eps": [10**exponent for exponent in FRANC2008["figure1"]["log10_eps"]],
            "max_iter": FRANC2008["max_iter"],
            "timing": config["timing"],
        },
    script:
        "scripts/run_stopping.py"


# The test errors in rows/ are those of models that were selected: a redraw takes these as they are, too.
if not config["redraw"]:

    rule franc2008_select_models:
        input:
            rows=expand(
                "<results>/franc2008/cells/{{dataset}}/realisation-{realisation}/{cell}.parquet",
                realisation=range(1, FRANC2008["realisations"] + 1),
                cell=FRANC2008_CELLS,
            ),
        output:
            selected="<results>/franc2008/selected/{dataset}.csv",
        log:
            "<logs>/franc2008/select_models/{dataset}.log",
        conda:
            ENVIRONMENT
        params:
            code=code_of("papers.franc2008.scripts.select_models"),
            method=FRANC2008["methods"][0],
        script:
            "scripts/select_models.py"


rule franc2008_run_test:
    input:
        data="resources/data/{dataset}.npz",
        selected="<results>/franc2008/selected/{dataset}.csv",
    output:
        rows="<results>/franc2008/test/{dataset}/{kernel}.parquet",
    log:
        "<logs>/franc2008/run_test/{dataset}/{kernel}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        code=code_of("papers.franc2008.scripts.run_test"),
        n_realisations=lambda wildcards: franc2008_test_realisations(wildcards.dataset),
        settings={
            **{key: FRANC2008[key] for key in ("eps", "max_iter")},
            "timing": config["timing"],
        },
    script:
        "scripts/run_test.py"
