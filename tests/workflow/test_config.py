"""The configuration: presets, schema, messages, documentation."""

import copy
import os
import re
from contextlib import nullcontext

import config_tables
import pytest
import yaml
from lib.config import SCHEMA, check_config, check_datasets, check_scale, complete_config, grid
from lib.papers import load_papers
from lib.run import planned
from lib.tolerances import read_published
from snakemake.cli import parse_config
from snakemake.utils import update_config

SCHEMAS = {name: paper.schema for name, paper in load_papers().items()}
TEXTS = {path: yaml.safe_load(path.read_text()) for path in (SCHEMA, *SCHEMAS.values())}


def check(config, key):
    """Check the part of a configuration that a dotted key is about."""
    paper = key.split(".")[0]
    if paper not in SCHEMAS:
        paper = "chapelle1999"
    config = {name: value for name, value in config.items() if name not in SCHEMAS or name == paper}
    complete_config(config | {"papers": config.get("papers") or [paper]}, {paper: SCHEMAS[paper]})


@pytest.fixture(params=["config", "paper"])
def preset(root, request):
    return yaml.safe_load((root / f"config/{request.param}.yaml").read_text())


def changed(preset, key, value):
    """A copy of a configuration with the dotted key set to a value (or removed, if the value is Ellipsis)."""
    config = copy.deepcopy(preset)
    *path, last = (int(name) if name.isdigit() else name for name in key.split("."))
    place = config
    for name in path:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return config


def test_presets_are_valid(preset):
    complete_config(preset, SCHEMAS)


def test_tables_of_the_readme_are_those_of_the_schemas():
    text = config_tables.README.read_text()
    assert config_tables.with_tables(text) == text
    for section in ("all papers", *SCHEMAS):
        assert f"<!-- keys of {section} -->" in text
        assert len(config_tables.table(section)) > 2


def test_keys_behind_references_and_in_lists_are_in_the_tables():
    keys = {line.split("`")[1] for paper in SCHEMAS for line in config_tables.table(paper)[2:]}
    assert {
        "wen2017.datasets[].seedings[].k",
        "sarafis2018.size.sizes[].jobs",
        "franc2008.sample.rbf",
    } <= keys
    assert not {"franc2008.sample", "bakir2004.figure3"} & keys


def test_section_of_a_paper_is_needed_if_the_paper_runs(preset):
    del preset["chapelle1999"]
    with pytest.raises(ValueError, match="'chapelle1999'"):
        complete_config(preset, SCHEMAS)
    preset["papers"] = ["wen2017"]
    complete_config(preset, SCHEMAS)


def test_schema_of_a_paper_says_what_its_section_may_hold(tmp_path):
    schema = tmp_path / "Lösung 2026" / "config.schema.yaml"  # a path with a space and an umlaut
    schema.parent.mkdir()
    schema.write_text(
        "{$schema: 'https://json-schema.org/draft/2020-12/schema', type: object, additionalProperties: false,"
        " required: [C, size], properties: {C: {$ref: '#/$defs/grid'}, size: {enum: [small]},"
        " seed: {type: integer, default: 3}}, $defs: {grid: {type: array, items: {exclusiveMinimum: 0}}}}"
    )
    for section, words in [
        ({"C": [-1], "size": "small"}, ["toy.C.0", "-1"]),
        ({"C": [1], "size": "large"}, ["toy.size", "'large'", "'small'"]),
        ({"C": [1]}, ["toy", "'size'"]),
        ({"D": 1}, ["'D'", "toy", "C, seed, size"]),
    ]:
        with pytest.raises(ValueError) as caught:
            check_config(section, schema, section="toy")
        assert [word for word in words if word not in str(caught.value)] == []
    section = {"C": [1], "size": "small"}
    check_config(section, schema, section="toy")
    assert section == {"C": [1], "size": "small", "seed": 3}


