"""Tracked files: portable, citable, and every make target explained."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.-])/(?:work|root|farm|home)/[\w.]"),
    "a package index": re.compile(
        r"(?:pypi|pythonhosted|anaconda|npmjs|debian)\.(?:org|com)\b", re.IGNORECASE
    ),
}


@pytest.fixture(scope="module")
def tracked(root: Path) -> dict[str, str]:
    """Text of each tracked file that is text; what crashed a parser need not be."""
    names = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    texts = {}
    for name in names.split("\0")[:-1]:
        content = (root / name).read_bytes() if (root / name).is_file() else b"\0"
        if b"\0" not in content:
            damaged = name.startswith("tests/fuzz/corpus/")
            texts[name] = content.decode(errors="replace" if damaged else "strict")
    return texts


@pytest.fixture(scope="module")
def citation(root: Path) -> dict:
    return yaml.safe_load((root / "CITATION.cff").read_text())


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_no_tracked_file_names(pattern: str, tracked: dict[str, str]) -> None:
    result = {name: match[0] for name, text in tracked.items() if (match := FORBIDDEN[pattern].search(text))}
    assert result == {}


def test_only_continuous_integration_looks_beside_the_checkout(tracked: dict[str, str]) -> None:
    outside = "/".join(["..", "shared"])
    assert {name for name, text in tracked.items() if outside in text} <= {".ci/run"}


def test_build_is_portable(tracked: dict[str, str]) -> None:
    builds = {
        name: text for name, text in tracked.items() if Path(name).name in ("meson.build", "pyproject.toml")
    }
    assert "meson.build" in builds
    assert [name for name, text in builds.items() if re.search(r"-m(arch|cpu|tune)=", text)] == []


# What would run what a file, a configuration or a wildcard holds, or write where an archive says.
UNSAFE = re.compile(
    r"(?<![\w.])(?:eval|exec)\(|\bimport pickle|from pickle|allow_pickle=True"
    r"|yaml\.(?:load|unsafe_load|full_load)\("
    r"|\.extract(?:all)?\(|shell=True|os\.system\("
)


def test_no_source_runs_or_unpacks_what_it_reads(tracked: dict[str, str]) -> None:
    sources = {
        name: text
        for name, text in tracked.items()
        if name.startswith(("src/", "workflow/")) or name == "Snakefile"
    }
    assert len(sources) > 100
    assert {name: match[0] for name, text in sources.items() if (match := UNSAFE.search(text))} == {}
    loads = [
        name
        for name, text in sources.items()
        for _ in re.findall(r"\bnp\.load\((?!.*allow_pickle=False)", text)
    ]
    assert loads == []


def test_citation_has_the_version_of_the_project(citation: dict, pyproject: dict) -> None:
    assert citation["cff-version"] == "1.2.0"
    for key in ("version", "license"):
        assert citation[key] == pyproject["project"][key]


def test_changelog_citation_and_codemeta_say_when_it_was_released(root: Path, citation: dict) -> None:
    date = str(citation.get("date-released", "unreleased"))
    heading = re.search(r"^## .*$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[0]
    assert heading == f"## {citation['version']} ({date})"
    codemeta = json.loads((root / "codemeta.json").read_text())
    assert codemeta.get("datePublished", "unreleased") == date


def test_citation_names_every_paper(root: Path, citation: dict) -> None:
    references = citation["references"]
    declared = [yaml.safe_load(path.read_text()) for path in root.glob("workflow/papers/*/paper.yaml")]
    papers = {paper["name"].split()[0]: paper["year"] for paper in declared if "year" in paper}
    cited = {paper["authors"][0]["family-names"]: paper["year"] for paper in references}
    cited["Bakir"] = cited.pop("Bak\N{LATIN SMALL LETTER DOTLESS I}r")  # in ASCII, as in paper.yaml
    assert cited == papers
    assert all(paper["title"] and paper["type"] for paper in references)


def test_every_documented_make_target_is_listed(tracked: dict[str, str], targets: set[str]) -> None:
    makefiles = "\n".join(tracked[name] for name in ("Makefile", "tests/Makefile", "more.mk"))
    assert targets == set(re.findall(r"^\.PHONY: (\S+)$", makefiles, flags=re.MULTILINE))
    documents = "\n".join(text for name, text in tracked.items() if name.endswith((".md", ".yaml", ".yml")))
    assert set(re.findall(r"(?:`|run: )make ([a-z0-9-]+)", documents)) <= targets


def test_codemeta_says_what_the_citation_and_the_project_say(
    root: Path, citation: dict, pyproject: dict
) -> None:
    codemeta = json.loads((root / "codemeta.json").read_text())
    project = pyproject["project"]
    assert (codemeta["name"], codemeta["version"]) == (project["name"], citation["version"])
    assert (
        codemeta["license"].endswith(f"/{citation['license']}") and project["license"] == citation["license"]
    )
    assert [author["name"] for author in codemeta["author"]] == [
        entry["name"] for entry in citation["authors"]
    ]
    assert codemeta["keywords"] == citation["keywords"] == project["keywords"]
    assert codemeta["runtimePlatform"] == f"Python {project['requires-python']}"
