"""The memory that a block takes."""

from __future__ import annotations

import ctypes
import gc
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Memory", "measured_memory"]

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Memory:
    """What `measured_memory` measured: the most resident memory above that at the beginning, in 2**20 bytes;
    None where the system does not tell."""

    peak_mb: float | None = None


@contextmanager
def measured_memory():
    """Measure the peak memory of a block, from Linux' record of this process.

    Yields
    ------
    Memory
        Filled when the block ends without an exception.
    """
    memory = Memory()
    gc.collect()
    # memory that was freed but kept is resident: its use would not show (glibc only)
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        CLEAR.write_text("5")  # the peak begins anew
        before = _resident()["VmRSS"]
    except OSError:
        yield memory
        return
    yield memory
    memory.peak_mb = (_resident()["VmHWM"] - before) / 2**10


def _resident():
    """Sizes of this process in 2**10 bytes."""
    fields = (line.split(":", 1) for line in STATUS.read_text().splitlines())
    return {name: int(value.split()[0]) for name, value in fields if name in ("VmRSS", "VmHWM")}
