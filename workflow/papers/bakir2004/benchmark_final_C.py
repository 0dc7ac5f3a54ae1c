"""Table 1 with each C: ``benchmarks/results/bakir2004_final_C.csv`` and ``.md``. To repeat it:

PYTHONPATH=workflow python -m papers.bakir2004.benchmark_final_C
PYTHONPATH=workflow python -m papers.bakir2004.benchmark_final_C --sets waveform-400 --widen 2
PYTHONPATH=workflow python -m papers.bakir2004.benchmark_final_C --sets adult-32560 --widen 10

The paper does not print its C. The SVM, and the final SVM of cross-training, are trained with every C of the
grid in config/paper.yaml, which also has the sets, kernel widths and subsets. The first stage of
cross-training chooses its own C from the grid, as in the table. What the CSV file has already is not measured
again.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd
from svmselect import RBF, cross_training
from svmselect.editing import train
from svmselect.errors import misclassified
from threadpoolctl import threadpool_limits

from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.registry import load_registry
from data.yaml_file import read_yaml
from papers.bakir2004.cells import ROWS_FLOAT32
from papers.bakir2004.problem import dataset_problem

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "benchmarks"))  # what writes rows there, with where they come from

import origin  # noqa: E402
from csv_rows import write_rows  # noqa: E402

RESULTS = ROOT / "benchmarks/results/bakir2004_final_C.csv"
KEY = ["dataset", "train", "gamma", "realisation"]


def table1(path=ROOT / "config/paper.yaml"):
    """Return the settings of the rows of Table 1 with at most 50,000 training rows, by name."""
    bakir2004 = read_yaml(path)["bakir2004"]
    return {
        f"{row['dataset']}-{row['train']}": {**row, "memory_mb": bakir2004["memory_mb"]}
        for row in bakir2004["table1"]["sets"]
        if row["train"] <= 50_000
    }


def prepared(dataset):
    """Return a data set of the registry; its file is made where the workflow has it if it is missing."""
    path = ROOT / "resources/data" / f"{dataset}.npz"
    if not path.exists():
        entry = load_registry(ROOT / "config/datasets.yaml")[dataset]
        raw = ROOT / "resources/raw" / dataset
        fetch(entry, raw)
        prepare(entry, raw, path)
    return Dataset.load(path)


def measure(settings, gamma, dataset, realisation):
    """Yield one row for each C: accuracy in percent and support vectors of the SVM and of cross-training."""
    sizes = settings["train"], settings["test"]
    problem = dataset_problem(dataset, realisation, *sizes, settings["scale"])
    kernel = RBF(gamma)
    dtype = "float32" if settings["train"] > ROWS_FLOAT32 else "float64"
    solver = {"dtype": dtype, "memory_mb": settings["memory_mb"]}

    def scores(classifier):
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
            **{f"svm_{name}": value for name, value in scores(svm).items()},
            **{f"cross_training_{name}": value for name, value in scores(edited).items()},
        }


def report(rows):
    """Return means over the realisations in Markdown."""
    lines = [
        "# Table 1 of Bakir et al. (2004) with each C",
        "",
        "Means over the realisations; C of the SVM, and of the final SVM of cross-training (CT).",
        "",
        "| data set | rows | gamma | C | realisations | SVM: accuracy (%) | SVs | CT: accuracy (%) | SVs |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (dataset, size, gamma, C), group in rows.groupby(["dataset", "train", "gamma", "C"], sort=False):
        cells = [dataset, str(size), f"{gamma:.4g}", f"{C:g}", str(len(group))]
        for method in ("svm", "cross_training"):
            cells += [f"{group[f'{method}_accuracy'].mean():.1f}", f"{group[f'{method}_svs'].mean():.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def read(path):
    """Return the rows of the CSV file; none if there is no file yet."""
    return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=KEY)


def write(path, rows):
    """Write the rows and their report, each complete or not at all."""
    write_rows(path, rows.to_dict("records"), report(rows))


def main(arguments=None):
    sets = table1()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--sets", nargs="+", default=list(sets), choices=list(sets), metavar="NAME")
    parser.add_argument("--realisations", type=int, default=5, metavar="N")
    parser.add_argument("--widen", type=float, default=1, metavar="FACTOR", help="what gamma is divided by")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args(arguments)
    rows = read(options.output)
    done = set(rows[KEY].itertuples(index=False, name=None))
    with threadpool_limits(1):
        for name in options.sets:
            settings = sets[name]
            gamma = settings["gamma"] / options.widen
            for realisation in range(1, min(options.realisations, settings["realisations"]) + 1):
                if (settings["dataset"], settings["train"], gamma, realisation) in done:
                    continue
                new_rows = pd.DataFrame(measure(settings, gamma, prepared(settings["dataset"]), realisation))
                new_rows = new_rows.assign(**origin.columns())
                rows = pd.concat([rows, new_rows]) if len(rows) else new_rows
                write(options.output, rows)
                print(name, f"realisation {realisation}", flush=True)


if __name__ == "__main__":
    main()
