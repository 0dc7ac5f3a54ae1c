"""What there is to run: leave-one-out, Figure 1, and the test errors of the selected models."""

from lib.config import check_datasets, grid
from lib.plan import Cell, Plan, Run, by_value
from papers.franc2008.names import KERNELS


def plan(config, registry):
    own = config["franc2008"]
    methods, figure1 = own["methods"], own["figure1"]
    check_datasets(
        {
            "franc2008.datasets": own["datasets"],
            "franc2008.first_method_only": own["first_method_only"],
            "franc2008.figure1.datasets": figure1["datasets"],
        },
        registry,
    )
    shared = {"max_iter": own["max_iter"], "timing": config["timing"]}
    sampled = config["baselines"] == "sampled"
    # splits are drawn at random, so that the first ones are a sample
    of_figure1 = min(own["realisations"], own["sample"]["realisations"] if sampled else own["realisations"])
    linear = {"linear": {"gamma": None, "C": grid(own["linear"]["C"])}}
    rbf = {
        f"rbf-{by_value('gamma', gamma)}": {"gamma": gamma, "C": grid(own["rbf"]["C"])}
        for gamma in grid(own["rbf"]["gamma"])
    }

    def methods_of(dataset):
        return methods[:1] if dataset in own["first_method_only"] else methods

    def sample(dataset, name):
        of_linear = "linear_dear" if dataset in own["sample"]["dear"] else "linear"
        return {"sample": own["sample"][of_linear if name == "linear" else "rbf"]} if sampled else {}

    def cells(
        datasets,
        kernels,
        more=lambda dataset: {},
        settings=lambda dataset, name: {},
        realisations=own["realisations"],
    ):
        """A cell for each data set, realisation and kernel. Linear ones retrain for up to half an hour."""
        return {
            f"{dataset}/realisation-{realisation}/{name}": Cell(
                dataset,
                arguments={"realisation": realisation, **kernel, **more(dataset)},
                settings=settings(dataset, name),
                minutes=90 if name == "linear" else 3,
            )
            for dataset in datasets
            for realisation in range(1, realisations + 1)
            for name, kernel in kernels.items()
        }

    tested = {
        f"{dataset}/{kernel}": Cell(
            dataset,
            arguments={
                "kernel": kernel,
                "realisations": _tested(registry[dataset], own["test_realisations"]),
            },
        )
        for dataset in own["datasets"]
        for kernel in KERNELS
    }
    return Plan(
        [
            Run(
                "cells.run_loo",
                "LOO_ROWS",
                cells(
                    own["datasets"], linear | rbf, lambda dataset: {"methods": methods_of(dataset)}, sample
                ),
                {"eps": own["eps"], "efficiency_test": own["efficiency_test"], **shared},
                forecast="sample.forecast",
            ),
            Run(
                "cells.run_stopping",
                "LOO_ROWS",
                cells(figure1["datasets"], rbf, realisations=of_figure1),
                {"eps": [10**exponent for exponent in figure1["log10_eps"]], **shared},
                stage="stopping",
            ),
            Run(
                "cells.run_test",
                "TEST_ROWS",
                tested,
                {"method": methods[0], "eps": own["eps"], **shared},
                stage="test",
                after=["cells"],
            ),
        ],
        [*own["datasets"], *figure1["datasets"]],
        facts={
            "datasets": own["datasets"],
            "figure1_datasets": figure1["datasets"],
            "methods": methods,
            "selects": methods[0],
        },
        # these compare methods
        without=() if len(methods) > 1 else ("table3", "speedup", "agreement"),
    )


def _tested(entry, most):
    """Realisations to test on: those that the configuration asks for, or as many as the data set has."""
    return list(range(1, min(most, entry.splits.realisations if entry.splits else 1) + 1))
