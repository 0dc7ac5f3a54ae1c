# Wen et al., "Improving efficiency of SVM k-fold cross-validation by alpha seeding", AAAI 2017. The chain: run (the choice of
# models on scaled data; cells of rows, LIBSVM's apart) -> make -> plot.

WEN2017 = config["wen2017"]
WEN2017_BOTH = ["published", "chosen"]
WEN2017_DATASETS = {settings["name"]: settings for settings in WEN2017["datasets"]}
known({"wen2017.datasets": WEN2017_DATASETS})
WEN2017_VARIANTS = {settings["name"]: settings for settings in WEN2017["variants"]["datasets"]}
known(
    {
        "wen2017.along_C.datasets": WEN2017["along_C"]["datasets"],
        "wen2017.variants.datasets": WEN2017_VARIANTS,
    },
    among=WEN2017_DATASETS,
)


# What every cell of Wen et al. is given.
WEN2017_SETTINGS = {
    **{key: WEN2017[key] for key in ("tol", "max_iter", "seed")},
    "timing": config["timing"],
}


def wen2017_chosen(wildcards):
    """The table of the model choice as a named input, where the model is chosen."""
    chosen = f"<results>/wen2017/chosen/{wildcards.dataset}.csv"
    return {"chosen": chosen} if wildcards.settings == "chosen" else {}


def wen2017_model(wildcards):
    """The published C and gamma."""
    return {key: float(WEN2017_DATASETS[wildcards.dataset][key]) for key in ("C", "gamma")}


def wen2017_seeds(wildcards):
    """Arguments of a cell that depend on the data set and k."""
    settings = WEN2017_DATASETS[wildcards.dataset]
    of_k = next(of_k for of_k in settings["seedings"] if str(of_k["k"]) == wildcards.k)
    return {"dtype": settings["dtype"], "rounds": of_k.get("rounds"), "seedings": of_k["methods"]}


def wen2017_cached(wildcards):
    """The same for the runs with a cache: some of the seeds, and fewer rounds."""
    own, cached = wen2017_seeds(wildcards)["seedings"], WEN2017["cached"]
    return {
        "seedings": [method for method in own if method in cached["seedings"]],
        "rounds": cached["rounds"],
    }


def wen2017_variants(wildcards):
    """Arguments of the assignments to folds that depend on the data set."""
    own = WEN2017_VARIANTS[wildcards.dataset]
    return {
        "dtype": WEN2017_DATASETS[wildcards.dataset]["dtype"],
        "k": str(WEN2017["variants"]["k"]),
        **{key: own[key] for key in ("seedings", "stratified", "unstratified")},
    }


def wen2017_whole_matrix_mb(wildcards):
    """Memory of a job that holds a whole Gram matrix, and restrictions and blocks of it, in 2**20 bytes."""
    itemsize = {"float32": 4, "float64": 8}[WEN2017_DATASETS[wildcards.dataset]["dtype"]]
    return int(1.4 * REGISTRY[wildcards.dataset].rows ** 2 * itemsize / 2**20) + 2500


def wen2017_rows(stage):
    """The row files of a stage whose cells are named by data set, settings and k."""
    for dataset, settings in WEN2017_DATASETS.items():
        for which in WEN2017_BOTH:
            for k in settings["cells"][stage][which]:
                yield f"<results>/wen2017/{stage}/{dataset}/{which}/k-{k}.parquet"


WEN2017_ROWS = {
    **{stage: list(wen2017_rows(stage)) for stage in ("seeds", "cached", "libsvm")},
    "along_C": expand("<results>/wen2017/along_C/{dataset}.parquet", dataset=WEN2017["along_C"]["datasets"]),
    "variants": expand("<results>/wen2017/variants/{dataset}.parquet", dataset=WEN2017_VARIANTS),
}
PAPERS["wen2017"].declare(
    rows=WEN2017_ROWS,
    datasets=WEN2017_DATASETS,
    facts={"features": {dataset: REGISTRY[dataset].features for dataset in WEN2017_DATASETS}},
)


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
