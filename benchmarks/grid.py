"""Cross-validation of whole grids against scikit-learn, liquidSVM and TorchKM: results/grid.csv.

python benchmarks/grid.py
python benchmarks/grid.py --liquidsvm /path/to/python --threads 1

RBF models with 5 folds on 1,000 rows of waveform, Gram matrices included. README.md explains the grids, the
columns, and how liquidSVM and TorchKM are installed. They have interpreters of their own, and are left out
without one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parent / "results" / "grid.csv"
FOLDS = 5
TOL = 1e-3
LONG = 4  # CPU seconds: a longer call is not repeated
# name: values of C, and of gamma times the number of features; None: those that liquidSVM chooses
GRIDS = {
    "64": (2.0 ** np.arange(-3, 12, 2), 2.0 ** np.arange(-5, 3)),
    "100": (np.geomspace(2.0**-3, 2.0**11, 10), np.geomspace(2.0**-5, 2.0**2, 10)),
    "liquidSVM": None,
}
TORCHKM = {"eps": 1e-5, "maxit": 1000, "gamma": 1e-8}  # the constants of its estimator
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def svmselect(data, threads):
    """Least cross-validation error, and iterations."""
    from svmselect import RBF, Gram, cross_validate_grid

    X, y = data["X"], data["y"]
    gram = Gram(X, RBF(1.0), dtype="float32")
    grid = cross_validate_grid(gram, y, data["Cs"], data["gammas"], data["folds"], tol=TOL)
    return {"error": grid.error.min(), "n_iter": int(grid.n_iter.sum())}


def sklearn(data, threads):
    """Every fit by itself, on the same folds."""
    from sklearn.svm import SVC

    X, y, folds = data["X"], data["y"], data["folds"]
    errors, n_iter = np.zeros((data["gammas"].size, data["Cs"].size)), 0
    for g, gamma in enumerate(data["gammas"]):
        for c, C in enumerate(data["Cs"]):
            for h in range(FOLDS):
                model = SVC(C=C, gamma=gamma, tol=TOL).fit(X[folds != h], y[folds != h])
                errors[g, c] += np.count_nonzero(model.predict(X[folds == h]) != y[folds == h])
                n_iter += int(model.n_iter_[0])
    return {"error": errors.min() / y.size, "n_iter": n_iter}


def liquidsvm(data, threads):
    """Its grid of 100 models, its folds, and its choice of the best model of each fold."""
    from liquidSVM import mcSVM

    model = mcSVM(data["X"], data["y"], folds=FOLDS, grid_choice=0, threads=threads, random_seed=1)
    width, cost = np.unique(model.errTrain[:, 3]), np.unique(model.errTrain[:, 5])
    rows = data["y"].size * (FOLDS - 1) / FOLDS
    return {
        "error": model.errSelect[:, 7].mean(),  # validation error, of each fold by its own best model
        "Cs": (1 / (2 * cost * rows)).tolist(),
        "gammas": (1 / width**2).tolist(),
    }


def torchkm(data, threads):
    """All C of a gamma in one call, each gamma with its kernel matrix, on the same folds."""
    import torch
    from torchkm.cvksvm import cvksvm

    torch.set_num_threads(threads)
    X, y = torch.tensor(data["X"]), torch.tensor(data["y"])
    norms = (X * X).sum(dim=1)
    distances = (norms[:, None] + norms - 2 * X @ X.T).clamp(min=0)
    # its loss is a mean, and its penalty lambda times the squared norm; it goes from large lambda to small
    penalties = torch.tensor(np.sort(1 / (2 * y.numel() * data["Cs"]))[::-1].copy())
    least, passes = np.inf, 0
    for gamma in data["gammas"]:
        model = cvksvm(
            torch.exp(-gamma * distances),
            y,
            penalties.numel(),
            penalties,
            foldid=torch.tensor(data["folds"] + 1),
            nfolds=FOLDS,
            device="cpu",
            **TORCHKM,
        )
        model.fit()
        wrong = (torch.sign(model.pred) != y[:, None]).double().mean(dim=0)
        least, passes = min(least, wrong.min().item()), passes + int(model.cvnpass.sum())
    return {"error": least, "n_iter": passes}


PEERS = {"svmselect": svmselect, "scikit-learn": sklearn, "liquidSVM": liquidsvm, "TorchKM": torchkm}


def child(peer, path, threads):
    """Time one call, in the process made for it."""
    data = np.load(path)
    data = {name: data[name] for name in data.files}
    if peer != "scikit-learn":
        PEERS[peer](data, threads)  # the first one pays for memory
    wall, cpu = time.perf_counter(), time.process_time()
    result = PEERS[peer](data, threads)
    result |= {"cpu_s": time.process_time() - cpu, "wall_s": time.perf_counter() - wall}
    print(json.dumps(result))


def call(python, peer, data, threads):
    """The result of a child; an error ends the program with what the child said."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, **data)
        cores = sorted(os.sched_getaffinity(0))[:threads]
        finished = subprocess.run(
            [
                *("taskset", "--cpu-list", ",".join(map(str, cores))),
                *(python, __file__, "child", peer, str(path), str(threads)),
            ],
            env=os.environ | dict.fromkeys(THREADS, str(threads)),
            capture_output=True,
            text=True,
            check=False,
        )
    if finished.returncode:
        sys.exit(f"{peer} failed: {finished.stderr.strip().splitlines()[-1]}")
    return json.loads(finished.stdout.strip().splitlines()[-1])


