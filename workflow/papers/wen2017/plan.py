"""The plan: each model from every seed, with a cache, and by LIBSVM; along C; other folds."""

from dataclasses import replace

from lib.config import check_datasets, check_names, grid
from lib.plan import Cell, Plan, Run
from lib.shown import dataset_in_words

PUBLISHED, CHOSEN = "published", "chosen"
NONE = {PUBLISHED: [], CHOSEN: []}
BYTES = {"float32": 4, "float64": 8}
# beside the Gram matrix, in 2**20 bytes: what a fit on a part of the rows or ATO's block takes, and all else
PART_MB, BESIDE_MB = 1500, 900
# chosen models have few support vectors, and restrict the matrix again and again: the share that this takes
RESTRICTED = 1 / 3
# a job that holds the data and a few hundred columns
SMALL_MB = 1900


def plan(config, registry):
    section = config["wen2017"]
    datasets = {entry["name"]: entry for entry in section["datasets"]}
    variants = {entry["name"]: entry for entry in section["variants"]["datasets"]}
    along_C, choice = section["along_C"], section["choice"]
    sampled = section["sample"] if config["baselines"] == "sampled" else None
    left_out = sampled["without"] if sampled else ()
    check_datasets({"wen2017.datasets": datasets}, registry)
    check_datasets(
        {"wen2017.along_C.datasets": along_C["datasets"], "wen2017.variants.datasets": variants}, datasets
    )
    settings = {**{key: section[key] for key in ("tol", "max_iter", "seed")}, "timing": config["timing"]}
    without_limit = {key: value for key, value in settings.items() if key != "max_iter"}

    # 1) cells of the choice, the path and the variants
    choice_cells = {
        name: Cell(name, {"settings": CHOSEN}, mem_mb=SMALL_MB, minutes=120)
        for name in _with_choice(datasets, along_C)
    }
    path = {"k": str(along_C["k"]), "C": grid(along_C["C"]), "seedings": along_C["seedings"]}
    path_cells = {
        name: Cell(name, {"settings": CHOSEN}, path, mem_mb=SMALL_MB, minutes=120, beyond=True)
        for name in along_C["datasets"]
    }
    variant_cells = _variant_cells(variants, section["variants"]["k"], datasets, registry)
    choice_grid = {
        **{key: choice[key] for key in ("rows", "folds")},
        **{key: grid(choice[key]) for key in ("C", "gamma")},
    }
    # 2) cells of seeds, with and without a cache, of LIBSVM and of unlearning
    seeded = {
        stage: _cells(stage, datasets, registry, minutes)
        for stage, minutes in {"seeds": 720, "cached": 360, "libsvm": 360, "unlearn": 240}.items()
    }
    seeds, cached, libsvm_cells, unlearned = {}, {}, {}, {}
    for name, (cell, seeding) in seeded["seeds"].items():
        arguments = {**cell.arguments, "seedings": seeding["methods"]}
        seeds[name] = replace(cell, arguments=arguments, settings=_folds(datasets, cell, seeding, sampled))
    for name, (cell, seeding) in seeded["cached"].items():
        methods = [method for method in seeding["methods"] if method in section["cached"]["seedings"]]
        cached[name] = replace(cell, arguments={**cell.arguments, "seedings": methods})
    for name, (cell, _) in seeded["libsvm"].items():
        libsvm_cells[name] = replace(cell, mem_mb=SMALL_MB)
    for name, (cell, seeding) in seeded["unlearn"].items():
        folder, _, k = name.rpartition("/k-")
        settings_of = _folds(datasets, cell, seeding, sampled)
        unlearned[f"{folder}/unlearn-{k}"] = replace(cell, settings=settings_of)
    budget_s = sampled["libsvm_budget"] if sampled else section["libsvm_budget"]
    with_cache = {**settings, "rounds": section["cached"]["rounds"]}
    # 3) the runs of all stages
    libsvm_settings = {**without_limit, "budget_s": budget_s}
    path_settings = {**settings, "rows": along_C["rows"]}
    schema, after = "CV_ROWS", ("choice",)
    runs = [
        Run("choice", "choice.run_choice", schema, choice_cells, {**choice_grid, **without_limit}, "choice"),
        Run("seeds", "cells.run_seeds", schema, seeds, settings, "seeds", after),
        Run("unlearning", "cells.run_unlearning", schema, unlearned, settings, "seeds", after),
        Run("cached", "cells.run_cached", schema, cached, with_cache, "cached", after),
        Run("libsvm", "libsvm.run_libsvm", schema, libsvm_cells, libsvm_settings, "libsvm", after),
        Run("along_C", "cells.run_along_C", schema, path_cells, path_settings, "along_C", after),
        # how folds are drawn
        Run("variants", "variants.run_variants", schema, variant_cells, settings, "variants"),
    ]
    return Plan(
        _without(runs, left_out, {*registry} - {*datasets}),
        list(datasets),
        facts={
            "features": {dataset: registry[dataset].features for dataset in datasets},
            "sampled": sampled is not None,
            "along_C_data": ", ".join(map(dataset_in_words, along_C["datasets"])),
        },
    )


