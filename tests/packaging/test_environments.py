"""requirements.lock, environment.yml and the continuous-integration matrix agree with pyproject.toml."""

import re
import runpy
from pathlib import Path

import yaml
from packaging.requirements import Requirement


def test_lock_satisfies_every_direct_requirement(direct: list[Requirement], lock: dict[str, str]) -> None:
    unmet = [str(r) for r in direct if r.name not in lock or not r.specifier.contains(lock[r.name])]
    assert unmet == [], "run `make lock`"


def test_lock_pins_each_package_once_with_hashes(root: Path) -> None:
    blocks = re.split(r"^(?=[a-z0-9])", (root / "requirements.lock").read_text(), flags=re.MULTILINE)[1:]
    names = [re.match(r"[a-z0-9-]+(?===)", block)[0] for block in blocks]
    assert len(names) == len(set(names)), "one version per package, or conda cannot give the same ones"
    without_hash = [name for name, block in zip(names, blocks, strict=True) if "--hash=sha256:" not in block]
    assert without_hash == []


def test_conda_environment_is_in_step_with_the_lock(root: Path) -> None:
    program = runpy.run_path(root / "packages/conda.py")
    assert (root / "environment.yml").read_text() == program["environment"](), "run `make lock`"


def test_python_versions_are_the_same_everywhere(
    root: Path, pyproject: dict, python_versions: list[str]
) -> None:
    oldest, newest = python_versions[0], python_versions[-1]
    workflow = yaml.safe_load((root / ".github/workflows/ci.yml").read_text())
    assert workflow["jobs"]["test"]["strategy"]["matrix"]["python"] == python_versions
    assert pyproject["project"]["requires-python"] == f">={oldest}"
    conda = yaml.safe_load((root / "environment.yml").read_text())["dependencies"]
    (specifier,) = [Requirement(entry).specifier for entry in conda if entry.startswith("python>")]
    in_conda = [f"3.{minor}" for minor in range(30) if specifier.contains(f"3.{minor}")]
    assert in_conda == python_versions
    in_wheels = [f"cp{version.replace('.', '')}-*" for version in python_versions]
    assert pyproject["tool"]["cibuildwheel"]["build"] == in_wheels
    assert f"--python-version {oldest} " in (root / "more.mk").read_text()
    assert f"Python {oldest} to {newest}" in (root / "CONTRIBUTING.md").read_text()


def test_makefile_locks_every_group(root: Path, locked_groups: dict[str, list[str]]) -> None:
    recipe = (root / "more.mk").read_text().split("\nlock: ")[1]
    groups = re.search(r"\$\(addprefix --group ,([a-z ]+)\)", recipe)[1].split()
    assert sorted(groups) == sorted(locked_groups)
