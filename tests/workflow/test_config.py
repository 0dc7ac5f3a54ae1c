"""The configuration: presets, schema, messages, documentation."""

import copy
import re
import shutil

import pytest
import yaml
from lib.config import check_config, check_datasets, fill_defaults, grid, load_schema, read_texts
from lib.tolerances import read_published
from snakemake.cli import parse_config
from snakemake.utils import update_config


@pytest.fixture
def schema():
    return load_schema()


@pytest.fixture(params=["config", "paper"])
def preset(root, request):
    return yaml.safe_load((root / f"config/{request.param}.yaml").read_text())


def properties(schema, prefix=""):
    """Dotted names of all keys that a schema defines."""
    for name, value in schema["properties"].items():
        if "properties" in value:
            yield from properties(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


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


def test_presets_are_valid(preset, schema):
    check_config(preset, schema)


def test_every_key_is_documented(root, schema):
    text = (root / "config/README.md").read_text()
    missing = [key for key in properties(schema) if f"| `{key}` |" not in text]
    assert missing == []


def keys_of_items(schema):
    """Keys of the objects in lists."""
    for value in schema.get("properties", {}).values():
        yield from value.get("items", {}).get("properties", {})
        yield from keys_of_items(value)
        yield from keys_of_items(value.get("items", {}))


def test_every_documented_key_is_in_a_schema(root, schema):
    known, result = {*properties(schema)}, 0
    for section in (root / "config/README.md").read_text().split("\n## ")[1:]:
        paper = re.match(r"`(\w+)`", section)
        items_table = {*keys_of_items(schema["properties"][paper[1]])} if paper else set()
        for table in re.findall(r"(?m)^\| key \|.*\n\|.*\n((?:\|.*\n)+)", section):
            keys = re.findall(r"(?m)^\| `(.*?)` \|", table)
            assert [key for key in keys if key not in known | items_table] == []
            assert len(keys) == table.count("\n")
            result += len(keys)
    assert result >= len(known)


@pytest.fixture
def workflow(root, tmp_path):
    """A folder with nothing but schemas."""
    for path in (root / "workflow").glob("**/*schema.yaml"):
        copied = tmp_path / path.relative_to(root / "workflow")
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    return tmp_path


def test_the_section_of_a_paper_is_found_by_its_folder(workflow, preset):
    check_config(preset, load_schema(workflow))
    shutil.rmtree(workflow / "papers/chapelle1999")
    with pytest.raises(
        ValueError, match=r"^Unknown key 'chapelle1999' in the configuration's top level; the"
    ):
        check_config(preset, load_schema(workflow))
    del preset["chapelle1999"]
    check_config(preset, load_schema(workflow))

    (workflow / "papers/toy2026").mkdir()
    toy = workflow / "papers/toy2026/schema.yaml"
    toy.write_text(
        "{description: the settings of a toy, properties: {"
        "C: {$ref: '#/$defs/grid'},"
        "size: {description: small, $ref: '#/$defs/toy_size'},"
        "seed: {description: a seed, type: integer, default: 3}},"
        "$defs: {toy_size: {description: small, enum: [small]}}}"
    )
    with pytest.raises(ValueError, match=r"^The configuration's top level lacks the key 'toy2026'\.$"):
        check_config(preset, load_schema(workflow))
    for section, sentence in [
        ({"C": [1], "size": "small"}, ""),
        ({"C": [-1]}, "toy2026.C is [-1], which is not valid; wanted: a list of different numbers above 0"),
        ({"size": "large"}, "toy2026.size is 'large'; the valid values are: small."),
        ({"D": 1}, "Unknown key 'D' in the configuration's toy2026; the valid keys are: C, seed, size."),
    ]:
        config = {**preset, "toy2026": section}
        if sentence:
            with pytest.raises(ValueError, match=re.escape(sentence)):
                check_config(config, load_schema(workflow))
        else:
            check_config(config, load_schema(workflow))
            fill_defaults(config, load_schema(workflow))
            assert section == {"C": [1], "size": "small", "seed": 3}

    toy.write_text(toy.read_text().replace("toy_size", "grid"))
    with pytest.raises(
        ValueError, match=r"^The definition 'grid' in .*toy2026/schema\.yaml is there already;"
    ):
        load_schema(workflow)


def test_defaults_fill_what_is_left_out_and_nothing_else(preset, schema):
    keys = [
        "mirror",
        "figures",
        "folders",
        "compute",
        "franc2008.efficiency_test",
        "chapelle1999.width.parts",
    ]
    keys += ["papers", "verify", "causes", "baselines"]
    keys += ["franc2008.sample", "wen2017.sample", "sarafis2018.sample", "bakir2004.sample"]
    for key in keys:
        preset = changed(changed(preset, key, 5), key, ...)
    preset["timing"] = "exclusive"
    check_config(preset, schema)
    filled = copy.deepcopy(preset)
    fill_defaults(filled, schema)
    assert (filled["mirror"], filled["timing"], filled["papers"]) == (None, "exclusive", None)
    assert filled["folders"] == {"results": "results", "resources": "resources", "logs": "logs"}
    assert filled["compute"] is True and filled["verify"] is None
    assert filled["figures"] == {"width": None, "font": None}
    assert filled["causes"] == [] and filled["baselines"] == "full"
    sample = {"linear": 250, "rbf": 50, "dear": [], "linear_dear": 50, "realisations": 3}
    assert filled["franc2008"]["sample"] == sample
    assert filled["franc2008"]["efficiency_test"] == 10 and filled["chapelle1999"]["width"]["parts"] == 1
    for key in keys:
        filled = changed(filled, key, ...)
    assert filled == preset


def test_no_definition_of_the_schemas_is_idle(root):
    texts = [path.read_text() for path in (root / "workflow").glob("**/*schema.yaml")]
    used = {name for text in texts for name in re.findall(r"#/\$defs/(\w+)", text)}
    assert used == {name for text in texts for name in yaml.safe_load(text).get("$defs", {})}


def test_every_whole_number_has_a_maximum(schema):
    """Of realisations: 1e20 a plan was made for a minute, until the memory was full."""

    def unlimited(node, where):
        if isinstance(node, list):
            for number, part in enumerate(node):
                yield from unlimited(part, f"{where}.{number}")
        elif isinstance(node, dict):
            if "integer" in node.get("type", []) and "maximum" not in node:
                yield where
            for name, part in node.items():
                yield from unlimited(part, f"{where}.{name}")

    assert list(unlimited(schema, "")) == []


def test_objects_have_no_other_keys_and_lack_none_but_those_with_defaults(schema):
    """What the files of schemas leave unsaid."""
    wen = schema["properties"]["wen2017"]
    assert not wen["additionalProperties"] and wen["type"] == "object"
    assert set(wen["properties"]) - set(wen["required"]) == {"max_iter", "sample"}
    cells = wen["properties"]["datasets"]["items"]["properties"]["cells"]
    assert set(cells["properties"]) - set(cells["required"]) == {"unlearn"}
    assert "$ref" not in str(schema)
    # what stands beside a reference comes before the definition
    rounds = wen["properties"]["cached"]["properties"]["rounds"]
    assert rounds["minimum"] == 2 and rounds["description"].startswith(
        "the number of folds (2 or more) to run"
    )


def test_every_property_has_a_description(schema):
    def undescribed(node, where=""):
        for name, value in node.get("properties", {}).items():
            if "description" not in value:
                yield f"{where}{name}"
            yield from undescribed(value, f"{where}{name}.")

    assert list(undescribed(schema)) == []


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        (
            "presett",
            "x",
            [
                "Unknown key 'presett'",
                "top level",
                "folders, franc2008, job, mirror, papers, preset, registry, sarafis2018, timing, verify",
            ],
        ),
        ("franc2008.epsilon", 1, ["Unknown key 'epsilon'", "franc2008", "eps, figure1"]),
        ("franc2008.eps", ..., ["franc2008 lacks the key 'eps'"]),
        ("franc2008.eps", -1, ["franc2008.eps is -1", "above 0"]),
        ("franc2008.eps", "small", ["franc2008.eps is 'small'", "above 0"]),
        ("franc2008.rbf.C", "all", ["franc2008.rbf.C is 'all'", "list of different numbers"]),
        ("franc2008.rbf.C", [1, 0], ["franc2008.rbf.C is [1, 0]", "above 0"]),
        (
            "franc2008.rbf.gamma",
            {"first": 1},
            ["gamma is {'first': 1}", "geometric progression"],
        ),
        ("franc2008.realisations", 10**20, ["realisations is 100000000000000000000", "at most 1,000"]),
        ("franc2008.realisations", 1e20, ["realisations is 1e+20", "1 or more"]),
        ("franc2008.realisations", 3.0, ["realisations is 3.0", "1 or more"]),
        ("franc2008.realisations", True, ["realisations is True", "1 or more"]),
        (
            "franc2008.rbf.gamma",
            {"first": 1, "last": 2, "count": 10**9},
            ["'count': 1000000000", "at most 1,000 values"],
        ),
        ("wen2017.datasets.0.seedings.0.k", 10**9, ["k is 1000000000", "2 to 10,000"]),
        ("bakir2004.figure3.test_rows", 10**9, ["test_rows is 1000000000", "at most 10,000,000"]),
        ("franc2008.datasets", [], ["franc2008.datasets is []", "one or more"]),
        ("franc2008.methods", [], ["franc2008.methods is []", "one or more of unlearn, standard"]),
        ("franc2008.methods", ["retrain"], ["methods.0 is 'retrain'", "unlearn, standard, proposed"]),
        ("franc2008.figure1.log10_eps", [-9], ["log10_eps.0 is -9", "from -8 to 1"]),
        ("chapelle1999.width.parts", 0, ["chapelle1999.width.parts is 0", "1 or more"]),
        ("chapelle1999.width.log_sigma", [50], ["log_sigma.0 is 50", "from -20 to 20"]),
        ("chapelle1999.C", ..., ["chapelle1999 lacks the key 'C'"]),
        ("wen2017.libsvm_budget", 0, ["wen2017.libsvm_budget is 0", "above 0"]),
        ("wen2017.datasets", [], ["wen2017.datasets is []", "one or more data sets"]),
        ("wen2017.cached.seedings", ["warm"], ["seedings.0 is 'warm'", "cold, ato, mir, sir, avg, top"]),
        ("sarafis2018.folds", 1, ["sarafis2018.folds is 1", "2 or more"]),
        ("sarafis2018.class_weights.log2_C", [40], ["log2_C.0 is 40", "from -30 to 30"]),
        ("sarafis2018.class_weights.datasets", [], ["class_weights.datasets is []", "name, jobs, loo_every"]),
        (
            "sarafis2018.class_weights.datasets",
            [{"name": "wdbc", "jobs": 1, "loo_every": -1, "libsvm_every": 1}],
            ["datasets.0.loo_every is -1", "every n-th value"],
        ),
        ("sarafis2018.size.sizes", [], ["size.sizes is []", "log2_m"]),
        ("sarafis2018.figures.figure4", ..., ["sarafis2018.figures lacks the key 'figure4'"]),
        ("bakir2004.figure3.sizes", [5], ["bakir2004.figure3.sizes.0 is 5", "10 or more"]),
        ("bakir2004.figure4.scale", "unit", ["figure4.scale is 'unit'", "none, largest, range, deviation"]),
        ("bakir2004.growth.methods", {"nu_svm": 5}, ["Unknown key 'nu_svm'", "cross_training"]),
        ("comparison.folds", [1], ["comparison.folds.0 is 1", "2 or more"]),
        ("comparison.datasets", [{"name": "banana"}], ["datasets.0 lacks the key 'realisations'"]),
        ("timing", "quiet", ["timing is 'quiet'", "shared, exclusive"]),
        ("preset", "My Preset", ["preset is 'My Preset'", "lower-case"]),
    ],
)
def test_mistakes_give_a_sentence(preset, schema, key, value, words):
    with pytest.raises(ValueError) as caught:
        check_config(changed(preset, key, value), schema)
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
    ],
)
def test_values_of_the_command_line_mean_what_they_mean_in_a_file(preset, schema, words, key, value):
    update_config(preset, parse_config(words))
    read_texts(preset, schema)
    check_config(preset, schema)
    result = preset
    for part in key.split("."):
        result = result[part]
    assert result == value and type(result) is type(value)


def test_values_of_the_command_line_that_mean_nothing_are_named(preset, schema):
    update_config(preset, parse_config(["papers=franc2008", "franc2008={realisations: few}"]))
    read_texts(preset, schema)
    with pytest.raises(ValueError) as caught:
        check_config(preset, schema)
    few, papers = sorted(str(caught.value).splitlines())
    assert "realisations is 'few'" in few and "papers is 'franc2008', which is not valid" in papers


def test_every_mistake_is_reported(preset, schema):
    config = changed(changed(preset, "timing", "quiet"), "franc2008.realisations", 0)
    with pytest.raises(ValueError) as caught:
        check_config(config, schema)
    assert len(str(caught.value).splitlines()) == 2


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
