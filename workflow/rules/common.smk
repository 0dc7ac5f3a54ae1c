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
                "bakir2004.figure4.dataset": [config["bakir2004"]["figure4"]["dataset"]],
                "bakir2004.table1.sets": [
                    settings["dataset"] for settings in config["bakir2004"]["table1"]["sets"]
                ],
                "bakir2004.growth.dataset": [config["bakir2004"]["growth"]["dataset"]],
            },
            registry,
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
    bakir2004=f"results/{config['preset']}/bakir2004",


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    realisation=r"\d+",
    cell=r"linear|rbf-\d+",
    kernel=r"linear|rbf",
    stage=r"cells|stopping|test",
    experiment=r"width|C",
    train=r"\d+",


# The software of every job, for the record: run snakemake inside this environment, with svmselect installed.
ENVIRONMENT = "../../environment.yml"

# Sources that numbers depend on. They are inputs of the jobs that use them, so that an edit reruns those; tests/workflow
# checks that none is missing in the rules. A method in a folder of its own is named by the papers that use it.
SOLVER_SOURCES = sources("src/svmselect")
LOO_SOURCES = sources("src/svmselect/loo")
BOUNDS_SOURCES = sources("src/svmselect/bounds")
CV_SOURCES = sources("src/svmselect/cv")
EDITING_SOURCES = sources("src/svmselect/editing")
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
BAKIR2004_SOURCES = [
    *SOLVER_SOURCES,
    *CV_SOURCES,
    *EDITING_SOURCES,
    *SPLIT_SOURCES,
    *expand("workflow/lib/bakir2004/{file}.py", file=["cells", "problem"]),
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
BAKIR2004 = config["bakir2004"]
DATASETS = sorted(
    {
        *FRANC2008["datasets"],
        *FRANC2008["figure1"]["datasets"],
        *(CHAPELLE1999[experiment]["dataset"] for experiment in CHAPELLE1999_EXPERIMENTS),
        BAKIR2004["figure4"]["dataset"],
        *(settings["dataset"] for settings in BAKIR2004["table1"]["sets"]),
        BAKIR2004["growth"]["dataset"],
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


def bakir2004_mb(rows):
    """Memory of a job whose largest Gram matrix has so many rows, in 2**20 bytes."""
    whole = rows**2 * (8 if rows <= 20000 else 4) / 2**20
    return int(min(BAKIR2004["memory_mb"], 1.3 * whole)) + 2000


def bakir2004_setup(settings, gamma, adjust, subset_size=None):
    """What the setup of every cell of an experiment holds, but the seed."""
    return {
        "gamma": gamma,
        "values": grid(settings["C"]),
        "final_values": grid(settings.get("final_C", settings["C"])),
        "n_subsets": settings["subsets"],
        "subset_size": subset_size,
        "adjust": adjust,
        **{key: BAKIR2004[key] for key in ("folds", "cv_rows", "parts", "patience", "tol", "memory_mb")},
        "timing": config["timing"],
    }


def bakir2004_figure1():
    """Arguments of the cell of Figure 1."""
    return {**BAKIR2004["figure1"], "tol": BAKIR2004["tol"], "timing": config["timing"]}


def bakir2004_figure3():
    """Arguments of each cell of Figure 3: a linear kernel, subsets that are parts, nothing of section 4.3."""
    settings = BAKIR2004["figure3"]
    cell = {key: settings[key] for key in ("sizes", "deviations", "test_rows", "methods")}
    return {**cell, "setup": bakir2004_setup(settings, None, False)}


def bakir2004_figure4():
    """Arguments of each cell of Figure 4: subsets that are parts, nothing of section 4.3."""
    settings = BAKIR2004["figure4"]
    nu = {"values": grid(settings["nu"]), "final_values": grid(settings["final_nu"])}
    cell = {key: settings[key] for key in ("noise", "scale", "train_rows", "methods")}
    return {**cell, "nu": nu, "setup": bakir2004_setup(settings, settings["gamma"], False)}


def bakir2004_table1(dataset, train):
    """Arguments of a cell of Table 1."""
    (settings,) = [
        own for own in BAKIR2004["table1"]["sets"] if (own["dataset"], own["train"]) == (dataset, train)
    ]
    return {
        "realisations": list(range(1, settings["realisations"] + 1)),
        "train_rows": train,
        "test_rows": settings["test"],
        "scale": settings["scale"],
        "methods": settings["methods"],
        "setup": bakir2004_setup(settings, settings["gamma"], True, settings["subset_size"]),
    }


def bakir2004_growth():
    """Arguments of the cell of the growth: one C, subsets of the size of a part, drawn as in Table 1."""
    settings = BAKIR2004["growth"]
    cell = {key: settings[key] for key in ("sizes", "test_rows", "scale", "methods")}
    return {**cell, "setup": bakir2004_setup(settings, settings["gamma"], True)}


BAKIR2004_ROWS = [
    "<bakir2004>/cells/figure1.parquet",
    *expand("<bakir2004>/cells/figure3/run-{run}.parquet", run=range(1, BAKIR2004["figure3"]["runs"] + 1)),
    *expand(
        f"<bakir2004>/cells/figure4/{BAKIR2004['figure4']['dataset']}/run-{{run}}.parquet",
        run=range(1, BAKIR2004["figure4"]["runs"] + 1),
    ),
    *(
        f"<bakir2004>/cells/table1/{settings['dataset']}/train-{settings['train']}.parquet"
        for settings in BAKIR2004["table1"]["sets"]
    ),
    f"<bakir2004>/cells/growth/{BAKIR2004['growth']['dataset']}.parquet",
]
BAKIR2004_RESULTS = [
    "<bakir2004>/rows/cells.parquet",
    *expand("<bakir2004>/{figure}.pdf", figure=["figure1", "figure3", "figure4", "growth"]),
    *expand("<bakir2004>/{table}.csv", table=["table1", "claims"]),
]