def test_defaults_fill_what_is_left_out_and_nothing_else(preset):
    keys = [
        "mirror",
        "figures",
        "folders",
        "compute",
        "full_scale",
        "franc2008.efficiency_test",
        "franc2008.as_published",
        "chapelle1999.width.parts",
    ]
    keys += ["papers", "verify", "causes", "baselines"]
    keys += ["franc2008.sample", "wen2017.sample", "sarafis2018.sample", "bakir2004.sample"]
    for key in keys:
        preset = changed(changed(preset, key, 5), key, ...)
    preset["timing"] = "exclusive"
    filled = copy.deepcopy(preset)
    complete_config(filled, SCHEMAS)
    assert (filled["mirror"], filled["timing"], filled["papers"]) == (None, "exclusive", None)
    assert filled["folders"] == {"results": "results", "resources": "resources", "logs": "logs"}
    assert filled["compute"] is True and filled["full_scale"] is False and filled["verify"] == {}
    assert filled["figures"] == {"width": None, "font": None}
    assert filled["causes"] == [] and filled["baselines"] == "full"
    sample = {"linear": 250, "rbf": 50, "dear": {}, "realisations": 3}
    assert filled["franc2008"]["sample"] == sample
    assert filled["franc2008"]["efficiency_test"] == 10 and filled["chapelle1999"]["width"]["parts"] == 1
    for key in keys:
        filled = changed(filled, key, ...)
    assert filled == preset


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.parent.name)
def test_no_definition_of_a_schema_is_idle(path):
    used = set(re.findall(r"#/\$defs/(\w+)", path.read_text()))
    assert used == {*TEXTS[path].get("$defs", {})} | (used & {"positive"})


def nodes(node, where=""):
    """All parts of a schema that are mappings, with their places."""
    if isinstance(node, list):
        for number, part in enumerate(node):
            yield from nodes(part, f"{where}.{number}")
    elif isinstance(node, dict):
        yield where, node
        for name, part in node.items():
            yield from nodes(part, f"{where}.{name}")


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.parent.name)
def test_schemas_limit_whole_numbers_and_keys_and_describe_properties(path):
    """A plan for 1e20 realisations took a minute to make, until the memory was full."""
    text = TEXTS[path]
    for where, node in nodes(text):
        kind = node.get("type", [])
        if isinstance(kind, str | list) and "integer" in kind:
            assert "maximum" in node, where
        if isinstance(node.get("properties"), dict) and where:
            assert node["additionalProperties"] is False, where
            for name, entry in node["properties"].items():
                described = config_tables.resolved(entry, text.get("$defs", {}))
                assert described.get("description"), f"{where}.{name}"
                assert ("default" in entry) <= (name not in node.get("required", [])), f"{where}.{name}"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "presett",
            "x",
            ["Unknown key 'presett'", "top level", "papers, preset, registry, timing, verify"],
        ),
        ("preset", "abc\n", ["preset", r"'abc\n'"]),
        ("folders", {"results": "a\nb"}, ["folders.results", r"'a\nb'"]),
        ("folders", {"logs": "{a}"}, ["folders.logs"]),
        ("folders", {"resources": ""}, ["folders.resources"]),
        ("franc2008.epsilon", 1, ["Unknown key 'epsilon'", "franc2008", "eps, figure1"]),
        ("franc2008.eps", ..., ["franc2008", "'eps'"]),
        ("franc2008.eps", -1, ["franc2008.eps", "-1", "minimum of 0"]),
        ("franc2008.eps", "small", ["franc2008.eps", "'small'", "number"]),
        ("franc2008.rbf.C", "all", ["franc2008.rbf.C", "'all'", "list of different numbers"]),
        ("franc2008.rbf.C", [1, 0], ["franc2008.rbf.C.1", "0"]),
        (
            "franc2008.rbf.gamma",
            {"first": 1},
            ["franc2008.rbf.gamma", "geometric progression"],
        ),
        (
            "franc2008.realisations",
            10**20,
            ["franc2008.realisations", "100000000000000000000", "maximum of 1000"],
        ),
        ("franc2008.realisations", 1e20, ["franc2008.realisations", "maximum of 1000"]),
        ("franc2008.realisations", 3.5, ["franc2008.realisations", "3.5"]),
        ("franc2008.realisations", True, ["franc2008.realisations", "True"]),
        ("franc2008.eps", float("nan"), ["franc2008.eps", "nan"]),
        (
            "franc2008.rbf.gamma",
            {"first": 1, "last": 2, "count": 10**9},
            ["franc2008.rbf.gamma.count", "1000000000", "1000"],
        ),
        ("wen2017.datasets.0.seedings.0.k", 10**9, ["wen2017.datasets.0.seedings.0.k", "1000000000"]),
        ("bakir2004.figure3.test_rows", 10**9, ["bakir2004.figure3.test_rows", "1000000000", "10000000"]),
        ("franc2008.datasets", [], ["franc2008.datasets", "[]"]),
        ("franc2008.methods", [], ["franc2008.methods", "[]"]),
        ("franc2008.methods", ["retrain"], ["franc2008.methods.0", "'retrain'", "'unlearn'"]),
        ("franc2008.figure1.log10_eps", [-9], ["log10_eps.0", "-9", "-8"]),
        ("chapelle1999.width.parts", 0, ["chapelle1999.width.parts", "0", "minimum of 1"]),
        ("chapelle1999.width.log_sigma", [50], ["log_sigma.0", "50", "maximum of 20"]),
        ("chapelle1999.C", ..., ["chapelle1999", "'C'"]),
        ("wen2017.libsvm_budget", 0, ["wen2017.libsvm_budget", "0"]),
        ("wen2017.datasets", [], ["wen2017.datasets", "[]"]),
        ("wen2017.cached.seedings", ["warm"], ["seedings.0", "'warm'", "'cold', 'ato'"]),
        ("sarafis2018.folds", 1, ["sarafis2018.folds", "1", "minimum of 2"]),
        ("sarafis2018.class_weights.log2_C", [40], ["log2_C.0", "40", "maximum of 30"]),
        ("sarafis2018.class_weights.datasets", [], ["class_weights.datasets", "[]"]),
        (
            "sarafis2018.class_weights.datasets",
            [{"name": "wdbc", "jobs": 1, "loo_every": -1, "libsvm_every": 1, "qp_every": 0}],
            ["datasets.0.loo_every", "-1"],
        ),
        ("sarafis2018.size.sizes", [], ["size.sizes", "[]"]),
        ("sarafis2018.figures.figure4", ..., ["sarafis2018.figures", "'figure4'"]),
        ("bakir2004.figure3.sizes", [5], ["bakir2004.figure3.sizes.0", "5", "minimum of 10"]),
        ("bakir2004.figure4.scale", "unit", ["figure4.scale", "'unit'", "'none', 'largest'"]),
        ("bakir2004.growth.methods", {"nu_svm": 5}, ["Unknown key 'nu_svm'", "cross_training"]),
        ("comparison.folds", [1], ["comparison.folds.0", "1", "minimum of 2"]),
        ("comparison.datasets", [{"name": "banana"}], ["datasets.0", "'realisations'"]),
        ("timing", "quiet", ["timing", "'quiet'", "'shared', 'exclusive'"]),
        ("preset", "My Preset", ["preset", "'My Preset'", "lower-case"]),
        # not what was written, such as 007 or 2026_11
        ("preset", 7, ["preset", "7", "quote"]),
        ("folders", {"results": 2026}, ["folders.results", "2026", "quote"]),
        ("chapelle1999.width.dataset", 5.5, ["chapelle1999.width.dataset", "5.5", "quote"]),
    ],
)
def test_mistakes_give_a_sentence(preset, key, value, words):
    with pytest.raises(ValueError) as caught:
        check(changed(preset, key, value), key)
    message = str(caught.value)
    assert "\n" not in message and message.endswith(".")
    assert [word for word in words if word not in message] == []


