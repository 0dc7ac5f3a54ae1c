"""Which library the numbers come from."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

__all__ = ["library_id"]


def library_id(sources):
    """Version of svmselect and digest of the given source files, as one string ``version+digest``.

    Parameters
    ----------
    sources : iterable of path-like
        The files that a rule lists as the ones its numbers depend on.
    """
    digest = hashlib.sha256()
    for path in sorted(map(str, sources)):
        digest.update(Path(path).read_bytes())
    try:
        version = metadata.version("svmselect")
    except metadata.PackageNotFoundError:
        version = "not-installed"
    return f"{version}+{digest.hexdigest()[:12]}"
