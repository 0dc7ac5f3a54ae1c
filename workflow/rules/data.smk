# The data sets: each is downloaded and verified, then parsed into one file. Generated and bundled sets need no download; where
# cells share jobs, these do too: one job prepares all of them.

DATASETS = sorted({dataset for paper in PAPERS.values() for dataset in paper.plan.datasets})
DOWNLOADED = [dataset for dataset in DATASETS if REGISTRY[dataset].sources]
TOGETHER = (
    []
    if config["minutes_per_job"] is None
    else [dataset for dataset in DATASETS if dataset not in DOWNLOADED]
)


# The nodes of a cluster often have no network.
localrules:
    download_data,


rule download_data:
    output:
        raw=directory("<resources>/raw/{dataset}"),
    log:
        "<log_of_data>/download_data/{dataset}.log",
    priority: FIRST
    retries: 2
    params:
        registry=str(project_file(config["registry"], WORKFLOW.parent)),
        sources=lambda wildcards: repr(REGISTRY[wildcards.dataset].sources),
    script:
        "../scripts/download_data.py"


rule prepare_data:
    input:
        unpack(raw),
    output:
        data="<resources>/data/{dataset}.npz",
    log:
        "<log_of_data>/prepare_data/{dataset}.log",
    wildcard_constraints:
        dataset=rf"(?!(?:{'|'.join(TOGETHER) or '/'})\.)[a-z0-9-]+",
    cache: CACHE
    priority: FIRST
    params:
        code=code_of("scripts.prepare_data"),
        wildcards=named,
        registry=str(project_file(config["registry"], WORKFLOW.parent)),
        datasets=lambda wildcards: [wildcards.dataset],
        contents=lambda wildcards: contents(REGISTRY[wildcards.dataset]),
    script:
        "../scripts/prepare_data.py"


if TOGETHER:

    rule:
        name:
            "prepare_data_together"
        output:
            data=expand("<resources>/data/{dataset}.npz", dataset=TOGETHER),
        log:
            "<log_of_data>/prepare_data/together.log",
        priority: FIRST
        params:
            code=code_of("scripts.prepare_data"),
            registry=str(project_file(config["registry"], WORKFLOW.parent)),
            datasets=TOGETHER,
            contents=[contents(REGISTRY[dataset]) for dataset in TOGETHER],
        script:
            "../scripts/prepare_data.py"
