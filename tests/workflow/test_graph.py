"""The drawing of the rules: it is that of the present workflow."""

import html
import re
import shlex
import subprocess

import pytest


def arrows(labels, pairs):
    return sorted((labels[start], labels[end]) for start, end in pairs)


@pytest.mark.slow
def test_the_drawn_rules_are_those_of_the_workflow(root, checkout):
    recipe = subprocess.run(
        ["make", "--dry-run", "graph"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    (line,) = [line for line in recipe.splitlines() if "--rulegraph" in line]
    done = checkout.snakemake(*shlex.split(line.partition(">")[0])[1:])
    assert done.returncode == 0, done.stderr
    labels = dict(re.findall(r'(\d+)\[label = "(\w+)"', done.stdout))
    drawing = html.unescape((root / "docs/_static/rules.svg").read_text())
    drawn = dict(re.findall(r"<title>(\d+)</title>.*?<text[^>]*>(\w+)</text>", drawing, flags=re.DOTALL))
    assert "report" in labels.values() and sorted(drawn.values()) == sorted(labels.values())
    result = arrows(drawn, re.findall(r"<title>(\d+)->(\d+)</title>", drawing))
    assert result == arrows(labels, re.findall(r"(\d+) -> (\d+)", done.stdout)) != []


def test_tests_of_conventions_exist(root):
    text = (root / "docs/workflow.md").read_text().partition("## Conventions\n")[2]
    named = re.findall(r"`(tests/[\w/.]+)`", text)
    assert len(set(named)) > 10
    assert [name for name in named if not (root / name).is_file()] == []
