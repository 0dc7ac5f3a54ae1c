# Wen et al., "Improving efficiency of SVM k-fold cross-validation by alpha seeding", AAAI 2017. The chain: run (the choice of
# models on scaled data; cells of rows, LIBSVM's apart) -> make -> plot.


include: "plan.smk"


rule wen2017_run_choice:
    input:
        data="resources/data/{dataset}.npz",
    output:
        chosen="<results>/wen2017/chosen/{dataset}.csv",
    log:
        "<logs>/wen2017/run_choice/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        code=code_of("papers.wen2017.scripts.run_choice"),
        choice={
            **{key: WEN2017["choice"][key] for key in ("rows", "folds")},
            **{key: grid(WEN2017["choice"][key]) for key in ("C", "gamma")},
            **{key: WEN2017[key] for key in ("tol", "seed")},
        },
    script:
        "scripts/run_choice.py"


rule wen2017_run_seeds:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/wen2017/seeds/{dataset}/{settings}/k-{k}.parquet",
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
        code=code_of("papers.wen2017.scripts.run_seeds"),
        wildcards=named,
        model=wen2017_model,
        cell=wen2017_seeds,
        settings=WEN2017_SETTINGS,
    script:
        "scripts/run_seeds.py"


rule wen2017_run_cached:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/wen2017/cached/{dataset}/{settings}/k-{k}.parquet",
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
        code=code_of("papers.wen2017.scripts.run_cached"),
        wildcards=named,
        model=wen2017_model,
        cell=wen2017_cached,
        settings=WEN2017_SETTINGS,
    script:
        "scripts/run_cached.py"


rule wen2017_run_libsvm:
    input:
        unpack(wen2017_chosen),
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/wen2017/libsvm/{dataset}/{settings}/k-{k}.parquet",
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
        code=code_of("papers.wen2017.scripts.run_libsvm"),
        wildcards=named,
        model=wen2017_model,
        cell={"budget_s": WEN2017["libsvm_budget"]},
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "max_iter"},
    script:
        "scripts/run_libsvm.py"


rule wen2017_run_along_C:
    input:
        chosen="<results>/wen2017/chosen/{dataset}.csv",
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/wen2017/along_C/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_along_C/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(3000),
        runtime=growing(120),
    params:
        code=code_of("papers.wen2017.scripts.run_along_C"),
        cell={
            "n": WEN2017["along_C"]["rows"],
            "k": str(WEN2017["along_C"]["k"]),
            "C": grid(WEN2017["along_C"]["C"]),
            "seedings": WEN2017["along_C"]["seedings"],
        },
        settings=WEN2017_SETTINGS,
    script:
        "scripts/run_along_C.py"


rule wen2017_run_variants:
    input:
        data="resources/data/{dataset}.npz",
    output:
        rows="<results>/wen2017/variants/{dataset}.parquet",
    log:
        "<logs>/wen2017/run_variants/{dataset}.log",
    conda:
        ENVIRONMENT
    resources:
        **EXCLUSIVE,
        mem_mb=growing(wen2017_whole_matrix_mb),
        runtime=growing(120),
    params:
        code=code_of("papers.wen2017.scripts.run_variants"),
        model=wen2017_model,
        cell=wen2017_variants,
        settings={key: value for key, value in WEN2017_SETTINGS.items() if key != "seed"},
    script:
        "scripts/run_variants.py"
