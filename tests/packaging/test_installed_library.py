"""The library under test is the source tree's, whole and no more."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    } == cython | {Path("_cyutility")}


def test_the_installed_library_has_the_hash_of_the_sources(root: Path) -> None:
    program = [sys.executable, root / "src/source_hash.py"]
    printed = subprocess.run(program, capture_output=True, text=True, check=True).stdout
    assert re.fullmatch(r"[0-9a-f]{64}\n", printed)
    assert (Path(svmselect.__file__).parent / "source_hash.txt").read_text() == printed


def test_every_byte_and_name_of_the_sources_counts(root: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    shutil.copy(root / "meson.build", tmp_path)
    shutil.copy(root / "src/source_hash.py", tmp_path / "src")
    shutil.copytree(root / "src/svmselect", tmp_path / "src/svmselect")

    def printed() -> str:
        program = [sys.executable, tmp_path / "src/source_hash.py"]
        return subprocess.run(program, capture_output=True, text=True, check=True).stdout

    hashes = [printed()]
    for name in ("meson.build", "src/svmselect/svm.py", "src/svmselect/solver/_vec.h"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + " ")
        hashes.append(printed())
    (tmp_path / "src/svmselect/svm.py").rename(tmp_path / "src/svmselect/machine.py")
    hashes.append(printed())
    assert len(set(hashes)) == 5
    # compiled bytecode is no source
    (tmp_path / "src/svmselect/__pycache__").mkdir(exist_ok=True)
    (tmp_path / "src/svmselect/__pycache__/x.pyc").write_bytes(b"x")
    assert printed() == hashes[-1]


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
