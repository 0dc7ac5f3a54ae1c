"""k folds of single models, against scikit-learn and LIBSVM: results/cross_validation.csv and .md.

python benchmarks/cross_validation.py
python benchmarks/cross_validation.py --problems twonorm-50 heart --widths 1 --C 1

Problems from 50 rows on, features standardised (a9a: as they are), and kernels from wide to narrow: gamma is
a multiple of 1/d. scikit-learn has one job and two, svmselect one thread and two, and both have the same
folds. LIBSVM is the program svm-train with -v (Debian: libsvm-tools), which draws folds of its own and reads
the rows from a file. Where it is not installed, it is left out. What the CSV file has already of the present
versions is not measured again.
"""

from __future__ import annotations

import argparse
import math
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import origin
from csv_rows import read_rows, write_rows
from folds import standardised
from problems import load_problem, make_data
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram, cross_validate, stratified_folds

RESULTS = Path(__file__).resolve().parent / "results" / "cross_validation.csv"
PROBLEMS = ["twonorm-50", "heart", "german", "image", "waveform-2000", "a9a-5000"]
WIDTHS = (1 / 16, 1, 16)
CS = (1, 100)
FOLDS = 10
TOL = 1e-3
MEMORY_MB = 2048
LONG = 2  # seconds: a longer run is not repeated
SHORT = 0.1  # seconds: shorter runs are repeated and counted together
KEY = ("problem", "C", "gamma_d", "peer", "threads")
OURS, SKLEARN, LIBSVM = "svmselect", "scikit-learn", "LIBSVM -v"


def ours(X, y, C, gamma, folds, threads, path):
    """Misclassified held-out rows; kernel values are computed here."""
    gram = Gram(X, RBF(gamma), memory_mb=MEMORY_MB)
    return int(np.count_nonzero((cross_validate(gram, y, C, folds, tol=TOL).decision >= 0) != (y > 0)))


def sklearn(X, y, C, gamma, folds, threads, path):
    model = SVC(C=C, gamma=gamma, tol=TOL, cache_size=MEMORY_MB)
    predicted = cross_val_predict(model, X, y, cv=PredefinedSplit(folds), n_jobs=threads)
    return int(np.count_nonzero(predicted != y))


def libsvm(X, y, C, gamma, folds, threads, path):
    options = ["-q", "-t", 2, "-c", C, "-g", repr(gamma), "-e", TOL, "-m", MEMORY_MB, "-v", folds.max() + 1]
    command = ["svm-train", *map(str, options), str(path)]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    right = re.search(r"Cross Validation Accuracy = ([0-9.]+)%", finished.stdout)
    return round(y.size * (1 - float(right[1]) / 100))


# each with the numbers of threads that it may have
PEERS = {OURS: (ours, (1, 2)), SKLEARN: (sklearn, (1, 2)), LIBSVM: (libsvm, (1,))}


def version_of(peer):
    """The version of a peer, of LIBSVM that of its package; None where it is not installed."""
    if peer != LIBSVM:
        return origin.library() if peer == OURS else version("scikit-learn")
    if shutil.which("svm-train") is None:
        return None
    if shutil.which("dpkg-query") is None:
        return origin.UNKNOWN
    query = ["dpkg-query", "--show", "--showformat=${Version}", "libsvm-tools"]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout or origin.UNKNOWN


