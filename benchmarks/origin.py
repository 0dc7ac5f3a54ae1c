"""Where a measured number comes from: the library's code, the processor, and the kernels that BLAS chose."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

__all__ = [
    "UNKNOWN",
    "columns",
    "core_types",
    "library",
    "missing",
    "of_rows",
    "processor",
    "warn_of_forced_kernels",
]

COLUMNS = ("library", "processor", "blas")
UNKNOWN = "unknown"  # of rows that were measured before their file had the columns


@cache
def library():
    """Return the version of svmselect and the hash of its sources, ``version+hash``."""
    source_hash = (resources.files("svmselect") / "source_hash.txt").read_text()
    return f"{version('svmselect')}+{source_hash[:12]}"


@cache
def processor():
    """Model of this machine's processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def core_types():
    """What the loaded OpenBLAS libraries take the processor for, joined by ``+``."""
    found = {info.get("architecture") for info in threadpool_info() if info["internal_api"] == "openblas"}
    return "+".join(sorted(map(str, found)))


def columns():
    """The three as columns of a row that this process has measured."""
    return dict(zip(COLUMNS, (library(), processor(), core_types()), strict=True))


def missing(row):
    """Which of the three a row has no column of; one that compares libraries has the `version` of its own."""
    return [name for name in COLUMNS if name not in row and not (name == "library" and "version" in row)]


def of_rows(rows):
    """The three as columns of what follows from other rows: theirs, joined by ``+`` where they differ."""
    return {name: "+".join(sorted({row[name] for row in rows})) for name in COLUMNS}


def warn_of_forced_kernels():
    """A line for whoever runs a benchmark whose matrix products are not those that BLAS would choose."""
    forced = os.environ.get("OPENBLAS_CORETYPE")
    if forced:
        print(f"OPENBLAS_CORETYPE is {forced}: matrix products may be slow", file=sys.stderr)
