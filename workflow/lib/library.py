"""The installed library: its version and the hash of the sources that it was built from."""

import runpy
from importlib import metadata, resources
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
DIGITS = 12


def library_id():
    """Return the installed library's version and the first digits of the hash of its sources, as one string
    ``version+hash``."""
    return f"{metadata.version('svmselect')}+{_installed_hash()[:DIGITS]}"


def check_installed(project=PROJECT):
    """Check that the installed library was built from the sources of this checkout, byte for byte; a
    `ValueError` is raised if not."""
    program = runpy.run_path(str(project / "src/source_hash.py"))
    if program["source_hash"](project) != _installed_hash():
        raise ValueError(
            f"The installed svmselect was not built from the sources in {project / 'src'}: "
            "run `make env` first."
        )


def _installed_hash():
    return (resources.files("svmselect") / "source_hash.txt").read_text().strip()
