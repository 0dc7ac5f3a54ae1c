# Data sets: verified downloads, then one parsed file each. Generated and bundled sets need no download.

DATASETS = sorted({dataset for paper in PAPERS.values() for dataset in paper.datasets})
DOWNLOADED = [dataset for dataset in DATASETS if REGISTRY[dataset].sources]


# nodes of a cluster often have no network
localrules:
    download_data,


rule download_data:
    output:
        raw=directory("resources/raw/{dataset}"),
    log:
        "logs/download_data/{dataset}.log",
    retries: 2
    conda:
        ENVIRONMENT
    params:
        registry=config["registry"],
        sources=lambda wildcards: repr(REGISTRY[wildcards.dataset].sources),
    script:
        "../scripts/download_data.py"


rule prepare_data:
    input:
        unpack(raw),
    output:
        data="resources/data/{dataset}.npz",
    log:
        "logs/prepare_data/{dataset}.log",
    cache: CACHE
    conda:
        ENVIRONMENT
    params:
        code=code_of("scripts.prepare_data"),
        wildcards=named,
        registry=config["registry"],
        contents=lambda wildcards: contents(wildcards.dataset),
    script:
        "../scripts/prepare_data.py"
