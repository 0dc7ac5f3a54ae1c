"""The plan: the models of each grid of weights, and of the training sets that grow."""

from lib.config import check_datasets
from lib.plan import Cell, Plan, Run

# what a data set or a size has in the configuration, and says nothing to the runs
APART = ("name", "log2_m", "published_rows", "jobs")


def plan(config, registry):
    section = config["sarafis2018"]
    datasets = {
        experiment: {entry["name"]: entry for entry in section[experiment]["datasets"]}
        for experiment in ("class_weights", "instance_weights")
    }
    sizes = section["size"]["datasets"]
    check_datasets(
        {
            **{f"sarafis2018.{experiment}.datasets": named for experiment, named in datasets.items()},
            "sarafis2018.size.datasets": sizes,
        },
        registry,
    )
    # Figures 2 to 4: the experiment and the data set of each
    figures = {
        figure: (experiment, section["figures"][figure])
        for figure, experiment in (
            ("figure2", "class_weights"),
            ("figure3", "class_weights"),
            ("figure4", "instance_weights"),
        )
    }
    for figure, (experiment, dataset) in figures.items():
        check_datasets({f"sarafis2018.figures.{figure}": [dataset]}, datasets[experiment])
    # cells: every grid in parts of its stripes
    sample = {"libsvm_folds": section["sample"]["libsvm_folds"]} if config["baselines"] == "sampled" else {}
    cells = {}
    for experiment, dataset, m, entry in _grids(section, datasets, registry):
        for part in range(1, entry["jobs"] + 1):
            name = f"{experiment}/{dataset}/rows-{m}/part-{part}-of-{entry['jobs']}"
            cells[name] = Cell(
                dataset,
                identity={"experiment": experiment},
                arguments={"m": m, "part": part},
                settings={
                    "jobs": entry["jobs"],
                    "every": 1,
                    "axes": _axes(section, experiment),
                    **{key: value for key, value in entry.items() if key not in APART},
                },
                # the Gram matrix, and blocks of it; small cells fit beside the largest ones of other papers
                mem_mb=int(2.6 * min(section["memory_mb"], m**2 * 8 / 2**20)) + 950,
                minutes=60 if m > 2048 else 10,
            )
    # one run for all of them
    settings = {key: section[key] for key in ("tol", "max_iter", "folds", "memory_mb", "cache_mb")}
    return Plan(
        [
            Run(
                "models",
                "cells.run_models",
                "WEIGHT_ROWS",
                cells,
                {**settings, **sample, "timing": config["timing"]},
            )
        ],
        [*(name for named in datasets.values() for name in named), *sizes],
        facts={
            "published_rows": [
                name
                for named in datasets.values()
                for name, entry in named.items()
                if entry.get("published_rows")
            ],
        },
    )


def _grids(section, datasets, registry):
    """Yield experiment, data set, training rows and the entry of the configuration, of each grid of
    models."""
    for experiment, named in datasets.items():
        for dataset, entry in named.items():
            registered = registry[dataset]
            yield (
                experiment,
                dataset,
                registered.splits.train if registered.splits else registered.rows,
                entry,
            )
    for size in section["size"]["sizes"]:
        for dataset in section["size"]["datasets"]:
            yield "size", dataset, 2 ** size["log2_m"], size


def _axes(section, experiment):
    names = ("A", "B", "log2_C") if experiment == "instance_weights" else ("log2_C",)
    return {name: section["instance_weights" if len(names) > 1 else "class_weights"][name] for name in names}
