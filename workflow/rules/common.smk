# The configuration, checked; what jobs inherit; the sources that numbers depend on; the lists that the other files expand.

import math
import sys
from dataclasses import asdict
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version, validate
from svmselect.data import load_registry

min_version("9.20")

WORKFLOW = Path(workflow.basedir, "workflow")
sys.path.insert(0, str(WORKFLOW))

from lib.config import check_config, check_datasets, grid
from lib.environment import set_job_environment
from lib.library import sources

set_job_environment(WORKFLOW)


def checked(config):
    """Check the configuration, in sentences; fill in the schema's defaults; return the registry of data sets."""
    schema = WORKFLOW / "schemas" / "config.schema.yaml"
    try:
        check_config(config, yaml.safe_load(schema.read_text()))
        validate(config, str(schema))
        registry = load_registry(config["registry"])
        check_datasets(
            {
                "franc2008.datasets": config["franc2008"]["datasets"],
                "franc2008.figure1.datasets": config["franc2008"]["figure1"]["datasets"],
                "chapelle1999.width.dataset": [config["chapelle1999"]["width"]["dataset"]],
                "chapelle1999.C.dataset": [config["chapelle1999"]["C"]["dataset"]],
                "wen2017.datasets": [settings["name"] for settings in config["wen2017"]["datasets"]],
            },
            registry,
        )
        own = {settings["name"] for settings in config["wen2017"]["datasets"]}
        check_datasets(
            {
                f"wen2017.{part}.datasets": config["wen2017"][part]["datasets"]
                for part in ("along_C", "variants")
            },
            own,
        )
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error)) from None
    return registry


REGISTRY = checked(config)


pathvars:
    results=f"results/{config['preset']}",
    logs=f"logs/{config['preset']}",
    franc2008=f"results/{config['preset']}/franc2008",
    chapelle1999=f"results/{config['preset']}/chapelle1999",
    wen2017=f"results/{config['preset']}/wen2017",


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    realisation=r"\d+",
    cell=r"linear|rbf-\d+",
    kernel=r"linear|rbf",
    stage=r"cells|stopping|test|seeds|cached|libsvm|along_C|variants",
    experiment=r"width|C",
    settings=r"published|chosen",
    k=r"\d+|loo",


# The software of every job, for the record: run snakemake inside this environment, with svmselect installed.
ENVIRONMENT = "../../environment.yml"

# Sources that numbers depend on. They are inputs of the jobs that use them, so that an edit reruns those; tests/workflow
# checks that none is missing in the rules. A method in a folder of its own is named by the papers that use it.
SOLVER_SOURCES = sources("src/svmselect")
LOO_SOURCES = sources("src/svmselect/loo")
BOUNDS_SOURCES = sources("src/svmselect/bounds")
CV_SOURCES = sources("src/svmselect/cv")
DATA_SOURCES = expand(
    "src/svmselect/data/{file}.py",
    file=[
        "bundled",
        "dataset",
        "formats",
        "prepare",
        "registry",
        "splits",
        "synthetic",
    ],
)
SPLIT_SOURCES = expand("src/svmselect/data/{file}.py", file=["dataset", "splits"])
FRANC2008_SOURCES = [
    *SOLVER_SOURCES,
    *LOO_SOURCES,
    *SPLIT_SOURCES,
    "workflow/lib/franc2008/cells.py",
]
CHAPELLE1999_SOURCES = [
    *SOLVER_SOURCES,
    *LOO_SOURCES,
    *BOUNDS_SOURCES,
    *SPLIT_SOURCES,
    "workflow/lib/chapelle1999/cells.py",
]
WEN2017_LIBSVM_SOURCES = [
    "src/svmselect/cv/folds.py",
    *SPLIT_SOURCES,
    *expand("workflow/lib/wen2017/{file}.py", file=["libsvm", "problem"]),
]
WEN2017_SOURCES = [
    *SOLVER_SOURCES,
    *CV_SOURCES,
    *SPLIT_SOURCES,
    *expand("workflow/lib/wen2017/{file}.py", file=["cache", "cells", "choice", "problem", "variants"]),
]


