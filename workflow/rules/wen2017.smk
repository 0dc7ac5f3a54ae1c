# Wen et al., "Improving efficiency of SVM k-fold cross-validation by alpha seeding", AAAI 2017. The chain: choose (models on
# scaled data) -> run (cells of rows, LIBSVM's apart) -> make -> plot.


rule wen2017_choose_model:
    input:
        data="resources/data/{dataset}.npz",
        library=WEN2017_SOURCES,
    output:
        chosen="<wen2017>/chosen/{dataset}.csv",
    log:
        "<logs>/wen2017/choose_model/{dataset}.log",
    conda:
        ENVIRONMENT
    params:
        choice={
            **{key: WEN2017["choice"][key] for key in ("rows", "folds")},
            **{key: grid(WEN2017["choice"][key]) for key in ("C", "gamma")},
            **{key: WEN2017[key] for key in ("tol", "seed")},
        },
    script:
        "../scripts/wen2017/choose_model.py"


rule wen2017_run_seeds:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
        library=WEN2017_SOURCES,
    output:
        rows="<wen2017>/seeds/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_seeds/{dataset}/{settings}/k-{k}.log",
    # the tables need these; LIBSVM's last
    priority: 1
    conda:
        ENVIRONMENT
    resources:
        mem_mb=wen2017_whole_matrix_mb,
    params:
        model=wen2017_model,
        cell=wen2017_seeds,
        settings=WEN2017_SETTINGS,
    script:
        "../scripts/wen2017/run_seeds.py"


rule wen2017_run_cached:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
        library=WEN2017_SOURCES,
    output:
        rows="<wen2017>/cached/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_cached/{dataset}/{settings}/k-{k}.log",
    conda:
        ENVIRONMENT
    params:
        model=wen2017_model,
        cell=wen2017_cached,
        settings=WEN2017_SETTINGS,
    script:
        "../scripts/wen2017/run_cached.py"


rule wen2017_run_libsvm:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
        library=WEN2017_LIBSVM_SOURCES,
    output:
        rows="<wen2017>/libsvm/{dataset}/{settings}/k-{k}.parquet",
    log:
        "<logs>/wen2017/run_libsvm/{dataset}/{settings}/k-{k}.log",
    priority: -1
    conda:
        ENVIRONMENT
    params:
        model=wen2017_model,
        cell={"budget_s": WEN2017["libsvm_budget"]},
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "max_iter"},
    script:
        "../scripts/wen2017/run_libsvm.py"


rule wen2017_run_along_C:
    input:
        chosen="<wen2017>/chosen/{dataset}.csv",
        data="resources/data/{dataset}.npz",
        library=WEN2017_SOURCES,
    output:
        rows="<wen2017>/along_C/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_along_C/{dataset}.log",
    conda:
        ENVIRONMENT
    params:
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
        library=WEN2017_SOURCES,
    output:
        rows="<wen2017>/variants/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_variants/{dataset}.log",
    conda:
        ENVIRONMENT
    params:
        model=wen2017_model,
        cell=wen2017_variants,
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "seed"},
    script:
        "../scripts/wen2017/run_variants.py"


rule wen2017_gather_rows:
    input:
        rows=lambda wildcards: WEN2017_ROWS[wildcards.stage],
        code=lib("rows"),
    output:
        rows="<wen2017>/rows/{stage}.parquet",
    log:
        "<logs>/wen2017/gather_rows/{stage}.log",
    conda:
        ENVIRONMENT
    script:
        "../scripts/gather_rows.py"
