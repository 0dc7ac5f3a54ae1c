"""requirements.lock, environment.yml and the continuous-integration matrix agree with pyproject.toml."""

import re
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

CONDA_NAME = {"build": "python-build", "matplotlib": "matplotlib-base"}
CONDA_ONLY = {"python", "pip", "c-compiler", "make"}
# conda-forge lacks it; the tests that need it say so and are skipped
PYPI_ONLY = {"axe-core-python"}


@pytest.fixture(scope="module")
def conda(root: Path) -> dict[str, str]:
    """Version specification of each package in environment.yml."""
    entries = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    return dict(re.fullmatch(r"([a-z0-9-]+)(.*)", entry).groups() for entry in entries)


def test_lock_satisfies_every_direct_requirement(direct: list[Requirement], lock: dict[str, str]) -> None:
    unmet = [str(r) for r in direct if r.name not in lock or not r.specifier.contains(lock[r.name])]
    assert unmet == [], "run `make lock`"


@pytest.mark.parametrize(
    "name",
    ["requirements.lock", "requirements-dist.lock", "requirements-audit.lock", "requirements-fuzz.lock"],
)
def test_lock_pins_each_package_once_with_hashes(name: str, root: Path) -> None:
    blocks = re.split(r"^(?=[a-z0-9])", (root / name).read_text(), flags=re.MULTILINE)[1:]
    names = [re.match(r"[a-z0-9-]+(?===)", block)[0] for block in blocks]
    assert len(names) == len(set(names)), "one version per package, or conda cannot give the same ones"
    without_hash = [name for name, block in zip(names, blocks, strict=True) if "--hash=sha256:" not in block]
    assert without_hash == []


def test_distributions_are_built_with_versions_that_are_tested(root: Path, lock: dict[str, str]) -> None:
    text = (root / "requirements-dist.lock").read_text()
    built = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, flags=re.MULTILINE))
    assert {"numpy", "cython", "meson-python"} <= set(built)
    assert built.items() <= lock.items(), "run `make lock`"


def test_conda_environment_is_in_step_with_the_lock(
    direct: list[Requirement], lock: dict[str, str], conda: dict[str, str]
) -> None:
    expected = {CONDA_NAME.get(r.name, r.name): f"={lock[r.name]}" for r in direct if r.name not in PYPI_ONLY}
    assert {name: version for name, version in conda.items() if name not in CONDA_ONLY} == expected


def test_python_versions_are_the_same_everywhere(
    root: Path, pyproject: dict, python_versions: list[str], conda: dict[str, str]
) -> None:
    oldest, newest = python_versions[0], python_versions[-1]
    workflow = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == python_versions
    assert pyproject["project"]["requires-python"] == f">={oldest}"
    in_conda = [f"3.{minor}" for minor in range(30) if SpecifierSet(conda["python"]).contains(f"3.{minor}")]
    assert in_conda == python_versions
    in_wheels = [f"cp{version.replace('.', '')}-*" for version in python_versions]
    assert pyproject["tool"]["cibuildwheel"]["build"] == in_wheels
    assert f"--python-version {oldest} " in (root / "more.mk").read_text()
    assert f"Python {oldest} to {newest}" in (root / "CONTRIBUTING.md").read_text()


def test_makefile_locks_every_group(root: Path, locked_groups: dict[str, list[str]]) -> None:
    recipe = (root / "more.mk").read_text().split("\nlock: ")[1]
    groups = re.search(r"\$\(addprefix --group ,([a-z ]+)\)", recipe)[1].split()
    assert sorted(groups) == sorted(locked_groups)
