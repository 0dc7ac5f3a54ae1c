"""Which library the numbers come from."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

__all__ = ["library_id", "sources"]

SUFFIXES = {".py", ".pyx", ".pxd", ".c", ".h"}


def sources(folder):
    """Sources in a folder of the library, not in those below it, that numbers may depend on, as sorted paths.

    The package's own ``__init__.py`` only exports: it is not one of them.

    Parameters
    ----------
    folder : str
        Relative to the working directory.
    """
    return sorted(
        str(path)
        for path in Path(folder).iterdir()
        if path.suffix in SUFFIXES and path.parts[-2:] != ("svmselect", "__init__.py")
    )


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
