"""The library under test is the source tree's, whole and no more."""

from importlib.metadata import version
from pathlib import Path

import svmselect


def test_library_is_not_imported_from_the_source_tree(root: Path) -> None:
    assert not Path(svmselect.__file__).is_relative_to(root / "src")


def test_installed_modules_are_those_of_the_source_tree(root: Path) -> None:
    source, installed = root / "src" / "svmselect", Path(svmselect.__file__).parent
    python = {path.relative_to(source): path.read_text() for path in source.rglob("*.py")}
    assert {path.relative_to(installed): path.read_text() for path in installed.rglob("*.py")} == python
    cython = {path.relative_to(source).with_suffix("") for path in source.rglob("*.pyx")}
    assert {
        path.relative_to(installed).parent / path.name.split(".")[0] for path in installed.rglob("*.so")
    } == cython


def test_no_build_input_is_installed() -> None:
    installed = Path(svmselect.__file__).parent.rglob("*")
    assert [p.name for p in installed if p.suffix in (".pyx", ".c", ".h", ".build")] == []


def test_installed_version_is_the_projects(pyproject: dict) -> None:
    assert version("svmselect") == pyproject["project"]["version"]
