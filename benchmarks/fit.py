"""One timed fit in a process of its own: ``fit.py <task as JSON> <result.npz>``; run by compare.py."""

from __future__ import annotations

import json
import resource
import sys
import time
from contextlib import contextmanager
from math import ceil

import numpy as np
from origin import core_types
from peers import PEERS
from problems import kernel_of, load_problem

WARM_UP_ROWS = 100  # of each class
SHORT = 0.1  # CPU seconds: a shorter fit is repeated, and the mean is its time
MOST_FITS = 50


class Clock:
    """Context manager that adds up CPU time, of all threads and in the system too, and wall-clock time."""

    def __init__(self):
        self.cpu_s = self.wall_s = 0.0

    def __enter__(self):
        self.start = cpu_now(), time.perf_counter()

    def __exit__(self, *error):
        self.cpu_s += cpu_now() - self.start[0]
        self.wall_s += time.perf_counter() - self.start[1]


def cpu_now():
    # time.process_time is as coarse as the system's tick while a limit on CPU time is set
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def touch_memory(n_bytes):
    """Have this process' heap hold that much memory whose pages the system has supplied.

    compare.py sets malloc to serve large requests from the heap and to keep what is freed, so that the fit
    gets these pages and no peer pays for fresh ones.
    """
    np.ones(n_bytes, dtype=np.uint8)


@contextmanager
def limited(seconds):
    """Let the system end this process, by SIGXCPU, if the block uses more CPU seconds."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time() + seconds), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CPU, before)


def run(task):
    """Fit what a task says; returns the arrays to save."""
    problem = load_problem(task["problem"])
    m, d = problem.X.shape
    options = {
        "kernel": kernel_of(task["kernel"], d),
        "C": task["C"],
        "tol": task["tol"],
        "threads": task["threads"],
        "memory_mb": task["memory_mb"],
    }
    make = PEERS[task["peer"]]
    if task.get("cold"):
        return run_cold(task, make(problem.X, problem.y, **options))
    # the first fit of a process loads code and starts threads; a small C keeps it short
    few = np.sort(np.concatenate([np.flatnonzero(problem.y == label)[:WARM_UP_ROWS] for label in (-1, 1)]))
    make(problem.X[few], problem.y[few], **{**options, "C": 0.01}).fit(Clock())
    touch_memory(min(task["memory_mb"] * 2**20, 8 * m * m))
    peer, clock = make(problem.X, problem.y, **options), Clock()
    with limited(task["limit_s"] * task["threads"]):
        peer.fit(clock)
    model = peer.result()
    n_iter = -1 if model.n_iter is None else model.n_iter
    fits = 1
    while clock.cpu_s < SHORT and fits < MOST_FITS:
        peer.fit(clock)
        fits += 1
    times = {"cpu_s": clock.cpu_s / fits, "wall_s": clock.wall_s / fits}
    return {**times, "alpha": model.alpha, "b": model.b, "n_iter": n_iter, "blas": core_types()}


def run_cold(task, peer):
    """The first fit of the process: no warm-up, and memory that the system has not supplied before."""
    before, clock = peak_mb(), Clock()
    with limited(task["limit_s"] * task["threads"]):
        peer.fit(clock)
    after, model = peak_mb(), peer.result()
    times = {"cpu_s": clock.cpu_s, "wall_s": clock.wall_s, "peak_mb": after, "peak_before_mb": before}
    return {**times, "alpha": model.alpha, "b": model.b, "blas": core_types()}


def peak_mb():
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    np.savez(sys.argv[2], **run(json.loads(sys.argv[1])))
