"""What is run by hand is kept in a table: which commit, how long, what it said. Failures are not kept."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = """\
long:
\t@echo "=== 3 passed, 1 skipped in 2.00s ==="
drawn:
\t@echo "7 of 7 steps (100%) done"
broken:
\t@echo "=== 1 failed, 3 passed in 2.00s ==="; exit 1
silent:
\t@true
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PYTEST_ARGS", raising=False)
    (tmp_path / "Makefile").write_text(MAKEFILE)
    me = ["-c", "user.name=me", "-c", "user.email=me"]
    for command in (["init", "--quiet"], ["add", "."], [*me, "commit", "--quiet", "--message=one"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def seen(root: Path, project: Path, *targets: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(root / "tests/seen.py"), "seen.csv", *targets]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def rows(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(table.read_text().splitlines()))


def test_what_was_seen_is_kept_once_for_each_target(root: Path, project: Path) -> None:
    for targets in (["long"], ["drawn", "long"]):
        done = seen(root, project, *targets)
        assert done.returncode == 0, done.stderr
    table = rows(project / "seen.csv")
    assert [(row["command"], row["what it said"]) for row in table] == [
        ("make drawn", "7 of 7 steps (100%) done"),
        ("make long", "3 passed, 1 skipped"),
    ]
    assert {row["Python"] for row in table} == {"{}.{}".format(*sys.version_info)}
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=project, check=True, capture_output=True, text=True
    ).stdout
    assert all(head.startswith(row["commit"]) and len(row["commit"]) == 10 for row in table)


def test_every_version_of_python_has_its_row(root: Path, project: Path) -> None:
    other = dict.fromkeys(["command", "Python", "commit", "day", "minutes", "what it said"], "7")
    other |= {"command": "make long", "Python": "3.9"}
    text = ",".join(other) + "\n" + ",".join(other.values()) + "\n"
    (project / "seen.csv").write_text(text)
    assert seen(root, project, "long").returncode == 0
    first, second = rows(project / "seen.csv")
    assert second == other and first["command"] == "make long"
    assert first["Python"] == "{}.{}".format(*sys.version_info)


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("broken", r"make broken failed with status 2: nothing is kept\n"),
        ("silent", r"make silent does not say how it ended: nothing is kept\n"),
    ],
)
def test_a_failure_is_not_kept(root: Path, project: Path, target: str, sentence: str) -> None:
    done = seen(root, project, target)
    assert done.returncode == 1 and re.search(sentence, done.stderr)
    assert not (project / "seen.csv").exists()


def test_changed_files_are_no_commit(root: Path, project: Path) -> None:
    (project / "Makefile").write_text(MAKEFILE + "\n")
    done = seen(root, project, "long")
    assert done.returncode == 1 and "these files are none:\n M Makefile" in done.stderr


def test_a_part_of_the_tests_is_not_kept(root: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ARGS", "-k one")
    done = seen(root, project, "long")
    assert done.returncode == 1 and "a part of the tests" in done.stderr
    assert not (project / "seen.csv").exists()


def test_the_table_is_one_of_targets(root: Path, targets: set[str]) -> None:
    table = rows(root / "docs/seen.csv")
    assert {row["command"].removeprefix("make ") for row in table} <= targets and table
    for row in table:
        assert re.fullmatch(r"[0-9a-f]{10}", row["commit"]) and int(row["minutes"]) >= 0
        assert re.fullmatch(r"3\.\d+", row["Python"])
        assert not re.search(r"\bfailed\b", row["what it said"])
