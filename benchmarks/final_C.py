"""What Table 1 of Bakir et al. (2004) would be with each C: results/final_C.csv and final_C.md.

python benchmarks/final_C.py
python benchmarks/final_C.py --sets waveform-400 --widen 2

Sets, widths, subsets and grids are those of config/paper.yaml. The first stage of cross-training chooses its
own C from the grid, as in the table. What the CSV file has already is not measured again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import yaml
from csv_rows import read_rows, write_rows
from problems import ROOT, registered
from threadpoolctl import threadpool_limits

from svmselect import RBF, cross_training
from svmselect.editing import train
from svmselect.svm import misclassified

sys.path.insert(0, str(ROOT / "workflow"))
from papers.bakir2004.cells import ROWS_FLOAT32
from papers.bakir2004.problem import of_dataset

RESULTS = Path(__file__).resolve().parent / "results" / "final_C.csv"
KEY = ("dataset", "train", "gamma", "realisation")


def table1():
    """Settings of the rows of Table 1 with at most 50,000 training rows, by name."""
    bakir2004 = yaml.safe_load((ROOT / "config" / "paper.yaml").read_text())["bakir2004"]
    return {
        f"{own['dataset']}-{own['train']}": {**own, "memory_mb": bakir2004["memory_mb"]}
        for own in bakir2004["table1"]["sets"]
        if own["train"] <= 50_000
    }


def measure(settings, gamma, dataset, realisation):
    """One row for each C: accuracy in percent and support vectors of the SVM and of cross-training."""
    sizes = settings["train"], settings["test"]
    problem = of_dataset(dataset, realisation, *sizes, settings["scale"])
    kernel = RBF(gamma)
    dtype = "float32" if settings["train"] > ROWS_FLOAT32 else "float64"
    solver = {"dtype": dtype, "memory_mb": settings["memory_mb"]}

    def found(classifier):
        wrong = misclassified(problem.y_test, classifier.decision_function(problem.X_test))
        return {"accuracy": 100 * (1 - wrong.mean()), "svs": classifier.n_sv}

    first = settings["C"]
    for C in settings["C"]:
        (svm,) = train(problem.X, problem.y, kernel, C, **solver)
        edited = cross_training(
            problem.X,
            problem.y,
            kernel,
            C,
            first_values=first,
            n_subsets=settings["subsets"],
            subset_size=settings["subset_size"],
            validation=settings["subset_size"] // 3,
            seed=realisation,
            **solver,
        )
        # the same one for every C of the final SVM
        first = edited.first.value
        yield {
            "dataset": settings["dataset"],
            "train": settings["train"],
            "gamma": gamma,
            "realisation": realisation,
            "C": C,
            "first_C": first,
            **{f"svm_{name}": value for name, value in found(svm).items()},
            **{f"cross_training_{name}": value for name, value in found(edited).items()},
        }


def report(rows):
    """Means over the realisations in Markdown."""
    lines = [
        "# Table 1 of Bakir et al. (2004) with each C",
        "",
        "Means over the realisations; C of the SVM, and of the final SVM of cross-training (CT).",
        "",
        "| data set | rows | gamma | C | realisations | SVM: accuracy (%) | SVs | CT: accuracy (%) | SVs |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    groups = {}
    for row in rows:
        model = float(row["gamma"]), float(row["C"])
        groups.setdefault((row["dataset"], row["train"], *model), []).append(row)
    for (dataset, size, gamma, C), own in groups.items():
        cells = [dataset, str(size), f"{gamma:.4g}", f"{C:g}", str(len(own))]
        for method in ("svm", "cross_training"):
            for column, digits in (("accuracy", 1), ("svs", 0)):
                cells.append(f"{np.mean([float(row[f'{method}_{column}']) for row in own]):.{digits}f}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main():
    sets = table1()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--sets", nargs="+", default=list(sets), choices=list(sets), metavar="NAME")
    parser.add_argument("--realisations", type=int, default=5, metavar="N")
    parser.add_argument("--widen", type=float, default=1, metavar="FACTOR", help="what gamma is divided by")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = read_rows(options.output)
    done = {tuple(str(row[column]) for column in KEY) for row in rows}
    with threadpool_limits(1):
        for name in options.sets:
            settings = sets[name]
            dataset, gamma = registered(settings["dataset"]), settings["gamma"] / options.widen
            for realisation in range(1, min(options.realisations, settings["realisations"]) + 1):
                if (settings["dataset"], str(settings["train"]), str(gamma), str(realisation)) in done:
                    continue
                rows += measure(settings, gamma, dataset, realisation)
                write_rows(options.output, rows, report(rows))
                print(name, f"realisation {realisation}", flush=True)


if __name__ == "__main__":
    main()
