# Sarafis, Diou and Delopoulos, "Span error bound for weighted SVM with applications in hyperparameter selection", 2018. The chain:
# run (cells of rows) -> make -> plot.


rule sarafis2018_run_models:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<sarafis2018>/cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet",
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
        code=code_of("scripts.sarafis2018.run_models"),
        wildcards=named,
        cell=sarafis2018_cell,
        settings={
            **{key: SARAFIS2018[key] for key in ("tol", "max_iter", "folds", "memory_mb", "cache_mb")},
            "timing": config["timing"],
        },
    script:
        "../scripts/sarafis2018/run_models.py"


rule sarafis2018_make_tables:
    input:
        rows="<sarafis2018>/rows/cells.parquet",
        published="config/published/sarafis2018.csv",
    output:
        table1_csv=report(
            "<sarafis2018>/table1.csv",
            caption="../report/sarafis2018/table1.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 1", "what": "data sets"},
        ),
        table1_md="<sarafis2018>/table1.md",
        table1_tex="<sarafis2018>/table1.tex",
        table2_csv=report(
            "<sarafis2018>/table2.csv",
            caption="../report/sarafis2018/table2.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 2", "what": "selected class weights"},
        ),
        table2_md="<sarafis2018>/table2.md",
        table2_tex="<sarafis2018>/table2.tex",
        table3_csv=report(
            "<sarafis2018>/table3.csv",
            caption="../report/sarafis2018/table3.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 3", "what": "selected instance weights"},
        ),
        table3_md="<sarafis2018>/table3.md",
        table3_tex="<sarafis2018>/table3.tex",
        table4_csv=report(
            "<sarafis2018>/table4.csv",
            caption="../report/sarafis2018/table4.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 4", "what": "RMSE of prediction"},
        ),
        table4_md="<sarafis2018>/table4.md",
        table4_tex="<sarafis2018>/table4.tex",
        table5_csv=report(
            "<sarafis2018>/table5.csv",
            caption="../report/sarafis2018/table5.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 5", "what": "empty span sets and SV counts"},
        ),
        table5_md="<sarafis2018>/table5.md",
        table5_tex="<sarafis2018>/table5.tex",
        table6_csv=report(
            "<sarafis2018>/table6.csv",
            caption="../report/sarafis2018/table6.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Table 6", "what": "CPU time of a model"},
        ),
        table6_md="<sarafis2018>/table6.md",
        table6_tex="<sarafis2018>/table6.tex",
    log:
        "<logs>/sarafis2018/make_tables.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.sarafis2018.make_tables"),
        published_rows=SARAFIS2018_PUBLISHED_ROWS,
        sv_share=limits(CLAIMS["sarafis2018"], config["preset"])["sv_counts"],
    script:
        "../scripts/sarafis2018/make_tables.py"


rule sarafis2018_make_figures:
    input:
        rows="<sarafis2018>/rows/cells.parquet",
    output:
        figure2="<sarafis2018>/figure2.csv",
        figure3="<sarafis2018>/figure3.csv",
        figure4="<sarafis2018>/figure4.csv",
        figure5="<sarafis2018>/figure5.csv",
        figure6="<sarafis2018>/figure6.csv",
    log:
        "<logs>/sarafis2018/make_figures.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.sarafis2018.make_figures"),
        figures=SARAFIS2018_FIGURES,
    script:
        "../scripts/sarafis2018/make_figures.py"


rule sarafis2018_plot_figures:
    input:
        figure2="<sarafis2018>/figure2.csv",
        figure3="<sarafis2018>/figure3.csv",
        figure4="<sarafis2018>/figure4.csv",
        figure5="<sarafis2018>/figure5.csv",
        figure6="<sarafis2018>/figure6.csv",
        captions=expand("workflow/report/sarafis2018/figure{figure}.rst", figure=range(2, 7)),
    output:
        figure2_pdf="<sarafis2018>/figure2.pdf",
        figure2_svg=report(
            "<sarafis2018>/figure2.svg",
            caption="../report/sarafis2018/figure2.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Figure 2", "what": "errors against the class weights"},
        ),
        figure3_pdf="<sarafis2018>/figure3.pdf",
        figure3_svg=report(
            "<sarafis2018>/figure3.svg",
            caption="../report/sarafis2018/figure3.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Figure 3", "what": "errors against the class weights"},
        ),
        figure4_pdf="<sarafis2018>/figure4.pdf",
        figure4_svg=report(
            "<sarafis2018>/figure4.svg",
            caption="../report/sarafis2018/figure4.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Figure 4", "what": "errors against the instance weights"},
        ),
        figure5_pdf="<sarafis2018>/figure5.pdf",
        figure5_svg=report(
            "<sarafis2018>/figure5.svg",
            caption="../report/sarafis2018/figure5.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Figure 5", "what": "CPU time against the training rows"},
        ),
        figure6_pdf="<sarafis2018>/figure6.pdf",
        figure6_svg=report(
            "<sarafis2018>/figure6.svg",
            caption="../report/sarafis2018/figure6.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Figure 6", "what": "SV counts against the training rows"},
        ),
    log:
        "<logs>/sarafis2018/plot_figures.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.sarafis2018.plot_figures"),
        figures=SARAFIS2018_FIGURES,
    script:
        "../scripts/sarafis2018/plot_figures.py"


rule sarafis2018_make_claims:
    input:
        exhibits=[
            *expand("<sarafis2018>/table{table}.csv", table=range(1, 7)),
            "<sarafis2018>/figure5.csv",
        ],
        published="config/published/sarafis2018.csv",
    output:
        csv=report(
            "<sarafis2018>/claims.csv",
            caption="../report/sarafis2018/claims.rst",
            category="Sarafis et al. (2018)",
            labels={"exhibit": "Claims", "what": "verdicts"},
        ),
        numbers="<sarafis2018>/claims_numbers.csv",
        md="<sarafis2018>/claims.md",
    log:
        "<logs>/sarafis2018/make_claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.sarafis2018.make_claims"),
        published_rows=SARAFIS2018_PUBLISHED_ROWS,
        claims=CLAIMS["sarafis2018"]["claims"],
        limits=limits(CLAIMS["sarafis2018"], config["preset"]),
    script:
        "../scripts/sarafis2018/make_claims.py"
