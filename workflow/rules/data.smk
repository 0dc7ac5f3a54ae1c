# The data sets. Each is prepared by a job of its own, so configurations that share the folder of data never undo each other:
# the job of a data set depends on its entry in the registry and on nothing else of the configuration.

from lib.environment import cache_folder
from lib.plan import contents

# Whether prepared data and cells may come from a cache that checkouts share, and go there.
CACHE = cache_folder() is not None

DATASETS = sorted({dataset for paper in PAPERS.values() for dataset in paper.plan.datasets})
DOWNLOADED = [dataset for dataset in DATASETS if REGISTRY[dataset].sources]

# The modules that prepare every data set, those that read raw files, and those that make or take rows without a download.
PREPARING = ("data/prepare", "data/splits", "data/dataset")
READING = ("data/formats", "data/matlab")
GENERATING = ("data/bundled", "data/synthetic")


# The nodes of a cluster often have no network.
localrules:
    download_data,


rule download:
    """The raw files of all data sets that the configuration names."""
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
        sources=lambda wildcards: repr(REGISTRY[wildcards.dataset].sources),
    script:
        "../scripts/download_data.py"


rule prepare_data:
    """Parse the raw files of a data set, generate it, or take it from scikit-learn."""
    input:
        raw=raw_files,
        code=lambda wildcards: modules(
            *PREPARING, *(READING if REGISTRY[wildcards.dataset].sources else GENERATING)
        ),
    output:
        data="<resources>/data/{dataset}.npz",
    log:
        "<log_of_data>/prepare_data/{dataset}.log",
    cache: CACHE
    params:
        contents=lambda wildcards: contents(REGISTRY[wildcards.dataset]),
    script:
        "../scripts/prepare_data.py"
