"""Train the same SVMs with svmselect and its peers, in turn, and write what each cost and how good it is.

    python benchmarks/compare.py                    # everything, on one thread, then on two: hours
    python benchmarks/compare.py --quick            # problems of at most 5,000 rows: minutes
    python benchmarks/compare.py --problems german a9a-5000 --peers svmselect LIBSVM --threads 1

Each fit has a process of its own. README.md explains the columns.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import lru_cache
from itertools import product
from pathlib import Path
from signal import SIGKILL, SIGTERM, SIGXCPU, signal

import csv_rows
import numpy as np
from origin import UNKNOWN, library, processor
from peers import PEERS, version_of
from problems import KERNELS, PROBLEMS, SET_ASIDE, SLOW_LINEAR, kernel_of, load_problem, make_data
from quality import assess, disagreement

OURS = "svmselect"
HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "compare.csv"
QUICK = [name for name in PROBLEMS if name in ("german", "image") or name.endswith("-5000")]
KEY = ("problem", "kernel", "C", "tol", "peer", "threads")
TIMES = [f"{kind}_{part}" for kind in ("cpu_s", "wall_s") for part in ("median", "min", "max")]
COLUMNS = [
    *KEY,
    *("version", "rows", "features", "status", "limit_s", "repeats"),
    *TIMES,
    *("n_iter", "n_sv", "objective", "kkt_gap", "violation", "train_accuracy", "test_accuracy", "disagrees"),
    *("processor", "blas"),
]
LONG = 20  # CPU seconds: a longer fit is not repeated
CLEAR = 2  # times as long as svmselect: a peer that takes longer is not fitted again
MOST_ROWS = {"ThunderSVM": 5_000}  # of the problems that a peer gets by default
OK, OVER = "ok", "over the limit"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--problems",
        nargs="+",
        metavar="NAME",
        help=f"of {', '.join([*PROBLEMS, *SET_ASIDE])}; all by default",
    )
    parser.add_argument("--peers", nargs="+", choices=PEERS, metavar="NAME", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS)
    parser.add_argument("--C", nargs="+", type=float, default=[1.0, 100.0])
    parser.add_argument("--threads", nargs="+", type=int, default=[1])
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument(
        "--limit", type=int, default=600, metavar="S", help="CPU seconds a fit may take per thread"
    )
    parser.add_argument("--memory", type=int, default=4096, metavar="MB", help="budget for kernel values")
    parser.add_argument(
        "--repeats", type=int, default=3, metavar="N", help=f"fits of a row, 1 beyond {LONG} s"
    )
    parser.add_argument("--quick", action="store_true", help=f"only {', '.join(QUICK)}")
    parser.add_argument("--force", action="store_true", help="measure again what the file has")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    if options.problems is None:
        options.problems = QUICK if options.quick else [*PROBLEMS, *SET_ASIDE]
    elif options.quick:
        parser.error("give --problems or --quick, not both")
    if options.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {options.repeats}")
    cores = len(os.sched_getaffinity(0))
    if not all(1 <= threads <= cores for threads in options.threads):
        parser.error(f"--threads must be from 1 to the {cores} cores of this process, got {options.threads}")
    return options


def identity_of(peer):
    """Version of a peer, that of svmselect with the digest of its code; None if it is not installed."""
    version = version_of(peer)
    return library() if peer == OURS and version is not None else version


def present(asked, default=PEERS):
    """The peers to compare, with their versions; a missing one is an error only if it was asked for."""
    versions = {peer: identity_of(peer) for peer in asked or default}
    for peer, version in versions.items():
        if version is None:
            line = f"{peer} is not installed (package {PEERS[peer].distribution})"
            if asked:
                sys.exit(line)
            print(f"{line}: going on without it")
    return {peer: version for peer, version in versions.items() if version is not None}


def read_rows(path):
    """Rows of the CSV file by key, numbers as numbers."""
    rows = csv_rows.read_rows(path)
    if rows and list(rows[0]) != COLUMNS:
        sys.exit(f"{path} has other columns than this program writes: move it away")
    rows = [{name: parsed(name, text) for name, text in row.items()} for row in rows]
    return {tuple(row[name] for name in KEY): row for row in rows}


def parsed(column, text):
    if column in ("problem", "kernel", "peer", "version", "status", "disagrees", "processor", "blas"):
        return text
    if column in ("threads", "rows", "features", "limit_s", "repeats", "n_iter", "n_sv"):
        return int(text) if text else None
    return float(text) if text else None


def write_rows(path, rows):
    """Write the CSV file."""
    csv_rows.write_rows(
        path,
        [
            {name: f"{row[name]:.9g}" if isinstance(row[name], float) else row[name] for name in COLUMNS}
            for row in rows.values()
        ],
    )


def is_done(row, version, limit_s):
    """Return whether a row need not be measured again: version and processor are these, and the fit ended."""
    if row is None or (row["version"], row["processor"]) != (version, processor()):
        return False
    return row["status"] == OK or (row["status"] == OVER and row["limit_s"] >= limit_s)


def environment(threads, cold=False):
    """Environment of a fit: its number of threads, kernels of BLAS that BLAS chooses, and, unless it is to be
    cold, a heap that keeps its memory (fit.touch_memory)."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    forced = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    own = {name: value for name, value in os.environ.items() if name not in forced}
    heap = (
        {}
        if cold
        else {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**62), "MALLOC_ARENA_MAX": "1"}
    )
    return {**own, **dict.fromkeys(names, str(threads)), **({} if cold else heap)}


