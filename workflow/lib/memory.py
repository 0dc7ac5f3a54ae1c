"""The memory that a block takes, and the memory that a job may take."""

import ctypes
import gc
import math
import os
import resource
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
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


def machine_mb(groups=GROUPS, membership=Path("/proc/self/cgroup")):
    """Return the memory of this machine, or of the container or batch job that this process is in, in 2**20
    bytes. The kernel shows its control groups in the folder `groups`; the file `membership` names the group
    of this process."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with suppress(OSError):
        place = groups / membership.read_text().splitlines()[-1].rpartition(":")[2].strip("/")
        for folder in (place, *place.parents):
            with suppress(OSError, ValueError):  # "max" is no limit
                sizes.append(int((folder / "memory.max").read_text()))
    return min(sizes) // 2**20


def limit_memory(mb):
    """Hold this process to so much memory, in 2**20 bytes: an array beyond it is a `MemoryError` at once,
    where the system would kill the job without a word. Linux only; elsewhere nothing is limited.

    What was reserved before but is not used does not count.
    """
    with suppress(OSError):
        sizes = _sizes()
        unused = sizes["VmData"] - sizes["RssAnon"]
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        limit = int(mb) * 2**20 + unused * 2**10
        resource.setrlimit(resource.RLIMIT_DATA, (limit if hard < 0 else min(limit, hard), hard))


def needed_mb(error, budget):
    """Return the memory that a process needs at least after it has met this `MemoryError`, in 2**20 bytes:
    the memory that it holds and the memory that it requested, and more than a `budget` set by `limit_memory`.
    Return None if the system does not tell."""
    try:
        sizes = _sizes()
    except OSError:
        return None
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)  # NumPy's
    requested = 0 if shape is None else math.prod(shape) * dtype.itemsize / 2**20
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if budget is None or limit < 0:
        return sizes["RssAnon"] / 2**10 + requested
    # reserved memory counts, as for the limit
    return max(budget + sizes["VmData"] / 2**10 + requested - limit / 2**20, budget + 1)


def _sizes():
    """Return the sizes of this process in 2**10 bytes."""
    fields = (line.split(":", 1) for line in STATUS.read_text().splitlines())
    return {name: int(value.split()[0]) for name, value in fields if value.endswith(" kB")}
