"""The code that numbers come from: the workflow as it stands, and the installed library."""

from functools import cache
from importlib import metadata
from pathlib import Path

from svmselect.digest import Code, difference

WORKFLOW = Path(__file__).resolve().parents[1]


def code_of(*modules):
    """Return the code that a kind of job runs, as a parameter of its rule: the job is run again when it
    changes.

    `modules` are names below the folder ``workflow``, such as ``papers.franc2008.cells``. What they import is
    found from there, in the workflow's sources and in the installed library; the ``digest`` beside them is of
    all this code.
    """
    return {"modules": list(modules), "digest": _digest(modules)}


def library_id(code):
    """Return the version of svmselect and the digest of the code that this job runs, as one string
    ``version+digest``. `code` is from `code_of`, when the job was planned; if the code has changed since, a
    `RuntimeError` is raised."""
    if code_of(*code["modules"]) != code:
        changed = ", ".join(code["modules"])
        raise RuntimeError(f"the code of {changed} has changed since snakemake was started: start it again")
    return f"{_version()}+{code['digest']}"


def check_installed(sources):
    """Refuse to run on a library that was not built from the `sources` (the package's folder) as they are:
    a `ValueError` is raised if a token of any module differs. Comments, docstrings and layout may."""
    changed = difference(sources.resolve())
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise ValueError(
            f"The installed svmselect was not built from the sources in {sources}, from which it differs in "
            f"{', '.join(changed[:3])}{more}: run `make env` first."
        )


@cache
def _digest(modules):
    code = _code()
    for module in modules:
        if code.module(module) is None:
            raise ValueError(f"there is no module {module} in {WORKFLOW}")
    return code.digest(modules)


@cache
def _version():
    return metadata.version("svmselect")


@cache
def _code():
    return Code.installed([WORKFLOW])
