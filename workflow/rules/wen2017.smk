# Wen et al., "Improving efficiency of SVM k-fold cross-validation by alpha seeding", AAAI 2017. The chain: run (the choice of
# models on scaled data; cells of rows, LIBSVM's apart) -> make -> plot.


rule wen2017_run_choice:
    input:
        data="resources/data/{dataset}.npz",
    output:
        chosen="<wen2017>/chosen/{dataset}.csv",
    log:
        "<logs>/wen2017/run_choice/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        code=code_of("scripts.wen2017.run_choice"),
        choice={
            **{key: WEN2017["choice"][key] for key in ("rows", "folds")},
            **{key: grid(WEN2017["choice"][key]) for key in ("C", "gamma")},
            **{key: WEN2017[key] for key in ("tol", "seed")},
        },
    script:
        "../scripts/wen2017/run_choice.py"


rule wen2017_run_seeds:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<wen2017>/seeds/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_seeds/{dataset}/{settings}/k-{k}.log",
    cache: CACHE
    # the tables need these; LIBSVM's last
    priority: 1
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(wen2017_whole_matrix_mb),
        runtime=growing(720),
    params:
        code=code_of("scripts.wen2017.run_seeds"),
        wildcards=named,
        model=wen2017_model,
        cell=wen2017_seeds,
        settings=WEN2017_SETTINGS,
    script:
        "../scripts/wen2017/run_seeds.py"


rule wen2017_run_cached:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<wen2017>/cached/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_cached/{dataset}/{settings}/k-{k}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(wen2017_whole_matrix_mb),
        runtime=growing(360),
    params:
        code=code_of("scripts.wen2017.run_cached"),
        wildcards=named,
        model=wen2017_model,
        cell=wen2017_cached,
        settings=WEN2017_SETTINGS,
    script:
        "../scripts/wen2017/run_cached.py"


rule wen2017_run_libsvm:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<wen2017>/libsvm/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_libsvm/{dataset}/{settings}/k-{k}.log",
    cache: CACHE
    priority: -1
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(4000),
        runtime=growing(360),
    params:
        code=code_of("scripts.wen2017.run_libsvm"),
        wildcards=named,
        model=wen2017_model,
        cell={"budget_s": WEN2017["libsvm_budget"]},
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "max_iter"},
    script:
        "../scripts/wen2017/run_libsvm.py"


rule wen2017_run_along_C:
    input:
        chosen="<wen2017>/chosen/{dataset}.csv",
        data="resources/data/{dataset}.npz",
    output:
        rows="<wen2017>/along_C/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_along_C/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        code=code_of("scripts.wen2017.run_along_C"),
        cell={
            "n": WEN2017["along_C"]["rows"],
            "k": str(WEN2017["along_C"]["k"]),
            "C": grid(WEN2017["along_C"]["C"]),
            "seedings": WEN2017["along_C"]["seedings"],
        },
        settings=WEN2017_SETTINGS,
    script:
        "../scripts/wen2017/run_along_C.py"


rule wen2017_run_variants:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<wen2017>/variants/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_variants/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(wen2017_whole_matrix_mb),
        runtime=growing(120),
    params:
        code=code_of("scripts.wen2017.run_variants"),
        model=wen2017_model,
        cell=wen2017_variants,
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "seed"},
    script:
        "../scripts/wen2017/run_variants.py"


rule wen2017_make_table1:
    input:
        rows=expand("<wen2017>/rows/{stage}.parquet", stage=["seeds", "libsvm"]),
        published="config/published/wen2017.csv",
    output:
        csv=report(
            "<wen2017>/table1/{settings}.csv",
            caption="../report/wen2017/table1.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Table 1", "what": "k = 10, {settings} settings"},
        ),
        md="<wen2017>/table1/{settings}.md",
        tex="<wen2017>/table1/{settings}.tex",
    log:
        "<logs>/wen2017/make_table1/{settings}.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_table1"),
    script:
        "../scripts/wen2017/make_table1.py"


rule wen2017_make_table2:
    input:
        rows="<wen2017>/rows/seeds.parquet",
        published="config/published/wen2017.csv",
    output:
        csv=report(
            "<wen2017>/table2.csv",
            caption="../report/wen2017/table2.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Table 2", "what": "data sets and settings"},
        ),
        md="<wen2017>/table2.md",
        tex="<wen2017>/table2.tex",
    log:
        "<logs>/wen2017/make_table2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_table2"),
        features={dataset: REGISTRY[dataset].features for dataset in WEN2017_DATASETS},
    script:
        "../scripts/wen2017/make_table2.py"


