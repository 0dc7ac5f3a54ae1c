"""What there is to run: generated problems, label noise, the data sets of Table 1, and growing sets."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run

# The Gram matrix has float64 up to this many rows.
ROWS_FLOAT64 = 20_000


def plan(config, registry):
    own = config["bakir2004"]
    figure3, figure4, growth, sets = own["figure3"], own["figure4"], own["growth"], own["table1"]["sets"]
    check_datasets(
        {
            "bakir2004.figure4.dataset": [figure4["dataset"]],
            "bakir2004.table1.sets": [entry["dataset"] for entry in sets],
            "bakir2004.growth.dataset": [growth["dataset"]],
        },
        registry,
    )

    def run(name, cells, generated=None, **settings):
        """The cells of an exhibit: of each data set, arguments, settings, most training rows, minutes."""
        identity = {"experiment": name} | ({"dataset": generated} if generated else {})
        cells = {
            f"{name}{below}": Cell(dataset, identity, *given, _mb(rows, own["memory_mb"]), minutes)
            for below, (dataset, *given, rows, minutes) in cells.items()
        }
        return Run(f"cells.run_{name}", "EDIT_ROWS", cells, {**settings, "timing": config["timing"]})

    def setup(entry, gamma, adjust, subset_size=None):
        """How classifiers are trained, but for the seed."""
        return {
            "gamma": gamma,
            "values": grid(entry["C"]),
            "final_values": grid(entry.get("final_C", entry["C"])),
            "n_subsets": entry["subsets"],
            "subset_size": subset_size,
            "adjust": adjust,
            **{key: own[key] for key in ("folds", "cv_rows", "parts", "patience", "tol", "memory_mb")},
        }

    def of_runs(entry, below, dataset, rows, minutes):
        return {
            f"{below}/run-{r}": (dataset, {"realisation": r}, {}, rows, minutes)
            for r in range(1, entry["runs"] + 1)
        }

    def of_table1(entry):
        settings = {
            "realisations": list(range(1, entry["realisations"] + 1)),
            "train_rows": entry["train"],
            "test_rows": entry["test"],
            **{key: entry[key] for key in ("scale", "methods")},
            "setup": setup(entry, entry["gamma"], True, entry["subset_size"]),
        }
        return entry["dataset"], {}, settings, entry["train"], 720

    noisy, growing = figure4["dataset"], growth["dataset"]
    return Plan(
        [
            run("figure1", {"": (None, {}, {}, 0, 30)}, "squares", **own["figure1"], tol=own["tol"]),
            # a linear kernel, subsets that are parts, nothing of section 4.3
            run(
                "figure3",
                of_runs(figure3, "", None, max(figure3["sizes"]), 60),
                "gaussians",
                **{key: figure3[key] for key in ("sizes", "deviations", "test_rows", "methods")},
                setup=setup(figure3, None, adjust=False),
            ),
            # subsets that are parts, nothing of section 4.3
            run(
                "figure4",
                of_runs(figure4, f"/{noisy}", noisy, registry[noisy].rows, 180),
                **{key: figure4[key] for key in ("noise", "scale", "train_rows", "methods")},
                nu={"values": grid(figure4["nu"]), "final_values": grid(figure4["final_nu"])},
                setup=setup(figure4, figure4["gamma"], adjust=False),
            ),
            run(
                "table1", {f"/{entry['dataset']}/train-{entry['train']}": of_table1(entry) for entry in sets}
            ),
            # one C, subsets of the size of a part, drawn as in Table 1
            run(
                "growth",
                {f"/{growing}": (growing, {}, {}, max(growth["methods"].values()), 360)},
                **{key: growth[key] for key in ("sizes", "test_rows", "scale", "methods")},
                setup=setup(growth, growth["gamma"], adjust=True),
            ),
        ],
        [noisy, *(entry["dataset"] for entry in sets), growing],
        facts={"figure4_runs": figure4["runs"]},
    )


def _mb(rows, budget):
    """Memory of a job whose largest Gram matrix has so many rows, and a quarter of it for restrictions, in
    2**20 bytes; 0 rows: of one that has no data to speak of."""
    if rows == 0:
        return 1000
    whole = rows**2 * (8 if rows <= ROWS_FLOAT64 else 4) / 2**20
    return int(1.25 * min(budget, 1.04 * whole)) + 3500
