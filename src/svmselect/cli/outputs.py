"""The options that name files to write: each is a file of its own, and none that the command reads."""

from __future__ import annotations

from pathlib import Path

__all__ = ["check_outputs"]

READ = {"file": "the file that is read", "model": "the model that is read"}
WRITTEN = ("save", "output", "report", "plot")


def check_outputs(arguments):
    """A ValueError, before anything is read, for a file that would be lost, or a path that is no file."""
    given = vars(arguments)
    taken = {Path(given[name]).resolve(): role for name, role in READ.items() if given.get(name, "-") != "-"}
    for name in WRITTEN:
        path = given.get(name)
        if path is None:
            continue
        if Path(path).exists() and not Path(path).is_file():
            kind = "folder" if Path(path).is_dir() else "device"
            raise ValueError(f"--{name} {path}: is a {kind}, not a file")
        place = Path(path).resolve()
        if place in taken:
            raise ValueError(f"--{name} {path}: would be written over {taken[place]}")
        taken[place] = f"what --{name} writes"