@pytest.mark.parametrize(
    ("words", "key", "value"),
    [
        (["compute=false"], "compute", False),
        (["papers=[franc2008, wen2017]"], "papers", ["franc2008", "wen2017"]),
        (["mirror="], "mirror", None),
        (["franc2008={realisations: 3, eps: 1e-4}"], "franc2008.realisations", 3),
        (["franc2008={realisations: 3, eps: 1e-4}"], "franc2008.eps", 1e-4),
        (["franc2008={max_iter: null}"], "franc2008.max_iter", None),
        (["chapelle1999={width: {log_sigma: [0, 1.5]}}"], "chapelle1999.width.log_sigma", [0, 1.5]),
        (["folders={results: /scratch/mine}"], "folders.results", "/scratch/mine"),
        (["folders={results: ~/mine}"], "folders.results", os.path.expanduser("~/mine")),
        (["preset=no"], "preset", "no"),
        (["preset=2026-10-10"], "preset", "2026-10-10"),
    ],
)
def test_values_of_the_command_line_mean_what_they_mean_in_a_file(preset, words, key, value):
    update_config(preset, parse_config(words))
    complete_config(preset, SCHEMAS)
    result = preset
    for part in key.split("."):
        result = result[part]
    assert result == value and type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("papers=franc2008", ["papers", "'franc2008'"]),
        ("franc2008={realisations: few}", ["franc2008.realisations", "'few'"]),
        ("franc2008={realisations: yes}", ["franc2008.realisations", "'yes'"]),
        ("franc2008={realisations: 0}", ["franc2008.realisations", "0 is", "minimum of 1"]),
        ("chapelle1999={width: {log_sigma: [50]}}", ["width.log_sigma.0", "50 is", "maximum of 20"]),
        ("bakir2004={figure1: {overlaps: [2]}}", ["figure1.overlaps.0", "2 is", "maximum of 1"]),
        ("preset=2026_11", ["preset", "202611", "quote"]),
        ("preset=007", ["preset", "7", "quote"]),
        ("preset=1e3", ["preset", "1000.0", "quote"]),
    ],
)
def test_values_of_the_command_line_that_mean_nothing_are_named(preset, text, words):
    update_config(preset, parse_config([text]))
    with pytest.raises(ValueError) as caught:
        complete_config(preset, SCHEMAS)
    assert [word for word in words if word not in str(caught.value)] == []


