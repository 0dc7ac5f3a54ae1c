"""Write environment.yml, the environment for conda users, from pyproject.toml and requirements.lock."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUPS = ("build", "workflow", "test")
CONDA_NAMES = {"build": "python-build", "matplotlib": "matplotlib-base"}
# conda-forge lacks it; the tests that need it are skipped
PYPI_ONLY = {"axe-core-python"}
HEAD = """\
# The environment for conda users, written by "make lock": the versions of requirements.lock. Rules do not
# name it, as svmselect itself is in no channel.
#   conda env create --file environment.yml && conda activate svmselect
#   pip install --no-deps --no-build-isolation .
name: svmselect
channels:
  - conda-forge
  - bioconda
dependencies:
  - python>=3.11,<3.14
  - pip
  - c-compiler
  - make
"""


def normalised(requirement):
    """Return the name in a requirement as lock files spell it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def environment():
    """Return the text of environment.yml: the packages of pyproject.toml in their locked versions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lock = (ROOT / "requirements.lock").read_text()
    versions = dict(re.findall(r"^([a-z0-9-]+)==([\w.]+)", lock, flags=re.MULTILINE))
    sections = {"library": project["project"]["dependencies"]}
    sections |= {group: project["dependency-groups"][group] for group in GROUPS}
    text, listed = HEAD, set(PYPI_ONLY)
    for section, requirements in sections.items():
        names = [name for name in map(normalised, requirements) if name not in listed]
        listed |= set(names)
        text += f"  # {section}\n"
        text += "".join(f"  - {CONDA_NAMES.get(name, name)}={versions[name]}\n" for name in names)
    return text


if __name__ == "__main__":
    (ROOT / "environment.yml").write_text(environment())