def run_fit(task):
    """One fit in a process of its own, on the first cores.

    Returns
    -------
    status : str
        "ok", "over the limit", or "error: " and the last line that the process wrote.
    result : dict or None
        What fit.run returns.
    """
    cores = set(sorted(os.sched_getaffinity(0))[: task["threads"]])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.npz"
        process = subprocess.Popen(
            [sys.executable, HERE / "fit.py", json.dumps(task), out],
            env=environment(task["threads"], task.get("cold", False)),
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            # the limit is on CPU time; this is for a process that hangs
            errors = process.communicate(timeout=300 + 10 * task["limit_s"])[1]
        except subprocess.TimeoutExpired:
            return OVER, None
        finally:
            process.kill()
            process.wait()
        if process.returncode == 0:
            with np.load(out) as arrays:
                result = {name: arrays[name] for name in arrays.files}
            if np.isfinite(result["alpha"]).all() and result["alpha"].any():
                return OK, result
            return "error: the alphas are all zero or not finite", None
    if process.returncode == -SIGXCPU:
        return OVER, None
    if process.returncode < 0:
        memory = " (out of memory?)" if process.returncode == -SIGKILL else ""
        return f"error: ended by signal {-process.returncode}{memory}", None
    return f"error: {(errors.strip().splitlines() or ['no message'])[-1]}", None


class Measurement:
    """The fits of one peer on one problem, and their row."""

    def __init__(self, task, version, shape, most_repeats):
        self.task, self.most_repeats = task, most_repeats
        self.row = {name: task[name] for name in (*KEY, "limit_s")}
        self.row |= {
            "version": version,
            "rows": shape[0],
            "features": shape[1],
            "status": None,
            "disagrees": "",
            "processor": processor(),
            "blas": UNKNOWN,
        }
        self.times = []

    @property
    def finished(self):
        return self.row["status"] is not None

    def fit_once(self, repeated_s):
        """Run one fit; the first is assessed. The row is finished after the first if that took more than
        `repeated_s` CPU seconds, else after the last wanted one."""
        status, result = run_fit(self.task)
        if status != OK:
            self.row |= {"status": status, "repeats": len(self.times)}
            return
        self.times.append((float(result["cpu_s"]), float(result["wall_s"])))
        if len(self.times) == 1:
            self.repeats = self.most_repeats if self.times[0][0] <= repeated_s else 1
            self._assess(result)
        if len(self.times) == self.repeats:
            self.row |= {"status": OK, "repeats": len(self.times)}
            parts = (statistics.median, min, max)
            values = [part(times) for times in zip(*self.times, strict=True) for part in parts]
            self.row |= dict(zip(TIMES, values, strict=True))

    def _assess(self, result):
        alpha, n_iter = result["alpha"], int(result["n_iter"])
        self.row |= {"n_iter": n_iter if n_iter >= 0 else None, "n_sv": int(np.count_nonzero(alpha))}
        self.row["blas"] = str(result["blas"])
        problem = cached_problem(self.task["problem"])
        kernel = kernel_of(self.task["kernel"], problem.X.shape[1])
        self.row |= assess(problem, kernel, self.task["C"], alpha, float(result["b"]))._asdict()


@lru_cache(maxsize=1)
def cached_problem(name):
    return load_problem(name)


def measure(case, versions, options, rows):
    """All that is missing of one problem, kernel, C and number of threads; peers take turns."""
    problem, kernel, C, threads = case
    common = {"problem": problem, "kernel": kernel, "C": C, "threads": threads, "tol": options.tol}
    common |= {"limit_s": options.limit, "memory_mb": options.memory}
    todo = []
    shape = cached_problem(problem).X.shape
    for peer, version in versions.items():
        task = {**common, "peer": peer}
        if not options.peers and not is_affordable(task, shape[0]):
            continue
        row = rows.get(tuple(task[name] for name in KEY))
        if options.force or not is_done(row, version, options.limit):
            todo.append(Measurement(task, version, shape, options.repeats))
    turn, repeated_s = 0, LONG
    while left := [measurement for measurement in todo if not measurement.finished]:
        for measurement in left[turn % len(left) :] + left[: turn % len(left)]:
            measurement.fit_once(repeated_s)
            if measurement.task["peer"] == OURS and measurement.times:
                repeated_s = min(LONG, CLEAR * measurement.times[0][0])
            if measurement.finished:
                rows[tuple(measurement.row[name] for name in KEY)] = measurement.row
                compare(common, rows)
                write_rows(options.output, rows)
                tell(measurement.row)
        turn += 1
    for line in compare(common, rows):
        print(f"  DISAGREES: {line}", flush=True)


def is_affordable(task, rows):
    """Return whether a fit is measured by default."""
    slow = task["kernel"] == "linear" and task["C"] >= 100 and task["problem"] in SLOW_LINEAR
    return task["peer"] == OURS or not (slow or rows > MOST_ROWS.get(task["peer"], rows))


def compare(common, rows):
    """Mark the rows of one problem, kernel, C and tol whose solutions disagree; returns a line on each."""
    names = ("problem", "kernel", "C", "tol")
    same = [row for row in rows.values() if all(row[name] == common[name] for name in names)]
    same = [row for row in same if row["status"] == OK]
    for row, wrong in zip(same, disagreement(same, common["tol"]), strict=True):
        row["disagrees"] = wrong
    return [
        f"{row['peer']}, {row['threads']} thread(s): {row['disagrees']}" for row in same if row["disagrees"]
    ]


def tell(row):
    cost = row["status"]
    if cost == OK:
        cost = f"{row['cpu_s_median']:.3g} s CPU, {row['wall_s_median']:.3g} s wall, {row['repeats']} fits"
    print(f"  {row['peer']}: {cost}", flush=True)


def main():
    options = arguments()
    signal(SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # takes the fit's process along
    versions = present(options.peers)
    rows = read_rows(options.output)
    for name in options.problems:
        make_data(name)
    cases = list(product(options.problems, options.kernels, options.C, options.threads))
    for number, case in enumerate(cases, 1):
        problem, kernel, C, threads = case
        print(f"[{number}/{len(cases)}] {problem}, {kernel}, C = {C:g}, {threads} thread(s)", flush=True)
        measure(case, versions, options, rows)
    print(f"{len(rows)} rows in {options.output}")


if __name__ == "__main__":
    main()
