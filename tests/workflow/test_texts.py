"""What is said on the command line, `--config key=value`: texts are understood, or refused in a sentence that
says how to write it."""

import copy

import pytest
import yaml
from lib.config import check_config, fill_defaults, load_schema, read_texts
from snakemake.cli import parse_config


def said(root, *entries):
    """The demo's configuration, with what Snakemake makes of these texts laid over it."""
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    for key, value in parse_config(entries).items():
        if isinstance(value, dict) and isinstance(config.get(key), dict):
            config[key] |= value
        else:
            config[key] = value
    schema = load_schema()
    read_texts(config, schema)
    check_config(config, schema)
    fill_defaults(config, schema)
    return config


@pytest.mark.parametrize(("text", "key", "value"), [
    ("papers=[franc2008]", "papers", ["franc2008"]),
    ("papers=null", "papers", None),
    ("papers=", "papers", None),
    ("timing=exclusive", "timing", "exclusive"),
    ("verify=0.5", "verify", 0.5),
    ("verify=1e-2", "verify", 0.01),
    ("verify=abc", "verify", "abc"),
    ("verify=[franc2008/*, '*/wdbc/*']", "verify", ['franc2008/*', '*/wdbc/*']),
    ("verify_tolerance=0", "verify_tolerance", 0),
    ("minutes_per_job=null", "minutes_per_job", None),
    ("mirror=null", "mirror", None),
    ("mirror=/data/mirror", "mirror", "/data/mirror"),
    ("preset=2026", "preset", "2026"),
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
    found = said(root, text)
    for part in key.split("."):
        found = found[part]
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("text", "sentence"), [
    ("papers=franc2008",
     "The configuration's papers is 'franc2008', which is not valid; wanted: a list of papers to run,"
     " such as [franc2008, comparison], of those in workflow/papers, or null for all."),
    ("papers=[]",
     "The configuration's papers is [], which is not valid; wanted: a list of papers to run, such as "
     "[franc2008, comparison], of those in workflow/papers, or null for all."),
    ("timing=yes",
     "The configuration's timing is 'yes'; the valid values are: shared, exclusive."),
    ("timing=True",
     "The configuration's timing is True; the valid values are: shared, exclusive."),
    ("preset=True",
     "The configuration's preset is True, which is not valid; wanted: a name in lower-case letters, "
     "digits and hyphens; results go to results/<preset>."),
    ("folders=/scratch",
     "The configuration's folders is '/scratch', which is not valid; wanted: an object with the keys "
     "results, resources (data) and logs, such as {results: /scratch/results}; folders are relative "
     "to the working directory or absolute."),
    ("verify=2",
     "The configuration's verify is 2, which is not valid; wanted: what the target verify computes "
     "again: a share of the cells (above 0, at most 1), or a pattern of their names such as "
     "franc2008/cells/heart/*, or a list of patterns."),
    ("verify=True",
     "The configuration's verify is True, which is not valid; wanted: what the target verify computes"
     " again: a share of the cells (above 0, at most 1), or a pattern of their names such as "
     "franc2008/cells/heart/*, or a list of patterns."),
    ("rows_of_other_code=True",
     "The configuration's rows_of_other_code is True; the valid values are: compute, keep."),
    ("franc2008={realisations: few}",
     "The configuration's franc2008.realisations is 'few', which is not valid; wanted: the number of "
     "realisations (1 or more) whose training parts select the models."),
    ("franc2008={linear: {C: [1, a]}}",
     "The configuration's franc2008.linear.C is ['1', 'a'], which is not valid; wanted: a list of "
     "different numbers above 0, or {first, last, count} for a geometric progression of at most 1,000 "
     "values."),
    ("franc2008=1",
     "The configuration's franc2008 is 1, which is not valid; wanted: the settings of Franc, Laskov "
     "and Mueller (2008)."),
])  # fmt: skip
def test_what_is_no_value_is_refused(root, text, sentence):
    with pytest.raises(ValueError) as caught:
        said(root, text)
    assert str(caught.value) == sentence


def test_valid_values_are_left_as_they_are(root):
    """No text of a preset is read as something else."""
    schema = load_schema()
    for name in ("config", "paper"):
        config = yaml.safe_load((root / f"config/{name}.yaml").read_text())
        read = copy.deepcopy(config)
        read_texts(read, schema)
        assert read == config