def test_whole_numbers_may_have_a_point(preset):
    preset["franc2008"]["realisations"] = 3.0
    complete_config(preset, SCHEMAS)
    assert type(preset["franc2008"]["realisations"]) is int


def test_unknown_data_set_lists_the_known_ones():
    check_datasets({"franc2008.datasets": ["heart"]}, {"heart": None, "banana": None})
    with pytest.raises(
        ValueError, match=r"'hart' in the configuration's a\.b; the known ones are: banana, heart\."
    ):
        check_datasets({"a.b": ["heart", "hart"]}, {"heart": None, "banana": None})


def test_grids():
    assert grid([0.01, 1]) == [0.01, 1.0]
    assert grid({"first": 3, "last": 5, "count": 1}) == [3.0]
    values = grid({"first": 1, "last": 500, "count": 8})
    assert values[0] == 1 and values[-1] == 500 and len(values) == 8
    assert values[3] == pytest.approx(500 ** (3 / 7), rel=1e-14)


def test_paper_grids_are_those_of_the_paper(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["franc2008"]
    assert grid(settings["linear"]["C"]) == [0.01, 0.1, 1, 10, 100]
    assert grid(settings["rbf"]["C"]) == pytest.approx([500 ** (i / 7) for i in range(8)])
    assert grid(settings["rbf"]["gamma"]) == pytest.approx([2 ** (-11 * i / 7) for i in range(8)])
    assert settings["eps"] == 0.001 and settings["efficiency_test"] == 10
    assert (settings["realisations"], settings["test_realisations"]) == (5, 100)


def test_paper_widths_and_C_are_those_of_the_paper(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["chapelle1999"]
    assert (settings["width"]["parts"], settings["width"]["realisations"]) == (23, 23)
    assert settings["width"]["log_sigma"] == [-6 + 0.5 * i for i in range(25)]
    assert settings["C"]["log_C"] == [-2 + 0.5 * i for i in range(29)]
    assert (settings["C"]["gamma"], settings["C"]["realisations"]) == (1 / 50, 100)


def test_paper_weights_are_those_of_the_paper(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["sarafis2018"]
    assert settings["class_weights"]["log2_C"] == [-6 + 0.5 * i for i in range(33)]
    part = settings["instance_weights"]
    assert part["A"] == list(range(1, 11)) and part["log2_C"] == list(range(-6, 11))
    assert part["B"] == pytest.approx([0.1 * i for i in range(10)])
    assert [size["log2_m"] for size in settings["size"]["sizes"]] == list(range(7, 15))
    assert [size["every"] for size in settings["size"]["sizes"]] == [1] * 5 + [4] * 3
    published = read_published(root / "workflow/papers/sarafis2018/printed.csv")
    run = [*settings["class_weights"]["datasets"], *part["datasets"]]
    assert set(published["dataset"]) == {entry["name"] for entry in run}


def test_small_preset_has_data_sets_as_the_large_one_has_them(root):
    def without_large_sets(entries):
        return [entry for entry in entries if entry["name"] not in ("mnist", "webdata")]

    large, small = (
        yaml.safe_load((root / f"config/{name}.yaml").read_text())["wen2017"]
        for name in ("paper", "paper-8gb")
    )
    assert small["datasets"] == without_large_sets(large["datasets"])
    assert small["variants"]["datasets"] == without_large_sets(large["variants"]["datasets"])


@pytest.mark.parametrize(
    ("names", "full_scale"), [((), False), (("paper",), True), (("paper", "paper-8gb"), True)]
)
def test_claims_on_the_full_scale_are_tested_where_it_is_run(root, names, full_scale):
    *_, config = planned(*(root / f"config/{name}.yaml" for name in names))
    assert config["full_scale"] is full_scale


def test_an_entry_of_an_object_is_taken_out_by_null(tmp_path):
    """And it stays out where the configuration that was used is laid over the demo again."""
    path = tmp_path / "less.yaml"
    less = {
        "preset": "less",
        "baselines": "sampled",
        "bakir2004": {
            "growth": {"methods": {"svm": 400, "cross_training": None, "multiedit_condense": None}}
        },
        "franc2008": {"sample": {"dear": {"titanic-table": None}}},
        "wen2017": {"sample": {"folds": {"cold": 2, "ato": None}}},
    }
    path.write_text(yaml.safe_dump(less))
    for _ in range(2):
        papers, _, config = planned(path)
        settings = {run.name: run for run in papers["bakir2004"].plan.runs}["growth"].settings
        assert settings["methods"] == {"svm": 400}
        loo = {run.name: run for run in papers["franc2008"].plan.runs}["loo"]
        linear = [loo.settings_of(name)["sample"] for name in loo.cells if name.endswith("linear")]
        assert {*linear} == {250}
        seeds = {run.name: run for run in papers["wen2017"].plan.runs}["seeds"]
        assert seeds.settings_of("wdbc/published/k-10")["sample"] == {"cold": 2}
        path.write_text(yaml.safe_dump(config))
    less["bakir2004"]["growth"]["methods"]["svm"] = None
    path.write_text(yaml.safe_dump(less))
    with pytest.raises(ValueError, match=r"bakir2004\.growth\.methods"):
        planned(path)


@pytest.mark.parametrize("name", ["config", "paper", "paper-8gb", "verify"])
def test_all_presets_but_that_of_the_committed_rows_compute_theirs(root, name):
    settings = yaml.safe_load((root / f"config/{name}.yaml").read_text())
    assert settings.get("compute", True) is (settings["preset"] != "paper")


def test_models_of_the_comparison_are_those_of_franc(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())
    for kernel in ("linear", "rbf"):
        assert settings["comparison"][kernel] == settings["franc2008"][kernel]


def test_sizes_of_table_1_are_those_of_the_paper(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["bakir2004"]
    published = read_published(root / "workflow/papers/bakir2004/printed.csv")
    sizes = published[published["method"].isna()].pivot(
        index=["dataset", "setting"], columns="metric", values="value"
    )
    sets = settings["table1"]["sets"]
    assert len(sets) == len(sizes) == 8
    for entry in sets:
        paper = sizes.loc[entry["dataset"], f"train={entry['train']}"]
        assert (entry["train"], entry["test"]) == (paper["train_rows"], paper["test_rows"])
        assert (entry["subsets"], entry["subset_size"]) == (paper["subsets"], paper["subset_size"])
    assert max(settings["figure3"]["sizes"]) == 8000 and settings["figure3"]["runs"] == 10
    assert settings["figure4"]["noise"] == [0, 0.05, 0.1, 0.15] and settings["figure4"]["gamma"] == 0.005


@pytest.mark.parametrize(
    ("stored", "refused"),
    [(None, False), ({"full_scale": True}, True), ({"full_scale": False}, False), ({}, True)],
    ids=["no results", "full scale", "another scale", "older than the key"],
)
def test_rows_of_full_scale_are_not_computed_over_by_another_scale(tmp_path, stored, refused):
    """`--config preset=paper` of the demo once planned to write its rows over the committed ones."""
    config = {"preset": "paper", "folders": {"results": str(tmp_path)}, "compute": True, "full_scale": False}
    if stored is not None:
        (tmp_path / "paper").mkdir()
        (tmp_path / "paper/config.yaml").write_text(yaml.safe_dump(stored))
    with pytest.raises(ValueError, match=r"paper has rows.*another preset") if refused else nullcontext():
        check_scale(config)
    check_scale(config | {"compute": False})
    check_scale(config | {"full_scale": True})


def test_a_key_that_is_there_twice_is_refused(checkout):
    (checkout.folder / "twice.yaml").write_text("preset: mine\npapers: [chapelle1999]\npreset: yours\n")
    done = checkout.snakemake("-n", "--cores", "1", "--configfile", "twice.yaml")
    output = done.stdout + done.stderr
    assert done.returncode == 1 and "twice.yaml is not valid YAML" in output
    assert "'preset' is there twice, in lines 1 and 3" in output
