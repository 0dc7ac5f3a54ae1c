"""What is said on the command line, `--config key=value`: texts are understood, or refused in a sentence that
says how to write it."""

import copy

import pytest
import yaml
from lib.config import complete_config
from lib.papers import load_papers
from snakemake.cli import parse_config

SCHEMAS = {name: paper.schema for name, paper in load_papers().items()}


def said(root, *entries):
    """The demo's configuration, with what Snakemake makes of these texts laid over it."""
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    for key, value in parse_config(entries).items():
        if isinstance(value, dict) and isinstance(config.get(key), dict):
            config[key] |= value
        else:
            config[key] = value
    complete_config(config, SCHEMAS)
    return config


@pytest.mark.parametrize(("text", "key", "value"), [
    ("papers=[franc2008]", "papers", ["franc2008"]),
    ("papers=null", "papers", None),
    ("papers=", "papers", None),
    ("timing=exclusive", "timing", "exclusive"),
    ("verify={preset: paper, cells: 1e-2, tolerance: 0}", "verify.cells", 0.01),
    ("verify={preset: paper, tolerance: 0, cells: [franc2008/*, '*/wdbc/*']}", "verify.cells",
     ['franc2008/*', '*/wdbc/*']),
    ("compute=false", "compute", False),
    ("mirror=null", "mirror", None),
    ("mirror=/data/mirror", "mirror", "/data/mirror"),
    ("preset=2026-11", "preset", "2026-11"),
    ("folders={results: /scratch}", "folders.results", "/scratch"),
    ("franc2008={realisations: 1}", "franc2008.realisations", 1),
    ("franc2008={eps: 1e-3}", "franc2008.eps", 0.001),
    ("franc2008={max_iter: null}", "franc2008.max_iter", None),
    ("franc2008={linear: {C: [1, 0.5]}}", "franc2008.linear.C", [1, 0.5]),
    ("franc2008={linear: {C: {first: 1, last: 5e2, count: 3}}}", "franc2008.linear.C",
     {"first": 1, "last": 500, "count": 3}),
    ("comparison={folds: [3, 5]}", "comparison.folds", [3, 5]),
    ("comparison={datasets: [{name: wdbc, realisations: 2}]}", "comparison.datasets",
     [{"name": "wdbc", "realisations": 2}]),
])  # fmt: skip
def test_texts_are_understood(root, text, key, value):
    result = said(root, text)
    for part in key.split("."):
        result = result[part]
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "place", "shown"),
    [
        ("papers=franc2008", "papers", "'franc2008'"),
        ("papers=[]", "papers", "[]"),
        ("timing=yes", "timing", "'yes'"),
        ("timing=True", "timing", "True"),
        ("preset=True", "preset", "True"),
        ("folders=/scratch", "folders", "'/scratch'"),
        ("verify={preset: paper, tolerance: 0, cells: 2}", "verify.cells", "2"),
        ("compute=2", "compute", "2"),
        ("franc2008={realisations: few}", "franc2008.realisations", "'few'"),
        ("franc2008={linear: {C: [1, a]}}", "franc2008.linear.C.1", "'a'"),
        ("franc2008=1", "franc2008", "1"),
    ],
)
def test_texts_that_are_no_value_are_refused(root, text, place, shown):
    with pytest.raises(ValueError, match=rf"configuration's {place}\b") as caught:
        said(root, text)
    assert shown in str(caught.value)


def test_valid_values_are_left_as_they_are(root):
    """No text of a preset is read as something else."""
    for name in ("config", "paper"):
        config = yaml.safe_load((root / f"config/{name}.yaml").read_text())
        read = copy.deepcopy(config)
        complete_config(read, SCHEMAS)
        again = copy.deepcopy(read)
        complete_config(again, SCHEMAS)
        assert again == read
        assert read["franc2008"]["eps"] == config["franc2008"]["eps"]
        assert read["chapelle1999"]["width"]["C"] == config["chapelle1999"]["width"]["C"]