def cpu_seconds():
    """CPU time of this process and of those that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def clocked(run, times):
    """Wall-clock and CPU seconds of a call, the mean over some, and what it returns."""
    cpu, begin = cpu_seconds(), time.perf_counter()
    for _ in range(times):
        errors = run()
    return (time.perf_counter() - begin) / times, (cpu_seconds() - cpu) / times, errors


def measure(run, threads, repeats):
    """The same of several measurements, after a call that loads code and starts threads or jobs."""
    with threadpool_limits(threads):
        run()
        found = [clocked(run, 1)]
        if found[0][0] > LONG:
            return found
        return [clocked(run, math.ceil(SHORT / found[0][0])) for _ in range(repeats)]


def rows_of(name, C, width, peers, options, done):
    """The rows of one model that are missing; the peers take turns."""
    problem = load_problem(name)
    X, y = standardised(problem.X), problem.y
    gamma, folds = width / X.shape[1], stratified_folds(y, options.folds)
    model = {"problem": name, "rows": y.size, "features": X.shape[1], "C": f"{C:g}", "gamma_d": f"{width:g}"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.libsvm"
        dump_svmlight_file(X, y, str(path), zero_based=False)
        for peer, found in peers.items():
            for threads in PEERS[peer][1]:
                row = model | {"folds": options.folds, "peer": peer, "threads": threads, "version": found}
                if done.get(tuple(str(row[name]) for name in KEY)) == found:
                    continue
                run = partial(PEERS[peer][0], X, y, C, gamma, folds, threads, path)
                wall, cpu, errors = zip(*measure(run, threads, options.repeats), strict=True)
                row |= {"repeats": len(wall), "wall_s": f"{statistics.median(wall):.4g}"}
                # the CPU time of joblib's processes is not this one's
                row["cpu_s"] = f"{statistics.median(cpu):.4g}" if threads == 1 else ""
                yield row | {"errors": errors[0]}


def report(rows):
    """Seconds of every peer and the ratios to ours, in Markdown: below 1 we are slower."""
    lines = [
        f"# {FOLDS}-fold cross-validation of single models",
        "",
        "CPU seconds on one thread, wall-clock seconds on two, kernel values included. Ratios are a peer's",
        "time over that of svmselect with as many threads: below 1, svmselect is slower. LIBSVM reads its",
        "rows from a file.",
        "",
        "| problem | rows | C | gamma d | svmselect | scikit-learn | LIBSVM -v | svmselect, 2 "
        "| scikit-learn, 2 jobs | scikit-learn / ours | LIBSVM / ours | 2 jobs / 2 threads |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    cases, ratios = {}, ([], [], [])
    for row in rows:
        seconds = float(row["cpu_s"] if str(row["threads"]) == "1" else row["wall_s"])
        case = cases.setdefault((row["problem"], row["rows"], row["C"], row["gamma_d"]), {})
        case[row["peer"], str(row["threads"])] = seconds
    columns = [(OURS, "1"), (SKLEARN, "1"), (LIBSVM, "1"), (OURS, "2"), (SKLEARN, "2")]
    for case, seconds in cases.items():
        cells = [f"{seconds[column]:.3g}" if column in seconds else "" for column in columns]
        for kept, (peer, threads) in zip(ratios, (columns[1], columns[2], columns[4]), strict=True):
            known = (peer, threads) in seconds and (OURS, threads) in seconds
            kept += [seconds[peer, threads] / seconds[OURS, threads]] if known else []
            cells.append(f"{kept[-1]:.2g}" if known else "")
        lines.append(f"| {' | '.join(map(str, (*case, *cells)))} |")
    means = [f"{statistics.geometric_mean(kept):.2g}" if kept else "" for kept in ratios]
    least = [f"{min(kept):.2g}" if kept else "" for kept in ratios]
    lines += [f"| geometric mean | | | | | | | | | {' | '.join(means)} |"]
    lines += [f"| least | | | | | | | | | {' | '.join(least)} |"]
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument("--widths", nargs="+", type=float, default=WIDTHS, metavar="F", help="gamma times d")
    parser.add_argument("--C", nargs="+", type=float, default=CS, metavar="C")
    parser.add_argument("--folds", type=int, default=FOLDS, metavar="K")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    peers = {peer: version_of(peer) for peer in PEERS}
    if peers[LIBSVM] is None:
        print("svm-train is not installed (Debian: libsvm-tools): going on without LIBSVM -v", flush=True)
        del peers[LIBSVM]
    rows = {tuple(row[name] for name in KEY): row for row in read_rows(options.output)}
    done = {key: row["version"] for key, row in rows.items()}
    for name in options.problems:
        make_data(name)
        for C in options.C:
            for width in options.widths:
                for row in rows_of(name, C, width, peers, options, done):
                    rows[tuple(str(row[name]) for name in KEY)] = row
                    write_rows(options.output, list(rows.values()), report(rows.values()))
                    print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)


if __name__ == "__main__":
    main()
