"""The clock around an estimator, and the memory that it takes."""

import ctypes
import gc
import platform
import time
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs
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
    folder = platformdirs.user_cache_path("svmselect", ensure_exists=True)
    # machines may share the folder
    return FileLock(folder / f"timing-{platform.node()}.lock")


STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Memory:
    """The memory that `measured_memory` measured: the peak of resident memory above that at the beginning, in
    2**20 bytes; None if the system does not tell."""

    peak_mb: float | None = None


@contextmanager
def measured_memory():
    """Measure the peak memory of a block, from Linux' record of this process. The `Memory` is filled when
    the block ends without an exception."""
    memory = Memory()
    gc.collect()
    gc.freeze()  # what has been imported is not looked through again by every block
    # memory that was freed but kept is resident: its use would not show (glibc only)
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        CLEAR.write_text("5")  # the peak begins anew
        before = _sizes()["VmRSS"]
    except OSError:
        yield memory
        return
    yield memory
    memory.peak_mb = (_sizes()["VmHWM"] - before) / 2**10


def _sizes():
    """Return the sizes of this process in 2**10 bytes."""
    fields = (line.split(":", 1) for line in STATUS.read_text().splitlines())
    return {name: int(value.split()[0]) for name, value in fields if value.endswith(" kB")}
