"""The memory that a block takes."""

import ctypes
import gc
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

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
