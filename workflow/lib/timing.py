"""The clock around an estimator."""

import platform
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import pooch
from filelock import FileLock


@dataclass
class Timing:
    """The times that `timed` measured: CPU seconds of this process and, in the exclusive mode, wall-clock
    seconds."""

    mode: str
    cpu_s: float | None = None
    wall_s: float | None = None


@contextmanager
def timed(mode):
    """Measure the time of a block; the `Timing` is filled when it ends without an exception.

    The mode ``exclusive`` holds a lock of this user on this machine, so that no two timed blocks run at the
    same time; the time spent waiting is not counted. In the ``shared`` mode wall-clock time would depend on
    the other jobs: it is not taken.
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


def _machine_lock():
    """Return the lock of this user's timed blocks on this machine."""
    folder = pooch.os_cache("svmselect")
    folder.mkdir(parents=True, exist_ok=True)
    # machines may share the folder
    return FileLock(folder / f"timing-{platform.node()}.lock")
