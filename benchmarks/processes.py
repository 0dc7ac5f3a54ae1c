"""Whole processes, with what they start and the memory that they take: results/processes.csv and .md.

python benchmarks/processes.py
python benchmarks/processes.py --cases command

Each call is made in three fresh processes, and the median counts. Seconds of a command are those on the wall,
from start to end; all others are CPU seconds of the call alone, on one thread. `growth_mb` is by how much the
call raised the peak of its process. What the CSV file has already is measured again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import origin
from csv_rows import read_rows, write_rows
from problems import KERNELS, ROOT, load_problem, make_data
from threadpoolctl import threadpool_limits

RESULTS = Path(__file__).resolve().parent / "results" / "processes.csv"
REPEATS = 3
ROWS = 1_000  # of the table that commands read
OURS = "svmselect"
LIBRARIES = (OURS, "scikit-learn", "scikit-learn-intelex", "scikit-learn-intelex float32")
NUMBERS = ("seconds", "growth_mb", "peak_mb")


def command_of(name):
    """One command on 1,000 rows in a CSV file: seconds on the wall, and the peak of the process."""
    data = load_problem("waveform-5000")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "rows.csv"
        columns = ",".join([*(f"x{j}" for j in range(data.X.shape[1])), "class"])
        rows = np.column_stack([data.X[:ROWS], data.y[:ROWS]])
        np.savetxt(table, rows, delimiter=",", header=columns, comments="", fmt="%.6g")
        arguments = {"loo": [], "train": ["--save", str(Path(folder) / "model.json")]}[name]
        program = [sys.executable, "-m", "svmselect.cli", name, str(table), *arguments, "--quiet"]
        begin = time.perf_counter()
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return seconds, None, peak


def measured(call):
    """CPU seconds of a call, by how many megabytes it raised the peak of this process, and that peak."""

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    before, begin = peak(), time.process_time()
    with threadpool_limits(1):
        call()
    return time.process_time() - begin, peak() - before, peak()


def linear_fit():
    """A fit of 9,500 generated rows with a linear kernel, kernel values included."""
    from svmselect import Gram, Linear, solve_csvc

    data = load_problem("mixture-20-9500")
    return measured(lambda: solve_csvc(Gram(data.X, Linear()), data.y, 1.0))


def left_out(kernel):
    """Exact leave-one-out of 10,000 rows, kernel values included."""
    from svmselect import RBF, Gram, Linear, leave_one_out

    data = load_problem("waveform-10000")
    kernel = Linear() if kernel == "linear" else RBF(1 / data.X.shape[1])
    return measured(lambda: leave_one_out(Gram(data.X, kernel), data.y, 1.0))


def ten_classes(library):
    """A fit of the ten digits of usps, one against one, with C = 10 and everything else by default."""
    if library == "svmselect":
        from svmselect.sklearn import SVC
    elif library == "scikit-learn":
        from sklearn.svm import SVC
    else:
        from sklearnex.svm import SVC
    (path,) = (ROOT / "resources" / "raw" / "usps").glob("**/zip.train*")
    digits = np.loadtxt(path)
    X = digits[:, 1:].astype(np.float32 if library.endswith("float32") else np.float64)
    return measured(lambda: SVC(C=10.0).fit(X, digits[:, 0]))


# what is measured, by whom, and how
CALLS = [
    *(
        ("command", f"svmselect {name}, 1,000 rows", OURS, partial(command_of, name))
        for name in ("loo", "train")
    ),
    ("fit", "9,500 rows, linear, C = 1", OURS, linear_fit),
    *(
        ("leave-one-out", f"10,000 rows, {kernel}, C = 1", OURS, partial(left_out, kernel))
        for kernel in KERNELS
    ),
    *(
        ("ten classes", "usps, 7,291 rows, C = 10", library, partial(ten_classes, library))
        for library in LIBRARIES
    ),
]


def in_process(call):
    """What a call returns in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(call)


def report(rows):
    lines = ["| what | case | program | seconds | growth, MB | peak, MB |", "|---|---|---|---:|---:|---:|"]
    for row in rows:
        numbers = (f"{float(row[name]):.3g}" if row[name] else "" for name in NUMBERS)
        lines.append("| " + " | ".join([row["what"], row["case"], row["program"], *numbers]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    whats = sorted({what for what, *_ in CALLS})
    parser.add_argument("--cases", nargs="+", choices=whats, default=whats, metavar="NAME")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    make_data("usps")
    rows = {(row["what"], row["case"], row["program"]): row for row in read_rows(options.output)}
    for what, case, program, call in CALLS:
        if what not in options.cases:
            continue
        if program.startswith("scikit-learn-intelex") and not find_spec("sklearnex"):
            print(f"{program} is not installed: going on without it", file=sys.stderr)
            continue
        results = [in_process(call) for _ in range(REPEATS)]
        row = {"what": what, "case": case, "program": program, "repeats": REPEATS}
        for name, values in zip(NUMBERS, zip(*results, strict=True), strict=True):
            row[name] = "" if values[0] is None else f"{statistics.median(values):.4g}"
        rows[what, case, program] = row
        write_rows(options.output, list(rows.values()), report(rows.values()))
        print(*row.values(), sep=", ", flush=True)


if __name__ == "__main__":
    main()
