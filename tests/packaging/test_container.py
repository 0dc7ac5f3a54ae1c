"""The recipes of the container: one list of packages, one program that installs, nothing that is pulled."""

from pathlib import Path


def packages(root: Path) -> set[str]:
    lines = (root / "container/packages.txt").read_text().splitlines()
    return {line for line in lines if not line.startswith("#")}


def test_both_recipes_have_the_same_packages(root: Path) -> None:
    lines = (root / "container/svmselect.def").read_text().splitlines()
    header = dict(
        line.split(": ") for line in lines[: lines.index("%files")] if ": " in line and line[0] != "#"
    )
    assert header["Bootstrap"] == "debootstrap"
    assert set(header["Include"].split()) == packages(root) | {"ca-certificates"}


def test_both_recipes_install_by_the_same_program(root: Path) -> None:
    for name in ("build.sh", "svmselect.def"):
        assert "bash /opt/svmselect/container/install.sh" in (root / "container" / name).read_text()


def test_jobs_run_in_the_image_that_the_definition_is_built_into(root: Path) -> None:
    rules = "\n".join(path.read_text() for path in (root / "workflow/rules").glob("*.smk"))
    assert '"build/svmselect.sif"' in rules and "conda:" not in rules
    assert "build/svmselect.sif container/svmselect.def" in (root / "container/svmselect.def").read_text()
