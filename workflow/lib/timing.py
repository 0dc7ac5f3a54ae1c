"""The clock around an estimator."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Timing", "timed"]


@dataclass
class Timing:
    """What `timed` measured: CPU seconds of this process and, in the exclusive mode, wall-clock seconds."""

    mode: str
    cpu_s: float | None = None
    wall_s: float | None = None


@contextmanager
def timed(mode):
    """Measure the time of a block.

    Parameters
    ----------
    mode : {"shared", "exclusive"}
        ``exclusive`` holds a lock of this user on this machine, so that no two timed blocks run at the same
        time; the time spent waiting is not counted. In the ``shared`` mode wall-clock time would depend on
        the other jobs: it is not taken.

    Yields
    ------
    Timing
        Filled when the block ends without an exception.
    """
    if mode not in ("shared", "exclusive"):
        raise ValueError(f"timing must be 'shared' or 'exclusive', got {mode!r}")
    timing = Timing(mode)
    with _machine_lock() if mode == "exclusive" else nullcontext():
        wall, cpu = time.perf_counter(), time.process_time()
        yield timing
        # microseconds: further digits are noise, and rows are kept
        timing.cpu_s = round(time.process_time() - cpu, 6)
        if mode == "exclusive":
            timing.wall_s = round(time.perf_counter() - wall, 6)


@contextmanager
def _machine_lock():
    with open(Path(tempfile.gettempdir()) / f"svmselect-timing-{os.getuid()}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
