"""The plan: generated problems, label noise, the data sets of Table 1, and growing sets."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run
from lib.shown import dataset_in_words

# The Gram matrix has float64 up to this many rows.
ROWS_FLOAT64 = 20_000
# methods of others, of which a sample of the runs tells enough
NEIGHBOURS = ("multiedit_condense",)
# what the entry of a set says about the methods of Table 1, and not about its sensitivity
ALL_IN_ONE = {"methods": [], "cell_per_method": False}
# `svmselect.gram.Gram` reserves so much, and SVMs make one for their decision values.
DECISIONS_MB = 2048


def plan(config, registry):
    section = config["bakir2004"]
    noisy, growing = section["figure4"]["dataset"], section["growth"]["dataset"]
    sets = section["table1"]["sets"]
    datasets = {
        "bakir2004.figure4.dataset": [noisy],
        "bakir2004.table1.sets": [entry["dataset"] for entry in sets],
        "bakir2004.growth.dataset": [growing],
    }
    check_datasets(datasets, registry)
    return Plan(
        [
            *_runs_of_figures(config, section, registry),
            *_runs_of_table1(config, section, sets),
            _growth_run(config, section, sets),
        ],
        [name for names in datasets.values() for name in names],
        facts={
            "figure4_data": dataset_in_words(noisy) + (" of scikit-learn" if registry[noisy].bundled else ""),
            "figure4_printed_data": "" if noisy == "mnist-3v8" else "; the paper has MNIST 3 against 8",
            "growth_data": dataset_in_words(growing),
        },
        without=[] if any(entry.get("sensitivity") for entry in sets) else ["sensitivity"],
    )


def _runs_of_figures(config, section, registry):
    """Return the runs of Figures 1, 3 and 4, whose subsets are parts, with nothing of section 4.3."""
    figure3, figure4 = section["figure3"], section["figure4"]
    noisy = figure4["dataset"]
    return [
        _run(
            config,
            "figure1",
            {"": (None, {}, {}, 0, 30)},
            "squares",
            **section["figure1"],
            tol=section["tol"],
        ),
        # a linear kernel
        _run(
            config,
            "figure3",
            _cells_of_draws(config, figure3, "", None, max(figure3["sizes"]), 60),
            "gaussians",
            **{key: figure3[key] for key in ("sizes", "deviations", "test_rows")},
            setup=_setup(section, figure3, None, adjust=False),
        ),
        _run(
            config,
            "figure4",
            _cells_of_draws(config, figure4, f"/{noisy}", noisy, registry[noisy].rows, 180),
            **{key: figure4[key] for key in ("noise", "scale", "train_rows")},
            nu={"values": grid(figure4["nu"]), "final_values": grid(figure4["final_nu"])},
            setup=_setup(section, figure4, figure4["gamma"], adjust=False),
        ),
    ]


def _runs_of_table1(config, section, sets):
    """Return the run of Table 1, and that without section 4.3 and with each C."""
    table1, sensitivity = {}, {}
    for entry in sets:
        table1 |= _table1_cells(section, entry)
        if entry.get("sensitivity"):
            sensitivity |= _table1_cells(section, {**entry, **ALL_IN_ONE})
    return [
        _run(config, "table1", table1),
        _run(config, "sensitivity", sensitivity, stage="sensitivity"),
    ]


def _growth_run(config, section, sets):
    """Return the run of training times by training rows: one C, and subsets of the size of a part, drawn as
    in Table 1."""
    growth = section["growth"]
    methods = {name: size for name, size in growth["methods"].items() if size is not None}
    if not methods:
        raise ValueError("The configuration's bakir2004.growth.methods has no method: one needs a size.")
    cells = {f"/{growth['dataset']}": (growth["dataset"], {}, {}, max(methods.values()), 360)}
    return _run(
        config,
        "growth",
        cells,
        # Table 1 extrapolates from it what an SVM would take that is not run
        beyond=all("svm" in entry["methods"] for entry in sets if entry["dataset"] == growth["dataset"]),
        **{key: growth[key] for key in ("sizes", "test_rows", "scale")},
        methods=methods,
        setup=_setup(section, growth, growth["gamma"], adjust=True),
    )


def _run(config, name, cells, generated=None, beyond=False, stage="cells", **settings):
    """Return the run of an exhibit. `cells` have data set, arguments, settings, most training rows and
    minutes, by the end of their names."""
    identity = {"experiment": name} | ({"dataset": generated} if generated else {})
    budget = config["bakir2004"]["memory_mb"]
    cells = {
        f"{name}{below}": Cell(dataset, identity, *given, _mb(rows, budget), minutes, beyond=beyond)
        for below, (dataset, *given, rows, minutes) in cells.items()
    }
    settings["timing"] = config["timing"]
    return Run(name, f"cells.run_{name}", "EDIT_ROWS", cells, settings, stage)


def _setup(section, entry, gamma, adjust, subset_size=None):
    """Return the options of a `Setup`, except the seed."""
    return {
        "gamma": gamma,
        "values": grid(entry["C"]),
        "final_values": grid(entry.get("final_C", entry["C"])),
        "n_subsets": entry["subsets"],
        "subset_size": subset_size,
        "adjust": adjust,
        **{key: section[key] for key in ("folds", "cv_rows", "parts", "patience", "tol", "memory_mb")},
    }


def _cells_of_draws(config, entry, below, dataset, rows, minutes):
    """Return a cell for each draw of Figure 3 or 4. With sampled baselines, later draws are without the
    methods of others."""
    sampled = config["baselines"] == "sampled"
    most = config["bakir2004"]["sample"]["runs"] if sampled else entry["runs"]
    methods = entry["methods"]
    ours = [name for name in methods if name not in NEIGHBOURS]
    return {
        f"{below}/run-{r}": (
            dataset,
            {"realisation": r},
            {"methods": methods if r <= most else ours},
            rows,
            minutes,
        )
        for r in range(1, entry["runs"] + 1)
    }


def _table1_cells(section, entry):
    """Return the cells of a row of Table 1: one for all methods, or one for each."""
    settings = {
        "realisations": list(range(1, entry["realisations"] + 1)),
        "train_rows": entry["train"],
        "test_rows": entry["test"],
        "scale": entry["scale"],
        "setup": _setup(section, entry, entry["gamma"], True, entry["subset_size"]),
    }
    apart = {f"/{name}": [name] for name in entry["methods"]}
    cells = apart if entry.get("cell_per_method") else {"": entry["methods"]}
    return {
        f"/{entry['dataset']}/train-{entry['train']}{below}": (
            entry["dataset"],
            {},
            {**settings, "methods": methods},
            entry["train"],
            720,
        )
        for below, methods in cells.items()
    }


def _mb(rows, budget):
    """Return the memory of a job, in 2**20 bytes: its largest Gram matrix, which has this many rows, a
    quarter of it for restrictions, and the memory that decision values reserve. A job of 0 rows has no data
    to speak of."""
    if rows == 0:
        return 1000
    whole = 1.04 * rows**2 * (8 if rows <= ROWS_FLOAT64 else 4) / 2**20
    return int(1.25 * min(budget, whole) + min(DECISIONS_MB, whole)) + 2500