def lib(*modules):
    """Files of the modules of workflow/lib that a script imports, for the same reason."""
    return [f"workflow/lib/{module.replace('.', '/')}.py" for module in modules]


def contents(dataset):
    """What the registry says of a data set's contents, as text; a change of it prepares the set anew."""
    remarks = ("title", "licence", "citation", "notes", "homepage")
    return repr({key: value for key, value in asdict(REGISTRY[dataset]).items() if key not in remarks})


def raw(wildcards):
    """The raw files of a data set as a named input, if it has any."""
    return {"raw": f"resources/raw/{wildcards.dataset}"} if REGISTRY[wildcards.dataset].sources else {}


FRANC2008 = config["franc2008"]
CHAPELLE1999 = config["chapelle1999"]
CHAPELLE1999_EXPERIMENTS = ["width", "C"]
WEN2017 = config["wen2017"]
WEN2017_DATASETS = {settings["name"]: settings for settings in WEN2017["datasets"]}
DATASETS = sorted(
    {
        *FRANC2008["datasets"],
        *FRANC2008["figure1"]["datasets"],
        *(CHAPELLE1999[experiment]["dataset"] for experiment in CHAPELLE1999_EXPERIMENTS),
        *WEN2017_DATASETS,
    }
)
DOWNLOADED = [dataset for dataset in DATASETS if REGISTRY[dataset].sources]


def franc2008_cells():
    """Arguments of each cell: kernel, gamma and the values of C."""
    linear, rbf = FRANC2008["linear"], FRANC2008["rbf"]
    cells = {"linear": {"kernel": "linear", "gamma": None, "C": grid(linear["C"])}}
    for i, gamma in enumerate(grid(rbf["gamma"])):
        cells[f"rbf-{i}"] = {"kernel": "rbf", "gamma": gamma, "C": grid(rbf["C"])}
    return cells


FRANC2008_CELLS = franc2008_cells()
FRANC2008_RBF_CELLS = [cell for cell in FRANC2008_CELLS if cell != "linear"]


def franc2008_test_realisations(dataset):
    """Realisations to test on: those that the configuration asks for, or as many as the data set has."""
    splits = REGISTRY[dataset].splits
    return min(FRANC2008["test_realisations"], splits.realisations if splits else 1)


# The row files of each stage.
FRANC2008_ROWS = {
    "cells": expand(
        "<franc2008>/cells/{dataset}/realisation-{realisation}/{cell}.parquet",
        dataset=FRANC2008["datasets"],
        realisation=range(1, FRANC2008["realisations"] + 1),
        cell=FRANC2008_CELLS,
    ),
    "stopping": expand(
        "<franc2008>/stopping/{dataset}/realisation-{realisation}/{cell}.parquet",
        dataset=FRANC2008["figure1"]["datasets"],
        realisation=range(1, FRANC2008["realisations"] + 1),
        cell=FRANC2008_RBF_CELLS,
    ),
    "test": expand(
        "<franc2008>/test/{dataset}/{kernel}.parquet",
        dataset=FRANC2008["datasets"],
        kernel=["linear", "rbf"],
    ),
}
# Table 3 and the agreement compare methods.
FRANC2008_COMPARES = len(FRANC2008["methods"]) > 1
FRANC2008_TABLES = expand(
    "<franc2008>/{table}.csv",
    table=["table2", *(["table3"] if FRANC2008_COMPARES else [])],
)
FRANC2008_RESULTS = [
    *expand("<franc2008>/rows/{stage}.parquet", stage=FRANC2008_ROWS),
    *FRANC2008_TABLES,
    *expand("<franc2008>/{exhibit}", exhibit=["figure1.pdf", "compare.csv", "claims.csv"]),
    *expand("<franc2008>/{exhibit}", exhibit=["speedup.pdf", "agreement.csv"] if FRANC2008_COMPARES else []),
]


