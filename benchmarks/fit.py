"""One timed fit in a process of its own: ``fit.py <task as JSON> <result.npz>``; run by compare.py."""

from __future__ import annotations

import json
import resource
import sys
import time
from contextlib import contextmanager
from math import ceil

import numpy as np
from peers import PEERS
from problems import kernel_of, load_problem

WARM_UP_ROWS = 100  # of each class


class Clock:
    """Context manager that takes the CPU time of all threads, and wall-clock time."""

    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def __exit__(self, *error):
        self.cpu_s = time.process_time() - self.cpu
        self.wall_s = time.perf_counter() - self.wall


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
    # the first fit of a process loads code and starts threads
    few = np.sort(np.concatenate([np.flatnonzero(problem.y == label)[:WARM_UP_ROWS] for label in (-1, 1)]))
    make(problem.X[few], problem.y[few], **options).fit(Clock())
    touch_memory(min(task["memory_mb"] * 2**20, 8 * m * m))
    peer, clock = make(problem.X, problem.y, **options), Clock()
    with limited(task["limit_s"] * task["threads"]):
        peer.fit(clock)
    model = peer.result()
    n_iter = -1 if model.n_iter is None else model.n_iter
    return {
        "cpu_s": clock.cpu_s,
        "wall_s": clock.wall_s,
        "alpha": model.alpha,
        "b": model.b,
        "n_iter": n_iter,
    }


if __name__ == "__main__":
    np.savez(sys.argv[2], **run(json.loads(sys.argv[1])))
