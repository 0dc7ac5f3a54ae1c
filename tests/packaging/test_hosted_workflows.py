"""The hosted workflows: what they may do, and that nothing in them comes from elsewhere without a hash."""

import re
from pathlib import Path

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github/workflows").glob("*.yml"))
# the jobs that may do more than read, and what
MORE = {("wheels.yml", "attest"): {"attestations": "write", "id-token": "write"}}

every_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)


def test_there_are_workflows_and_the_actions_are_renewed(root: Path) -> None:
    assert {path.name for path in WORKFLOWS} == {
        "ci.yml",
        "dependencies.yml",
        "nightly.yml",
        "wheels.yml",
    }
    (update,) = yaml.safe_load((root / ".github/dependabot.yml").read_text())["updates"]
    assert update["package-ecosystem"] == "github-actions"


@every_workflow
def test_permissions_are_minimal(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    more = {
        (path.name, name): job["permissions"]
        for name, job in workflow["jobs"].items()
        if "permissions" in job
    }
    assert more == {job: permissions for job, permissions in MORE.items() if job[0] == path.name}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


@every_workflow
def test_every_action_is_a_commit_that_a_comment_names(path: Path) -> None:
    used = re.findall(r"uses: *(.*)", path.read_text())
    assert used
    named = re.compile(r"[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [action for action in used if not named.fullmatch(action)] == []


def test_an_action_has_one_commit_everywhere() -> None:
    used = {action for path in WORKFLOWS for action in re.findall(r"uses: *(.*)", path.read_text())}
    assert len({action.split("@")[0] for action in used}) == len(used)


@every_workflow
def test_no_job_runs_for_ever(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"]
    assert [name for name, job in jobs.items() if "timeout-minutes" not in job] == []


@every_workflow
def test_nothing_is_installed_that_no_lock_file_names(path: Path) -> None:
    jobs = yaml.safe_load(path.read_text())["jobs"].values()
    lines = [line for job in jobs for step in job["steps"] for line in step.get("run", "").splitlines()]
    assert lines or path.name == "wheels.yml"
    installs = [line for line in lines if "pip install" in line]
    assert [line for line in installs if "--require-hashes" not in line and "--no-deps" not in line] == []
    # a value of the event in a command would be run
    assert [line for line in lines if "${{ github." in line] == []


def test_wheels_are_built_and_tested_with_locked_packages(pyproject: dict) -> None:
    settings = pyproject["tool"]["cibuildwheel"]
    assert settings["before-build"] == "python {project}/packages/install.py build"
    assert settings["before-test"] == "python {project}/packages/install.py"
    assert "--no-isolation" in settings["build-frontend"]["args"]


def test_wheels_are_for_every_platform_and_none_depends_on_the_compilers_libraries(pyproject: dict) -> None:
    wheels = yaml.safe_load((Path(__file__).parents[2] / ".github/workflows/wheels.yml").read_text())
    runners = wheels["jobs"]["wheels"]["strategy"]["matrix"]["runner"]
    assert {runner.split("-")[0] for runner in runners} == {"ubuntu", "macos", "windows"}
    assert any(runner.endswith("-arm") for runner in runners)
    settings = pyproject["tool"]["cibuildwheel"]
    assert settings["test-command"][0] == "python {project}/tests/packaging/fit.py"
    # nothing is repaired on Windows: MinGW's libraries have to be in the modules
    assert settings["windows"] == {"environment": {"CC": "gcc"}, "repair-wheel-command": ""}
    assert "'-static'" in (Path(__file__).parents[2] / "meson.build").read_text()
