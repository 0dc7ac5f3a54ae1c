"""The library under test is the source tree's, whole and no more."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import svmselect
from svmselect.digest import Code, main, read_package


def test_library_is_not_imported_from_the_source_tree(root: Path) -> None:
    assert not Path(svmselect.__file__).is_relative_to(root / "src")


def test_installed_modules_are_those_of_the_source_tree(root: Path) -> None:
    source, installed = root / "src" / "svmselect", Path(svmselect.__file__).parent
    python = {path.relative_to(source): path.read_text() for path in source.rglob("*.py")}
    assert {path.relative_to(installed): path.read_text() for path in installed.rglob("*.py")} == python
    cython = {path.relative_to(source).with_suffix("") for path in source.rglob("*.pyx")}
    assert {
        path.relative_to(installed).parent / path.name.split(".")[0] for path in installed.rglob("*.so")
    } == cython | {Path("_cyutility")}


def test_the_installed_library_knows_the_code_of_the_source_tree(root: Path) -> None:
    assert Code.installed().modules == read_package(root / "src" / "svmselect")


def test_a_change_that_the_build_would_not_see_is_refused(root: Path, tmp_path: Path) -> None:
    """Ninja compiles what is newer than its last build: what is new to it but older would be left out."""
    shutil.copy(root / "meson.build", tmp_path)
    sources = shutil.copytree(root / "src" / "svmselect", tmp_path / "src" / "svmselect")
    baked = tmp_path / "build" / "any" / "src" / "svmselect" / "_digests.json"
    baked.parent.mkdir(parents=True)
    arguments = [str(sources), str(baked)]
    assert main(arguments) is None
    for name in ("solver/_state.pyx", "svm.py"):
        text = (sources / name).read_text()
        (sources / name).write_text(text.replace("1e-", "2e-"))
        assert (sources / name).read_text() != text
        os.utime(sources / name, (0, 0))
    before = baked.read_text()
    for name in ("solver/_state.pxd", "solver/_state.pyx"):
        os.utime(sources / name, (0, 0))
    files = f"{sources / 'solver/_state.pxd'}, {sources / 'solver/_state.pyx'}"
    assert main(arguments) == f"changed since the last build, but dated before it: touch {files}"
    assert baked.read_text() == before
    (sources / "solver/_state.pyx").touch()
    assert main(arguments) is None and baked.read_text() != before


def test_no_build_input_is_installed() -> None:
    installed = Path(svmselect.__file__).parent.rglob("*")
    assert [p.name for p in installed if p.suffix in (".pyx", ".pxd", ".c", ".h", ".build")] == []


def test_installed_version_is_the_projects(pyproject: dict) -> None:
    assert svmselect.__version__ == pyproject["project"]["version"]
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        svmselect.nothing  # noqa: B018


def test_the_library_imports_only_what_it_computes_with() -> None:
    packages = {"pooch", "requests", "yaml", "pandas", "matplotlib"}
    code = f"import sys, svmselect, svmselect.cli; print(*{packages} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
