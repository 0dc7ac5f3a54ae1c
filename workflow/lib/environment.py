"""The origin of rows (the installed library, the commit and the processor), and the environment of jobs."""

import os
import platform
import runpy
import shlex
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# glibc keeps up to so much freed memory: new pages can cost more time than what is computed in them
RETAINED_BYTES = str(2**30)
KEEP_MEMORY = ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
# its default reserves 1 GB for the first array, which counts as memory that the job takes
ARROW_MEMORY = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
COMMIT = "SVMSELECT_COMMIT"


def set_job_environment(workflow_dir):
    """Let scripts import ``lib`` from the folder ``workflow``, and run on one thread each, in memory that
    stays theirs, so that CPU times compare."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(workflow_dir), before)))
    os.environ.update(dict.fromkeys(THREADS, "1"))
    os.environ.update(dict.fromkeys(KEEP_MEMORY, RETAINED_BYTES))
    os.environ.update(ARROW_MEMORY)
    # Snakemake hands this path to a shell as it is: one with a blank has to be quoted
    if Path(sys.executable).exists():
        sys.executable = shlex.quote(sys.executable)


def project_file(path):
    """Return the path of a file that the configuration names: below the working directory if it is there, or
    else below the project's folder."""
    return Path(path) if Path(path).exists() else PROJECT / path


def cache_folder():
    """Return the folder of the cache that checkouts share, which SNAKEMAKE_OUTPUT_CACHE names; None without
    one."""
    return os.environ.get("SNAKEMAKE_OUTPUT_CACHE")


def cpu_model():
    """Return the model of this machine's processor, in words."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")),
        platform.processor() or platform.machine(),  # nothing names an Arm processor
    )


def commit():
    """Return the project's commit that is checked out, and "+changes" behind it where files outside of
    results differ from it. A copy without a history has that of the run that sent it, or None."""
    top = _git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != PROJECT:
        # a copy in the checkout of something else has another one's commits
        return os.environ.get(COMMIT) or None
    head = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
    return f"{head}+changes" if changes else head


def differs_from_commit(path):
    """Return whether a file that git tracks is not as the commit that is checked out has it."""
    return bool(_git("diff", "--name-only", "HEAD", "--", Path(path).absolute()))


def _git(*arguments):
    try:
        done = subprocess.run(
            # git reads the checkout of somebody else only where it is said to be safe
            ["git", "-c", f"safe.directory={PROJECT}", "--no-optional-locks", "-C", PROJECT, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:  # no git here
        return None
    return done.stdout.strip() if done.returncode == 0 else None


DIGITS = 12


def library_id():
    """Return the installed library's version and the first digits of the hash of its sources, as one string
    ``version+hash``."""
    return f"{metadata.version('svmselect')}+{_installed_hash()[:DIGITS]}"


def check_installed(project=PROJECT):
    """Check that the library that Python finds was built from the sources of this checkout, byte for byte; a
    `ValueError` is raised if not."""
    program = runpy.run_path(str(project / "src/source_hash.py"))
    folder = library_folder()
    built_from = folder / "source_hash.txt" if folder else None
    if not (built_from and built_from.is_file()) or program["source_hash"](project) != _installed_hash():
        raise ValueError(other_library(project))


def library_folder():
    """Return the folder of the svmselect that Python finds, without importing it; None if there is none."""
    spec = find_spec("svmselect")
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def other_library(project=PROJECT):
    """Return a sentence for a library that was not built from this checkout: where it is, and the remedy."""
    folder = library_folder()
    if folder is None:
        return "svmselect is not installed: run `make env` first."
    remedy = "run `make env` first"
    if not folder.is_relative_to(sys.prefix):
        remedy = f"unset PYTHONPATH ({os.environ.get('PYTHONPATH')}), which hides the installed one"
    return f"The svmselect in {folder} was not built from the sources in {project / 'src'}: {remedy}."


def _installed_hash():
    return (library_folder() / "source_hash.txt").read_text().strip()
