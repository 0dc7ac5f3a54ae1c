"""What a change of the library costs or saves: CPU time of fits, steps of SMO and leave-one-out by two builds
in turn, build/builds.csv.

Install the two builds into folders of their own, from two checkouts of the repository, then name the folders:

python -m pip install --no-deps --no-build-isolation --target build/before ../before
python benchmarks/builds.py build/before build/after
python benchmarks/builds.py build/before build/after --tasks steps --problems waveform-1000 --output steps.csv
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from problems import KERNELS, kernel_of, load_problem, make_data

OUTPUT = Path("build/builds.csv")
PROBLEMS = ("heart", "german", "image", "splice", "ringnorm-1000", "waveform-1000", "a9a-5000")
LOO_ROWS = 2500  # leave-one-out of larger problems takes minutes
C = 10.0
SECONDS = 0.3  # at least, for one time
STEPS = 2000  # too few to end


def tasks(problem, kernel):
    """What is timed, by name: callables of no arguments, and how each gets ready."""
    from svmselect import Gram, leave_one_out, solve_csvc
    from svmselect.gram import matrix_mb

    def empty():
        return Gram(problem.X, kernel)

    def computed():
        return Gram(problem.X, kernel).compute()

    def float32():
        return Gram(problem.X, kernel, "float32", memory_mb=matrix_mb(problem.y.size, "float32")).compute()

    def steps(gram):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solve_csvc(gram, problem.y, C, tol=1e-9, active_set=False, max_iter=STEPS)

    yield f"{STEPS} steps of SMO, float32 matrix computed", float32, steps
    yield "fit, lazily", empty, lambda gram: solve_csvc(gram, problem.y, C)
    yield "fit, matrix computed", computed, lambda gram: solve_csvc(gram, problem.y, C)
    if problem.y.size <= LOO_ROWS:
        for method in ("unlearn", "certified"):
            yield (
                f"leave-one-out, {method}",
                computed,
                lambda gram, method=method: leave_one_out(gram, problem.y, C, method=method),
            )


def seconds(make, task):
    """Least CPU time of one call, among as many as fill `SECONDS`."""
    least, spent = np.inf, 0.0
    while spent < SECONDS:
        gram = make()
        begin = time.process_time()
        task(gram)
        least = min(least, time.process_time() - begin)
        spent += time.process_time() - begin
    return least


def times(name, wanted):
    """CPU seconds of some tasks on one problem, by kernel and task, as this process' library takes them."""
    problem = load_problem(name)
    return {
        f"{kernel}|{task}": seconds(make, run)
        for kernel in KERNELS
        for task, make, run in tasks(problem, kernel_of(kernel, problem.X.shape[1]))
        if any(words in task for words in wanted)
    }


def by_build(folder, name, wanted):
    """The times of one problem, by a build in a process of its own."""
    command = [sys.executable, __file__, "--only", name, "--tasks", *wanted]
    out = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(folder)}, check=True, stdout=subprocess.PIPE, text=True
    )
    return json.loads(out.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="*", type=Path, help="two folders with an installed svmselect each")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=[""],
        metavar="WORDS",
        help="what the names of tasks contain; all by default, of which an old build may lack some",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="CSV")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(times(arguments.only, arguments.tasks)))
        return
    if len(arguments.builds) != 2:
        parser.error("name two builds")
    folders = [folder.resolve() for folder in arguments.builds]
    for folder in folders:
        if not (folder / "svmselect").is_dir():
            parser.error(f"no library is installed in {folder}")
    # not above: it asks the library for its digest, which an old build has not
    from csv_rows import write_rows

    rows = []
    for name in arguments.problems:
        make_data(name)
        rounds = [
            [by_build(folder, name, arguments.tasks) for folder in folders] for _ in range(arguments.rounds)
        ]
        for key in rounds[0][0]:
            before, after = (np.array([pair[k][key] for pair in rounds]) for k in range(2))
            kernel, task = key.split("|")
            rows.append(
                {
                    "problem": name,
                    "kernel": kernel,
                    "task": task,
                    "before_cpu_s": np.median(before),
                    "after_cpu_s": np.median(after),
                    "ratio": np.median(after / before),
                    "least_ratio": (after / before).min(),
                    "largest_ratio": (after / before).max(),
                }
            )
            print(f"{name:15} {kernel:7} {task:26} {rows[-1]['ratio']:.3f}", flush=True)
    write_rows(arguments.output, rows)
    for task in dict.fromkeys(row["task"] for row in rows):
        ratios = [row["ratio"] for row in rows if row["task"] == task]
        print(f"{task}: median {np.median(ratios):.3f} of {len(ratios)}, largest {max(ratios):.3f}")


if __name__ == "__main__":
    main()
