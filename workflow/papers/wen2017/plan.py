"""The plan: each model from every seed, with a cache, and by LIBSVM; along C; other folds."""

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
    left_out, planned_cells = sampled["without"] if sampled else (), {}
    check_datasets({"wen2017.datasets": datasets}, registry)
    check_datasets(
        {"wen2017.along_C.datasets": along_C["datasets"], "wen2017.variants.datasets": variants}, datasets
    )
    settings = {**{key: section[key] for key in ("tol", "max_iter", "seed")}, "timing": config["timing"]}
    without_limit = {key: value for key, value in settings.items() if key != "max_iter"}

    # functions of a run's cells: memory, model, seeds, samples
    def run(name, function, stage, cells, settings, after=("choice",)):
        run_cells = {name: cell for name, cell in cells.items() if f"{stage}/{name}" not in left_out}
        planned_cells.update({f"{stage}/{name}": cell for name, cell in cells.items()})
        return Run(name, function, "CV_ROWS", run_cells, settings, stage, after)

    def whole_matrix_mb(dataset, seedings, k, which=PUBLISHED):
        """Return the memory of a job that holds a Gram matrix and a part of it, in 2**20 bytes. MIR's part
        are the kernel values of a fold with all others, and four matrices of normal equations."""
        rows, size = registry[dataset].rows, BYTES[datasets[dataset]["dtype"]]
        whole = rows**2 * size / 2**20
        fold = 1 if k == "loo" else rows / int(k)
        mir = (size * (rows - fold) * fold + 4 * 8 * fold**2) / 2**20 if "mir" in seedings else 0
        restricted = RESTRICTED * whole if which == CHOSEN else 0
        return int(whole + max(mir, restricted, PART_MB)) + BESIDE_MB

    def model(dataset):
        return {key: float(datasets[dataset][key]) for key in ("C", "gamma")}

    def nothing(*_):
        return {}

    def seedings_mb(dataset, k, which):
        return whole_matrix_mb(dataset, seeding_entry(datasets[dataset], k)["methods"], k, which)

    def cells(stage, minutes, arguments=nothing, cell_settings=nothing, mb=seedings_mb, name="k"):
        """Return the cells that data set, settings and k name: of the published model, or, without a
        model, of the chosen one."""
        cells_of = {}
        for dataset, entry in datasets.items():
            for which in (PUBLISHED, CHOSEN):
                for k in map(str, entry["cells"].get(stage, NONE)[which]):
                    given = {"model": model(dataset) if which == PUBLISHED else None, "k": k}
                    cells_of[f"{dataset}/{which}/{name}-{k}"] = Cell(
                        dataset,
                        {"settings": which},
                        {**given, **arguments(entry, k)},
                        cell_settings(entry, k),
                        mb(dataset, k, which),
                        minutes,
                        beyond=which == CHOSEN,
                    )
        return cells_of

    def seeding_entry(entry, k):
        return next(seeding for seeding in entry["seedings"] if str(seeding["k"]) == k)

    def seed_settings(entry, k):
        return {"dtype": entry["dtype"], "rounds": seeding_entry(entry, k).get("rounds"), **sample(entry, k)}

    def sample(entry, k):
        """Return the most folds of the seeds of a cell that have fewer than all; empty if all are run."""
        most = {**sampled["folds"], **seeding_entry(entry, k).get("sample", {})} if sampled else {}
        fewer = {
            name: most[name]
            for name in seeding_entry(entry, k)["methods"]
            if name in most and (k == "loo" or most[name] < int(k))
        }
        return {"sample": fewer} if fewer else {}

    def seedings(entry, k):
        return {"seedings": seeding_entry(entry, k)["methods"]}

    def cached_seedings(entry, k):
        return {
            "seedings": [
                name for name in seeding_entry(entry, k)["methods"] if name in section["cached"]["seedings"]
            ]
        }

    # cells of the choice, the path, the variants, LIBSVM and unlearning
    choice_cells = {
        name: Cell(name, {"settings": CHOSEN}, mem_mb=SMALL_MB, minutes=120)
        for name in _with_choice(datasets, along_C)
    }
    path = {"k": str(along_C["k"]), "C": grid(along_C["C"]), "seedings": along_C["seedings"]}
    path_cells = {
        name: Cell(name, {"settings": CHOSEN}, path, mem_mb=SMALL_MB, minutes=120, beyond=True)
        for name in along_C["datasets"]
    }
    variant_cells = {
        name: Cell(
            name,
            {"settings": PUBLISHED},
            {"k": str(section["variants"]["k"]), "model": model(name), "seedings": entry["seedings"]},
            {"dtype": datasets[name]["dtype"], **{key: entry[key] for key in ("stratified", "unstratified")}},
            whole_matrix_mb(name, entry["seedings"], section["variants"]["k"]),
            120,
            beyond=True,
        )
        for name, entry in variants.items()
    }
    choice_grid = {
        **{key: choice[key] for key in ("rows", "folds")},
        **{key: grid(choice[key]) for key in ("C", "gamma")},
    }
    libsvm_cells = cells("libsvm", 360, mb=lambda *_: SMALL_MB)
    budget_s = sampled["libsvm_budget"] if sampled else section["libsvm_budget"]
    unlearned = cells("unlearn", 240, cell_settings=seed_settings, name="unlearn")
    with_cache = {**settings, "rounds": section["cached"]["rounds"]}
    # the runs of all stages
    runs = [
        run(
            "choice",
            "choice.run_choice",
            "choice",
            choice_cells,
            {**choice_grid, **without_limit},
            after=(),
        ),
        run("seeds", "cells.run_seeds", "seeds", cells("seeds", 720, seedings, seed_settings), settings),
        run("unlearning", "cells.run_unlearning", "seeds", unlearned, settings),
        run("cached", "cells.run_cached", "cached", cells("cached", 360, cached_seedings), with_cache),
        run(
            "libsvm",
            "libsvm.run_libsvm",
            "libsvm",
            libsvm_cells,
            {**without_limit, "budget_s": budget_s},
        ),
        run("along_C", "cells.run_along_C", "along_C", path_cells, {**settings, "rows": along_C["rows"]}),
        # how folds are drawn
        run("variants", "variants.run_variants", "variants", variant_cells, settings, after=()),
    ]
    # data sets that the configuration leaves out have no cells that could be known
    known = {*registry} - {*datasets}
    check_names(
        "wen2017.sample.without",
        [name for name in left_out if known.isdisjoint(name.split("/"))],
        planned_cells,
    )
    return Plan(
        runs,
        list(datasets),
        facts={
            "features": {dataset: registry[dataset].features for dataset in datasets},
            "sampled": sampled is not None,
            "along_C_data": ", ".join(map(dataset_in_words, along_C["datasets"])),
        },
    )


def _with_choice(datasets, along_C):
    """Return the data sets of which some cell runs the chosen model."""
    return [
        name
        for name, entry in datasets.items()
        if name in along_C["datasets"] or any(stage_cells[CHOSEN] for stage_cells in entry["cells"].values())
    ]