def _variant_cells(variants, k, datasets, registry):
    """Return the cells of the variants of folds and seeds, by data set."""
    cells = {}
    for name, entry in variants.items():
        arguments = {"k": str(k), "model": _model(datasets[name]), "seedings": entry["seedings"]}
        numbers = {key: entry[key] for key in ("stratified", "unstratified")}
        settings = {"dtype": datasets[name]["dtype"], **numbers}
        mem_mb = _whole_matrix_mb(datasets[name], registry[name].rows, entry["seedings"], k)
        cells[name] = Cell(name, {"settings": PUBLISHED}, arguments, settings, mem_mb, 120, beyond=True)
    return cells


def _without(runs, left_out, unused):
    """Return the runs without the cells that `left_out` names as stage/cell; a `ValueError` is raised for a
    name of none of them, unless it is of a data set that is unused here."""
    planned = {f"{run.stage}/{name}" for run in runs for name in run.cells}
    known = [name for name in left_out if unused.isdisjoint(name.split("/"))]
    check_names("wen2017.sample.without", known, planned)
    return [
        replace(
            run,
            cells={name: cell for name, cell in run.cells.items() if f"{run.stage}/{name}" not in left_out},
        )
        for run in runs
    ]


def _cells(stage, datasets, registry, minutes):
    """Return the cells of a stage that data set, settings and k name, each with the entry of its seeds. They
    run the published model or, without a model, the chosen one."""
    cells = {}
    for dataset, entry in datasets.items():
        seedings = {str(seeding["k"]): seeding for seeding in entry["seedings"]}
        for which in (PUBLISHED, CHOSEN):
            for k in map(str, entry["cells"].get(stage, NONE)[which]):
                cell = Cell(
                    dataset,
                    {"settings": which},
                    {"model": _model(entry) if which == PUBLISHED else None, "k": k},
                    mem_mb=_whole_matrix_mb(entry, registry[dataset].rows, seedings[k]["methods"], k, which),
                    minutes=minutes,
                    beyond=which == CHOSEN,
                )
                cells[f"{dataset}/{which}/k-{k}"] = cell, seedings[k]
    return cells


def _model(entry):
    return {key: float(entry[key]) for key in ("C", "gamma")}


def _whole_matrix_mb(entry, rows, seedings, k, which=PUBLISHED):
    """Return the memory of a job that holds a Gram matrix and a part of it, in 2**20 bytes. MIR's part are
    the kernel values of a fold with all others, and four matrices of normal equations."""
    size = BYTES[entry["dtype"]]
    whole = rows**2 * size / 2**20
    fold = 1 if k == "loo" else rows / int(k)
    mir = (size * (rows - fold) * fold + 4 * 8 * fold**2) / 2**20 if "mir" in seedings else 0
    restricted = RESTRICTED * whole if which == CHOSEN else 0
    return int(whole + max(mir, restricted, PART_MB)) + BESIDE_MB


def _folds(datasets, cell, seeding, sampled):
    """Return the settings of a cell that say which folds are run: all, the first ``rounds``, or of some seeds
    a ``sample``."""
    k = cell.arguments["k"]
    most = {**sampled["folds"], **seeding.get("sample", {})} if sampled else {}
    fewer = {
        name: most[name]
        for name in seeding["methods"]
        if most.get(name) is not None and (k == "loo" or most[name] < int(k))
    }
    dtype = datasets[cell.dataset]["dtype"]
    return {"dtype": dtype, "rounds": seeding.get("rounds"), **({"sample": fewer} if fewer else {})}


def _with_choice(datasets, along_C):
    """Return the data sets of which some cell runs the chosen model."""
    return [
        name
        for name, entry in datasets.items()
        if name in along_C["datasets"] or any(stage_cells[CHOSEN] for stage_cells in entry["cells"].values())
    ]