rule wen2017_make_table3:
    input:
        rows=expand("<wen2017>/rows/{stage}.parquet", stage=["seeds", "libsvm"]),
        published="config/published/wen2017.csv",
    output:
        csv=report(
            "<wen2017>/table3/{settings}.csv",
            caption="../report/wen2017/table3.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Table 3", "what": "every k, {settings} settings"},
        ),
        md="<wen2017>/table3/{settings}.md",
        tex="<wen2017>/table3/{settings}.tex",
    log:
        "<logs>/wen2017/make_table3/{settings}.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_table3"),
    script:
        "../scripts/wen2017/make_table3.py"


rule wen2017_make_figure2:
    input:
        rows=expand("<wen2017>/rows/{stage}.parquet", stage=["seeds", "libsvm"]),
    output:
        csv="<wen2017>/figure2.csv",
    log:
        "<logs>/wen2017/make_figure2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_figure2"),
    script:
        "../scripts/wen2017/make_figure2.py"


rule wen2017_make_seeds:
    input:
        rows="<wen2017>/rows/seeds.parquet",
        cached="<wen2017>/rows/cached.parquet",
        along_C="<wen2017>/rows/along_C.parquet",
    output:
        csv="<wen2017>/seeds.csv",
    log:
        "<logs>/wen2017/make_seeds.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_seeds"),
    script:
        "../scripts/wen2017/make_seeds.py"


rule wen2017_make_folds:
    input:
        rows="<wen2017>/rows/variants.parquet",
        published="config/published/wen2017.csv",
    output:
        csv=report(
            "<wen2017>/folds.csv",
            caption="../report/wen2017/folds.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Folds", "what": "iterations and the choice of folds"},
        ),
        md="<wen2017>/folds.md",
    log:
        "<logs>/wen2017/make_folds.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_folds"),
    script:
        "../scripts/wen2017/make_folds.py"


rule wen2017_make_agreement:
    input:
        rows="<wen2017>/rows/seeds.parquet",
    output:
        csv=report(
            "<wen2017>/agreement.csv",
            caption="../report/wen2017/agreement.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Agreement", "what": "seed against seed"},
        ),
        points="<wen2017>/agreement_points.csv",
        md="<wen2017>/agreement.md",
    log:
        "<logs>/wen2017/make_agreement.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_agreement"),
        tie=limits(CLAIMS["wen2017"], config["preset"])["tie"],
    script:
        "../scripts/wen2017/make_agreement.py"


rule wen2017_plot_figure2:
    input:
        csv="<wen2017>/figure2.csv",
        caption="workflow/report/wen2017/figure2.rst",
    output:
        pdf="<wen2017>/figure2.pdf",
        svg=report(
            "<wen2017>/figure2.svg",
            caption="../report/wen2017/figure2.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Figure 2 (supplement)", "what": "leave-one-out"},
        ),
    log:
        "<logs>/wen2017/plot_figure2.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.plot_figure2"),
    script:
        "../scripts/wen2017/plot_figure2.py"


rule wen2017_plot_seeds:
    input:
        csv="<wen2017>/seeds.csv",
        caption="workflow/report/wen2017/seeds.rst",
    output:
        pdf="<wen2017>/seeds.pdf",
        svg=report(
            "<wen2017>/seeds.svg",
            caption="../report/wen2017/seeds.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Seeds", "what": "cost on a shared matrix, and along C"},
        ),
    log:
        "<logs>/wen2017/plot_seeds.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.plot_seeds"),
    script:
        "../scripts/wen2017/plot_seeds.py"


rule wen2017_make_claims:
    input:
        table1=expand("<wen2017>/table1/{settings}.csv", settings=WEN2017_BOTH),
        table3=expand("<wen2017>/table3/{settings}.csv", settings=WEN2017_BOTH),
        figure2="<wen2017>/figure2.csv",
        seeds="<wen2017>/seeds.csv",
        folds="<wen2017>/folds.csv",
        agreement="<wen2017>/agreement.csv",
        published="config/published/wen2017.csv",
    output:
        csv=report(
            "<wen2017>/claims.csv",
            caption="../report/wen2017/claims.rst",
            category="Wen et al. (2017)",
            labels={"exhibit": "Claims", "what": "verdicts"},
        ),
        numbers="<wen2017>/claims_numbers.csv",
        md="<wen2017>/claims.md",
    log:
        "<logs>/wen2017/make_claims.log",
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.wen2017.make_claims"),
        settings=WEN2017_BOTH,
        claims=CLAIMS["wen2017"]["claims"],
        limits=limits(CLAIMS["wen2017"], config["preset"]),
    script:
        "../scripts/wen2017/make_claims.py"