def compare(name, data, pythons, threads, repeats):
    """The rows of one grid: the programs take turns."""
    results = {peer: [] for peer in pythons}
    for _ in range(repeats):
        for peer, python in pythons.items():
            if not results[peer] or results[peer][0]["cpu_s"] < LONG:
                results[peer].append(call(python, peer, data, threads))
    for peer, several in results.items():
        row = {"grid": name, "models": data["Cs"].size * data["gammas"].size, "folds": FOLDS}
        row |= {"rows": data["y"].size, "peer": peer, "threads": threads, "repeats": len(several)}
        for clock in ("cpu_s", "wall_s"):
            row[clock] = f"{statistics.median(result[clock] for result in several):.4g}"
            row[f"{clock}_min"] = f"{min(result[clock] for result in several):.4g}"
        row["error"] = f"{several[0]['error']:.4f}"
        row["n_iter"] = several[0].get("n_iter", "")
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        yield row


def report(rows):
    """Wall-clock seconds of every library on every grid, in Markdown."""
    lines = [
        "| grid | models | library | threads | seconds | over svmselect's on one thread |",
        "|---|---:|---|---:|---:|---:|",
    ]
    ours = {
        r["grid"]: float(r["wall_s"]) for r in rows if r["peer"] == "svmselect" and str(r["threads"]) == "1"
    }
    for row in rows:
        over = f"{float(row['wall_s']) / ours[row['grid']]:.2f}" if row["grid"] in ours else ""
        cells = [row["grid"], row["models"], row["peer"], row["threads"], row["wall_s"], over]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main():
    from csv_rows import write_rows
    from problems import load_problem

    from svmselect import stratified_folds

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problem", default="waveform-1000", metavar="NAME", help="of problems.py, dense")
    parser.add_argument("--grids", nargs="+", choices=GRIDS, default=list(GRIDS), metavar="NAME")
    parser.add_argument("--liquidsvm", metavar="PYTHON", help="an interpreter that has liquidSVM")
    parser.add_argument("--torchkm", metavar="PYTHON", help="an interpreter that has TorchKM")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    problem = load_problem(options.problem)
    data = {"X": problem.X, "y": problem.y, "folds": stratified_folds(problem.y, FOLDS)}
    table = []
    for name in options.grids:
        pythons = {"svmselect": sys.executable, "scikit-learn": sys.executable}
        if GRIDS[name] is not None:
            data["Cs"], data["gammas"] = GRIDS[name][0], GRIDS[name][1] / problem.X.shape[1]
        elif options.liquidsvm is None:
            print("no interpreter with liquidSVM was given: its grid is left out", flush=True)
            continue
        else:
            pythons["liquidSVM"] = options.liquidsvm
            chosen = call(options.liquidsvm, "liquidSVM", data, 1)
            data["Cs"], data["gammas"] = np.array(chosen["Cs"]), np.array(chosen["gammas"])
        if options.torchkm is not None:
            pythons["TorchKM"] = options.torchkm
        for threads in options.threads:
            if threads > 1:
                pythons.pop("scikit-learn", None)  # has one thread
            table.extend(compare(name, data, pythons, threads, options.repeats))
    write_rows(options.output, table, report(table))


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
