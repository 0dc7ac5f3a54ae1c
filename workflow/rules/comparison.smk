# All estimators of the test error on the same models, which none of the papers has. The chain: run (cells of rows) -> make -> plot.


rule comparison_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<comparison>/cells/{dataset}/realisation-{realisation}.parquet",
    log:
        "<logs>/comparison/run_models/{dataset}/realisation-{realisation}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(1000),
        runtime=growing(30),
    params:
        code=code_of("scripts.comparison.run_models"),
        kernels=COMPARISON_KERNELS,
        settings={
            **{key: COMPARISON[key] for key in ("tol", "max_iter", "folds")},
            "timing": config["timing"],
        },
    script:
        "../scripts/comparison/run_models.py"


rule comparison_make_tables:
    input:
        rows="<comparison>/rows/cells.parquet",
    output:
        estimators_csv=report(
            "<comparison>/estimators.csv",
            caption="../report/comparison/estimators.rst",
            category="All estimators",
            labels={"exhibit": "Estimators", "what": "means over the data sets"},
        ),
        estimators_md="<comparison>/estimators.md",
        estimators_tex="<comparison>/estimators.tex",
        answer="<comparison>/answer.md",
        regret_csv=report(
            "<comparison>/regret.csv",
            caption="../report/comparison/regret.rst",
            category="All estimators",
            labels={"exhibit": "Regret", "what": "of the model chosen, per data set"},
        ),
        regret_md="<comparison>/regret.md",
        regret_tex="<comparison>/regret.tex",
        rmse_csv=report(
            "<comparison>/rmse.csv",
            caption="../report/comparison/rmse.rst",
            category="All estimators",
            labels={"exhibit": "RMSE", "what": "to the test error, per data set"},
        ),
        rmse_md="<comparison>/rmse.md",
        rmse_tex="<comparison>/rmse.tex",
        cost_csv=report(
            "<comparison>/cost.csv",
            caption="../report/comparison/cost.rst",
            category="All estimators",
            labels={"exhibit": "Cost", "what": "CPU time of a model, per data set"},
        ),
        cost_md="<comparison>/cost.md",
        cost_tex="<comparison>/cost.tex",
    log:
        "<logs>/comparison/make_tables.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.comparison.make_tables"),
    script:
        "../scripts/comparison/make_tables.py"


rule comparison_plot_tradeoff:
    input:
        csv="<comparison>/estimators.csv",
        caption="workflow/report/comparison/tradeoff.rst",
    output:
        pdf="<comparison>/tradeoff.pdf",
        svg=report(
            "<comparison>/tradeoff.svg",
            caption="../report/comparison/tradeoff.rst",
            category="All estimators",
            labels={"exhibit": "Trade-off", "what": "accuracy of choice against cost"},
        ),
    log:
        "<logs>/comparison/plot_tradeoff.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.comparison.plot_tradeoff"),
    script:
        "../scripts/comparison/plot_tradeoff.py"