def chapelle1999_models(experiment):
    """The models of each cell of an experiment, in the order in which they are run."""
    settings = CHAPELLE1999[experiment]
    if experiment == "width":
        return [
            {"C": settings["C"], "gamma": 0.5 * math.exp(-2 * log_sigma)}
            for log_sigma in settings["log_sigma"]
        ]
    return [{"C": math.exp(log_C), "gamma": settings["gamma"]} for log_C in settings["log_C"]]


CHAPELLE1999_CELLS = {
    experiment: {
        "parts": CHAPELLE1999[experiment].get("parts", 1),
        "models": chapelle1999_models(experiment),
    }
    for experiment in CHAPELLE1999_EXPERIMENTS
}
CHAPELLE1999_ROWS = [
    f"<chapelle1999>/cells/{experiment}/{CHAPELLE1999[experiment]['dataset']}/realisation-{realisation}.parquet"
    for experiment in CHAPELLE1999_EXPERIMENTS
    for realisation in range(1, CHAPELLE1999[experiment]["realisations"] + 1)
]
CHAPELLE1999_RESULTS = [
    "<chapelle1999>/rows/cells.parquet",
    *expand("<chapelle1999>/figure{figure}.pdf", figure=[2, 3, 4]),
    "<chapelle1999>/claims.csv",
]


# What every cell of Wen et al. is given.
WEN2017_SETTINGS = {
    **{key: WEN2017[key] for key in ("tol", "max_iter", "seed")},
    "timing": config["timing"],
}


def wen2017_chosen(wildcards):
    """The table of the model choice as a named input, where the model is chosen."""
    chosen = f"<wen2017>/chosen/{wildcards.dataset}.csv"
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
    dtype = WEN2017_DATASETS[wildcards.dataset]["dtype"]
    variants = {key: WEN2017["variants"][key] for key in ("seedings", "stratified", "unstratified")}
    return {"dtype": dtype, "k": str(WEN2017["variants"]["k"]), **variants}


def wen2017_whole_matrix_mb(wildcards):
    """Memory of a job that holds a whole Gram matrix, and restrictions and blocks of it, in 2**20 bytes."""
    itemsize = {"float32": 4, "float64": 8}[WEN2017_DATASETS[wildcards.dataset]["dtype"]]
    return int(1.3 * REGISTRY[wildcards.dataset].rows ** 2 * itemsize / 2**20) + 1000


WEN2017_BOTH = ["published", "chosen"]


def wen2017_rows(stage):
    """The row files of a stage whose cells are named by data set, settings and k."""
    for dataset, settings in WEN2017_DATASETS.items():
        for which in WEN2017_BOTH:
            for k in settings["cells"][stage][which]:
                yield f"<wen2017>/{stage}/{dataset}/{which}/k-{k}.parquet"


WEN2017_ROWS = {
    **{stage: list(wen2017_rows(stage)) for stage in ("seeds", "cached", "libsvm")},
    "along_C": expand("<wen2017>/along_C/{dataset}.parquet", dataset=WEN2017["along_C"]["datasets"]),
    "variants": expand("<wen2017>/variants/{dataset}.parquet", dataset=WEN2017["variants"]["datasets"]),
}
WEN2017_RESULTS = [
    *expand("<wen2017>/rows/{stage}.parquet", stage=WEN2017_ROWS),
    *expand("<wen2017>/{table}/{settings}.csv", table=["table1", "table3"], settings=WEN2017_BOTH),
    *expand(
        "<wen2017>/{exhibit}",
        exhibit=["table2.csv", "figure2.pdf", "seeds.pdf", "folds.csv", "agreement.csv", "claims.csv"],
    ),
]
