# What there is to run: cells and their arguments, the files of their rows, and what exhibits may ask for.

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
