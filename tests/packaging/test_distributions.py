"""The wheel and the source distribution, and a new user's first minute with the wheel in a fresh environment.

The wheel is packed from the finished build of ``make env`` (``build/meson-<version>``), so that nothing is
compiled.
"""

import csv
import fcntl
import os
import platform
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

pytestmark = pytest.mark.slow

# without the tests' own environment
PLAIN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SVMSELECT_MIRROR")}


def run(*command, cwd):
    finished = subprocess.run(
        list(map(str, command)), cwd=cwd, env=PLAIN, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    build = root / "build" / "meson-{}.{}".format(*sys.version_info)
    if not build.is_dir():
        pytest.skip(f"no finished build in {build.relative_to(root)}: make env")
    folder = tmp_path_factory.mktemp("wheel")
    options = (
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
        f"--config-settings=build-dir={build}",
    )
    # one worker at a time in the build
    with (build / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(
            sys.executable, "-m", "pip", "wheel", "--quiet", *options, "--wheel-dir", folder, root, cwd=folder
        )
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory) -> Path:
    """A virtual environment with the wheel and, by links, all installed packages but this library."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv", symlinks=True)
    python = folder / "venv" / "bin" / "python"
    packages = folder / "packages"
    packages.mkdir()
    places = dict.fromkeys(map(Path, [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]))
    places |= dict.fromkeys(
        Path(line)
        for place in places
        for pth in place.glob("*.pth")
        for line in pth.read_text().splitlines()
        if Path(line).is_dir()
    )
    for place in places:
        for path in place.iterdir():
            link = packages / path.name
            if not path.name.startswith("svmselect") and path.suffix != ".pth" and not link.exists():
                link.symlink_to(path)
    site = Path(run(python, "-c", "import site; print(site.getsitepackages()[0])", cwd=folder).strip())
    (site / "packages.pth").write_text(f"{packages}\n")
    options = ("--no-deps", "--no-index", "--disable-pip-version-check", "--quiet")
    run(sys.executable, "-m", "pip", "--python", python, "install", *options, wheel, cwd=folder)
    return folder / "venv" / "bin"


def test_a_new_user_gets_a_model_from_the_readme(root, fresh, tmp_path):
    section = (root / "README.md").read_text().split("## Use it on your own data\n")[1]
    program = re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1]
    (tmp_path / "first.py").write_text(program + "import svmselect; print(svmselect.__file__)\n")
    *result, place = run(fresh / "python", "first.py", cwd=tmp_path).splitlines()
    assert Path(place).is_relative_to(fresh.parent)
    assert "\n".join(result) == re.search(r"```text\n(.*?)\n```", section, flags=re.DOTALL)[1]

    select, predict = re.search(r"```\n(svmselect .*data\.csv.*\nsvmselect .*)\n```", section)[1].splitlines()
    X, y = load_breast_cancer(return_X_y=True)
    with (tmp_path / "data.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[*row, label] for row, label in zip(X.tolist(), y, strict=True)])
    with (tmp_path / "new.csv").open("w", newline="") as file:
        csv.writer(file).writerows(X[:3].tolist())
    words = shlex.split(select)
    table = run(fresh / words[0], *words[1:], cwd=tmp_path)
    assert "data.csv: 569 rows, 30 features" in table
    assert "Best of 64 models by 3-fold error" in table
    words = shlex.split(predict)
    assert run(fresh / words[0], *words[1:], cwd=tmp_path).split() == ["0", "0", "0"]


def test_an_installed_wheel_passes_what_every_platform_runs(root, fresh, tmp_path):
    lines = run(fresh / "python", root / "tests" / "packaging" / "fit.py", cwd=tmp_path).splitlines()
    assert [line.split()[1:] for line in lines] == [["float32", "7", "errors"], ["float64", "7", "errors"]]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="instruction sets of x86-64")
def test_the_wheel_has_code_for_every_instruction_set(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (solver,) = [archive.read(name) for name in archive.namelist() if "/_smo." in name]
    for symbol in (
        b"update_pair_f64_avx512",
        b"update_pair_f64_avx2",
        b"vec_dot.arch_x86_64_v4",
        b"vec_dot.default",
    ):
        assert symbol in solver


def test_the_source_distribution_is_made_in_a_clean_folder_and_whole(root, tmp_path):
    run("git", "clone", "--quiet", "--depth", "1", root.as_uri(), tmp_path / "clone", cwd=tmp_path)
    options = ("--sdist", "--no-isolation", "--skip-dependency-check", "--outdir", tmp_path / "dist")
    run(sys.executable, "-m", "build", *options, cwd=tmp_path / "clone")
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as members:
        names = {name.partition("/")[2] for name in members.getnames()}
    tracked = run("git", "ls-files", "src", "config", "docs", "tests", cwd=root).splitlines()
    assert set(tracked) <= names
    assert {"pyproject.toml", "meson.build", "meson.options", "README.md", "LICENSE", "PKG-INFO"} <= names
