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
                "sarafis2018.class_weights.datasets": config["sarafis2018"]["class_weights"]["datasets"],
                "sarafis2018.instance_weights.datasets": config["sarafis2018"]["instance_weights"][
                    "datasets"
                ],
                "sarafis2018.size.datasets": config["sarafis2018"]["size"]["datasets"],
            },
            registry,
        )
        for figure, dataset in config["sarafis2018"]["figures"].items():
            experiment = "instance_weights" if figure == "figure4" else "class_weights"
            known = config["sarafis2018"][experiment]["datasets"]
            check_datasets({f"sarafis2018.figures.{figure}": [dataset]}, known)
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error)) from None
    return registry


REGISTRY = checked(config)


pathvars:
    results=f"results/{config['preset']}",
    logs=f"logs/{config['preset']}",
    franc2008=f"results/{config['preset']}/franc2008",
    chapelle1999=f"results/{config['preset']}/chapelle1999",
    sarafis2018=f"results/{config['preset']}/sarafis2018",


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    realisation=r"\d+",
    cell=r"linear|rbf-\d+",
    kernel=r"linear|rbf",
    stage=r"cells|stopping|test",
    experiment=r"width|C|class_weights|instance_weights|size",
    m=r"\d+",
    part=r"\d+",


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
SARAFIS2018_SOURCES = [
    *SOLVER_SOURCES,
    *LOO_SOURCES,
    *BOUNDS_SOURCES,
    *CV_SOURCES,
    *SPLIT_SOURCES,
    *expand("workflow/lib/sarafis2018/{module}.py", module=["cells", "grid"]),
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
SARAFIS2018 = config["sarafis2018"]
SARAFIS2018_EXPERIMENTS = ["class_weights", "instance_weights", "size"]
DATASETS = sorted(
    {
        *FRANC2008["datasets"],
        *FRANC2008["figure1"]["datasets"],
        *(CHAPELLE1999[experiment]["dataset"] for experiment in CHAPELLE1999_EXPERIMENTS),
        *(
            dataset
            for experiment in SARAFIS2018_EXPERIMENTS
            for dataset in SARAFIS2018[experiment]["datasets"]
        ),
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


def sarafis2018_cells():
    """Arguments of the cells of each experiment, data set and number of training rows."""
    axes = {
        "class_weights": {"log2_C": SARAFIS2018["class_weights"]["log2_C"]},
        "instance_weights": {name: SARAFIS2018["instance_weights"][name] for name in ("A", "B", "log2_C")},
    }
    cells = {}
    for experiment, own in axes.items():
        for dataset, settings in SARAFIS2018[experiment]["datasets"].items():
            cells[experiment, dataset, training_rows(dataset)] = {"axes": own, "every": 1, **settings}
    for size in SARAFIS2018["size"]["sizes"]:
        for dataset in SARAFIS2018["size"]["datasets"]:
            cells["size", dataset, 2 ** size["log2_m"]] = {"axes": axes["class_weights"], **size}
    # these two say nothing to the runs
    return {
        key: {name: value for name, value in cell.items() if name not in ("log2_m", "published_rows")}
        for key, cell in cells.items()
    }


def training_rows(dataset):
    """Training rows of a data set's realisations."""
    entry = REGISTRY[dataset]
    return entry.splits.train if entry.splits else entry.rows


SARAFIS2018_CELLS = sarafis2018_cells()
SARAFIS2018_ROWS = [
    f"<sarafis2018>/cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet"
    for (experiment, dataset, m), cell in SARAFIS2018_CELLS.items()
    for part in range(1, cell["jobs"] + 1)
]
# Figures 2 to 4: the experiment and the data set of each.
SARAFIS2018_FIGURES = {
    "figure2": ("class_weights", SARAFIS2018["figures"]["figure2"]),
    "figure3": ("class_weights", SARAFIS2018["figures"]["figure3"]),
    "figure4": ("instance_weights", SARAFIS2018["figures"]["figure4"]),
}
SARAFIS2018_PUBLISHED_ROWS = [
    dataset
    for experiment in ("class_weights", "instance_weights")
    for dataset, settings in SARAFIS2018[experiment]["datasets"].items()
    if settings.get("published_rows")
]
SARAFIS2018_RESULTS = [
    "<sarafis2018>/rows/cells.parquet",
    *expand("<sarafis2018>/table{table}.csv", table=range(1, 7)),
    *expand("<sarafis2018>/figure{figure}.pdf", figure=range(2, 7)),
    "<sarafis2018>/claims.csv",
]
