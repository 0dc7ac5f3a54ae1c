"""What the packaging tests share: the project's root folder and its parsed metadata."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def targets(root: Path) -> set[str]:
    """Names of the targets of make that `make help-all` lists."""
    command = ["make", "-s", "help-all"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^make (\S+) ", listed, flags=re.MULTILINE))


@pytest.fixture(scope="session")
def pyproject(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def lock(root: Path) -> dict[str, str]:
    """Version of each package in requirements.lock."""
    text = (root / "requirements.lock").read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))


@pytest.fixture(scope="session")
def locked_groups(pyproject: dict) -> dict[str, list[str]]:
    """Dependency groups of requirements.lock: all but the peers of benchmarks."""
    return {name: names for name, names in pyproject["dependency-groups"].items() if name != "bench"}


@pytest.fixture(scope="session")
def direct(pyproject: dict, locked_groups: dict[str, list[str]]) -> list[Requirement]:
    """Requirements that pyproject.toml names: build system, library and every locked dependency group."""
    lists = [pyproject["build-system"]["requires"], pyproject["project"]["dependencies"]]
    lists += locked_groups.values()
    requirements = [Requirement(text) for names in lists for text in names]
    for requirement in requirements:
        requirement.name = canonicalize_name(requirement.name)
    return requirements


@pytest.fixture(scope="session")
def python_versions(pyproject: dict) -> list[str]:
    """Python versions of the classifiers, oldest first."""
    classifiers = " ".join(pyproject["project"]["classifiers"])
    return re.findall(r"Python :: (3\.\d+)", classifiers)
