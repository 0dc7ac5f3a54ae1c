"""What make says at the end, and what it opens."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def make(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=root,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def test_the_end_of_a_run_says_what_was_made_and_where(root: Path, tmp_path: Path) -> None:
    results = tmp_path / "results/demo"
    for name in (
        "franc2008/table3.tex",
        "wen2017/table1/published.tex",
        "franc2008/figure1.svg",
        "scorecard.svg",
    ):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).touch()

    def said(results_folder: str = "results/demo") -> list[str]:
        command = [sys.executable, root / "workflow/run_summary.py", results_folder]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.split("\n")[1:-1]

    first = "Made 2 tables (CSV, Markdown, LaTeX) and 1 figures (CSV, PDF, SVG) in results/demo"
    assert said() == [first]
    (results / "report.html").touch()
    page = "Every table, figure and published number on one page: results/demo/report.html (make open)"
    assert said() == [first, page]
    # two claims are tested here, and one of them holds
    (results / "scorecard_claims.csv").write_text("claim,tests,held\na,3,3\nb,2,1\nc,0,0\n")
    assert said() == [first, "Reproduced: 1 of the 2 claims that this run tests", page]
    results.rename(results.with_name("mine"))
    assert said("results/mine")[2].endswith(
        "results/mine/report.html (make open PAGE=results/mine/report.html)"
    )


@pytest.mark.parametrize("target", ["all", "figures"])
def test_make_says_it_last(root: Path, target: str) -> None:
    commands = make(root, "-n", "-o", ".venv/.library", target).stdout.splitlines()
    assert "workflow/run_summary.py results/" in commands[-1]


def test_make_docs_ends_with_its_path(root: Path) -> None:
    assert "build/docs/index.html" in make(root, "-n", "-o", ".venv/.library", "docs").stdout.splitlines()[-1]


def test_make_open_opens_a_page(root: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    missing = make(root, "open", f"PAGE={page}", BROWSER="echo %s")
    assert missing.returncode == 2 and f"There is no {page} yet" in missing.stderr
    page.touch()
    opened = make(root, "open", f"PAGE={page}", BROWSER="echo %s")
    assert opened.returncode == 0 and opened.stdout.strip() == page.as_uri()


def test_a_machine_without_a_compiler_stops_make_in_one_sentence(root: Path, tmp_path: Path) -> None:
    for path in root.iterdir():
        if path.name != ".venv":
            (tmp_path / path.name).symlink_to(path)
    stopped = make(tmp_path, ".venv/.packages", f"PYTHON={sys.executable}", CC="absent-cc --flag")
    assert stopped.returncode == 2 and "absent-cc" in stopped.stderr.splitlines()[0]
    assert not (tmp_path / ".venv").exists()


@pytest.fixture
def checkout(root: Path, tmp_path: Path) -> Path:
    """A checkout below a path with a blank, whose .venv looks finished and made there."""
    folder = tmp_path / "a b/ü"
    folder.mkdir(parents=True)
    for path in root.iterdir():
        if path.name not in (".venv", "build"):
            (folder / path.name).symlink_to(path)
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    version = "{}.{}".format(*sys.version_info)
    (folder / f".venv/.python-{version}").write_text(f"{folder.resolve()}\n")
    for name in (".packages", ".library"):
        (folder / ".venv" / name).touch()
    return folder


def test_an_environment_that_was_made_elsewhere_is_made_anew(checkout: Path, tmp_path: Path) -> None:
    assert "-m venv" not in make(checkout, "-n", "env").stdout
    moved = checkout.rename(tmp_path / "moved")
    commands = make(moved, "-n", "env").stdout.splitlines()
    # builds know the folder, too
    assert "rm -rf build/meson-*" in commands
    (venv,) = [line for line in commands if "-m venv --clear .venv" in line]
    # by the interpreter itself, as the links in .venv are cleared
    assert venv.startswith(f'"{Path(sys.executable).resolve()}" ')


def test_progress_is_drawn_on_terminals_and_printed_elsewhere(checkout: Path) -> None:
    assert " --quiet rules" in make(checkout, "-n", "all").stdout
    primary, terminal = os.openpty()
    command = ["make", "-n", "all"]
    done = subprocess.run(command, cwd=checkout, stdout=subprocess.PIPE, stderr=terminal, text=True)
    os.close(primary)
    os.close(terminal)
    assert done.returncode == 0 and " --logger rich" in done.stdout


def test_a_user_without_a_name_has_one_for_snakemake(root: Path) -> None:
    nobody = {name: value for name, value in os.environ.items() if name not in ("LOGNAME", "USER")}
    command = ["make", "--no-print-directory", "--eval", "name:; @echo $$LOGNAME", "name"]
    options = {"user": 54321} if os.getuid() == 0 else {}
    done = subprocess.run(
        command, cwd=root, env=nobody, capture_output=True, text=True, check=True, **options
    )
    assert done.stdout.strip() == ("54321" if options else subprocess.getoutput("id -un"))
