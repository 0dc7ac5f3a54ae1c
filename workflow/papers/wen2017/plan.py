"""What there is to run: each model from every seed, with a cache, and by LIBSVM; along C; other folds."""

from __future__ import annotations

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run

__all__ = ["plan"]

PUBLISHED, CHOSEN = "published", "chosen"
NONE = {PUBLISHED: [], CHOSEN: []}
BYTES = {"float32": 4, "float64": 8}


def plan(config, registry):
    own = config["wen2017"]
    datasets = {entry["name"]: entry for entry in own["datasets"]}
    variants = {entry["name"]: entry for entry in own["variants"]["datasets"]}
    along_C, choice = own["along_C"], own["choice"]
    check_datasets({"wen2017.datasets": datasets}, registry)
    check_datasets(
        {"wen2017.along_C.datasets": along_C["datasets"], "wen2017.variants.datasets": variants}, datasets
    )
    tol, max_iter, seed, timing = own["tol"], own["max_iter"], own["seed"], config["timing"]
    settings = {"tol": tol, "max_iter": max_iter, "seed": seed, "timing": timing}

    def whole_matrix_mb(dataset):
        """Memory of a job that holds a Gram matrix, and restrictions and blocks of it, in 2**20 bytes."""
        itemsize = BYTES[datasets[dataset]["dtype"]]
        return int(1.4 * registry[dataset].rows ** 2 * itemsize / 2**20) + 2500

    def model(dataset):
        return {key: float(datasets[dataset][key]) for key in ("C", "gamma")}

    def cells(stage, mb, minutes, arguments, cell_settings, name="k"):
        """Cells that data set, settings and k name: of the published or, without a model, the chosen one."""
        return {
            f"{dataset}/{which}/{name}-{k}": Cell(
                dataset,
                {"settings": which},
                {
                    "model": model(dataset) if which == PUBLISHED else None,
                    "k": str(k),
                    **arguments(entry, str(k)),
                },
                cell_settings(entry, str(k)),
                mb(dataset),
                minutes,
            )
            for dataset, entry in datasets.items()
            for which in (PUBLISHED, CHOSEN)
            for k in entry["cells"].get(stage, NONE)[which]
        }

    def of_k(entry, k):
        return next(own for own in entry["seedings"] if str(own["k"]) == k)

    def of_seeds(entry, k):
        return {"dtype": entry["dtype"], "rounds": of_k(entry, k).get("rounds")}

    def seedings(entry, k):
        return {"seedings": of_k(entry, k)["methods"]}

    def cached_seedings(entry, k):
        return {"seedings": [name for name in of_k(entry, k)["methods"] if name in own["cached"]["seedings"]]}

    def whole_sets(names, which, mb, arguments, cell_settings):
        return {
            name: Cell(name, {"settings": which}, arguments(name), cell_settings(name), mb(name), 120)
            for name in names
        }

    def nothing(*_):
        return {}

    return Plan(
        [
            Run(
                "choice.run_choice",
                "CV_ROWS",
                whole_sets(_with_choice(datasets, along_C), CHOSEN, lambda _: 3000, nothing, nothing),
                {
                    **{key: choice[key] for key in ("rows", "folds")},
                    **{key: grid(choice[key]) for key in ("C", "gamma")},
                    "tol": tol,
                    "seed": seed,
                    "timing": timing,
                },
                stage="choice",
                priority=2,
            ),
            # the tables need these; LIBSVM's come last
            Run(
                "cells.run_seeds",
                "CV_ROWS",
                cells("seeds", whole_matrix_mb, 720, seedings, of_seeds),
                settings,
                stage="seeds",
                after=["choice"],
                priority=1,
            ),
            Run(
                "cells.run_unlearning",
                "CV_ROWS",
                cells("unlearn", whole_matrix_mb, 240, nothing, of_seeds, "unlearn"),
                settings,
                stage="seeds",
                after=["choice"],
                priority=1,
            ),
            Run(
                "cells.run_cached",
                "CV_ROWS",
                cells("cached", whole_matrix_mb, 360, cached_seedings, nothing),
                {**settings, "rounds": own["cached"]["rounds"]},
                stage="cached",
                after=["choice"],
            ),
            Run(
                "libsvm.run_libsvm",
                "CV_ROWS",
                cells("libsvm", lambda _: 4000, 360, nothing, nothing),
                {"tol": tol, "seed": seed, "timing": timing, "budget_s": own["libsvm_budget"]},
                stage="libsvm",
                after=["choice"],
                priority=-1,
            ),
            Run(
                "cells.run_along_C",
                "CV_ROWS",
                whole_sets(
                    along_C["datasets"],
                    CHOSEN,
                    lambda _: 3000,
                    lambda _: {
                        "k": str(along_C["k"]),
                        "C": grid(along_C["C"]),
                        "seedings": along_C["seedings"],
                    },
                    nothing,
                ),
                {**settings, "rows": along_C["rows"]},
                stage="along_C",
                after=["choice"],
            ),
            Run(
                "variants.run_variants",
                "CV_ROWS",
                whole_sets(
                    variants,
                    PUBLISHED,
                    whole_matrix_mb,
                    lambda dataset: {
                        "k": str(own["variants"]["k"]),
                        "model": model(dataset),
                        "seedings": variants[dataset]["seedings"],
                    },
                    lambda dataset: {
                        "dtype": datasets[dataset]["dtype"],
                        **{key: variants[dataset][key] for key in ("stratified", "unstratified")},
                    },
                ),
                settings,
                stage="variants",
            ),
        ],
        list(datasets),
        facts={"features": {dataset: registry[dataset].features for dataset in datasets}},
    )


def _with_choice(datasets, along_C):
    """The data sets of which some cell runs the chosen model."""
    return [
        name
        for name, entry in datasets.items()
        if name in along_C["datasets"] or any(of_stage[CHOSEN] for of_stage in entry["cells"].values())
    ]
