# The data sets: each is downloaded and verified, then parsed into one file. Generated and bundled sets need no download; one job
# prepares all of them.

from lib.environment import cache_folder
from lib.plan import contents

# Whether prepared data and cells may come from a cache that checkouts share, and go there.
CACHE = cache_folder() is not None

DATASETS = sorted({dataset for paper in PAPERS.values() for dataset in paper.plan.datasets})
DOWNLOADED = [dataset for dataset in DATASETS if REGISTRY[dataset].sources]
GENERATED = [dataset for dataset in DATASETS if not REGISTRY[dataset].sources]
REGISTRY_FILE = str(project_file(config["registry"], WORKFLOW.parent))


# The nodes of a cluster often have no network.
localrules:
    download_data,


ruleorder: generate_data > prepare_data


rule download:
    input:
        expand("<resources>/raw/{dataset}", dataset=DOWNLOADED),


rule download_data:
    """Download the raw files of a data set, verified against the registry."""
    output:
        raw=directory("<resources>/raw/{dataset}"),
    log:
        "<log_of_data>/download_data/{dataset}.log",
    retries: 2
    params:
        registry=REGISTRY_FILE,
        sources=lambda wildcards: repr(REGISTRY[wildcards.dataset].sources),
    script:
        "../scripts/download_data.py"


rule prepare_data:
    """Parse the raw files of a data set."""
    input:
        raw="<resources>/raw/{dataset}",
        code=modules("data/prepare", "data/formats", "data/matlab", "data/splits", "data/dataset"),
    output:
        data="<resources>/data/{dataset}.npz",
    log:
        "<log_of_data>/prepare_data/{dataset}.log",
    cache: CACHE
    params:
        registry=REGISTRY_FILE,
        datasets=lambda wildcards: [wildcards.dataset],
        contents=lambda wildcards: contents(REGISTRY[wildcards.dataset]),
    script:
        "../scripts/prepare_data.py"


rule generate_data:
    """Generate, or take from scikit-learn, all data sets that are not downloaded."""
    input:
        code=modules("data/prepare", "data/bundled", "data/synthetic", "data/splits", "data/dataset"),
    output:
        data=expand("<resources>/data/{dataset}.npz", dataset=GENERATED),
    log:
        "<log_of_data>/generate_data.log",
    params:
        registry=REGISTRY_FILE,
        datasets=GENERATED,
        contents=[contents(REGISTRY[dataset]) for dataset in GENERATED],
    script:
        "../scripts/prepare_data.py"
