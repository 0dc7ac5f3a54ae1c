"""The plan: the models of each grid of weights, and of the training sets that grow; draws of the rows; and
models whose spans are a QP each."""

from functools import partial

from lib.config import check_datasets
from lib.plan import Cell, Plan, Run
from papers.sarafis2018.grid import SIZE

# what a data set or a size has in the configuration, and says nothing to the runs
APART = ("name", "log2_m", "published_rows", "jobs", "draws", "qp_every")
# settings of a whole grid in one cell, without leave-one-out and LIBSVM
ESTIMATES_ALONE = {"jobs": 1, "loo_every": 0, "libsvm_every": 0}


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
    # cells: every grid in parts of its stripes; draws of the rows; sub-grids with a QP for each span
    sample = {"libsvm_folds": section["sample"]["libsvm_folds"]} if config["baselines"] == "sampled" else {}
    models, draws, spans, spans_of_sizes = {}, {}, {}, {}
    for experiment, dataset, m, entry in _grids(section, datasets, registry):
        folder = f"{experiment}/{dataset}/rows-{m}"
        cell_of = partial(_cell, section, experiment, dataset, m, entry)
        for part in range(1, entry["jobs"] + 1):
            models[f"{folder}/part-{part}-of-{entry['jobs']}"] = cell_of(part)
        drawn = entry.get("draws", {"count": 0})
        for realisation in range(1, drawn["count"] + 1):
            draws[f"{folder}/part-1-of-1/realisation-{realisation}"] = cell_of(
                **ESTIMATES_ALONE, realisation=realisation, every=drawn["every"]
            )
        if entry["qp_every"]:
            group = spans_of_sizes if experiment == SIZE else spans
            group[folder] = cell_of(**ESTIMATES_ALONE, every=entry["qp_every"])
    # the runs of all stages
    settings = {key: section[key] for key in ("tol", "max_iter", "folds", "memory_mb", "cache_mb")}
    settings["timing"] = config["timing"]
    schema, by_qp = "WEIGHT_ROWS", "general_qp.run_general_qp"
    return Plan(
        [
            Run("models", "cells.run_models", schema, models, {**settings, **sample}),
            Run("draws", "cells.run_models", schema, draws, settings, "draws"),
            Run("spans", by_qp, schema, spans, settings, "spans"),
            Run("spans_of_sizes", by_qp, schema, spans_of_sizes, settings, "spans"),
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
        without=[] if draws else ["draws"],
    )


def _cell(section, experiment, dataset, m, entry, part=1, **settings):
    """Return a cell of a grid of models; `settings` take the place of those of its entry."""
    entry_settings = {key: value for key, value in entry.items() if key not in APART}
    return Cell(
        dataset,
        identity={"experiment": experiment},
        arguments={"m": m, "part": part},
        settings={
            "jobs": entry["jobs"],
            "every": 1,
            "axes": _axes(section, experiment),
            **entry_settings,
            **settings,
        },
        # the Gram matrix, and blocks of it; small cells fit beside the largest ones of other papers
        mem_mb=int(2.6 * min(section["memory_mb"], m**2 * 8 / 2**20)) + 950,
        minutes=60 if m > 2048 else 10,
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
