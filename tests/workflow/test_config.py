"""The configuration: presets, schema, messages, documentation."""

import copy

import pytest
import yaml
from lib.config import check_config, check_datasets, grid
from lib.published import read_published


@pytest.fixture
def schema(root):
    return yaml.safe_load((root / "workflow/schemas/config.schema.yaml").read_text())


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
    *path, last = key.split(".")
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
            ["Unknown key 'presett'", "top level", "mirror, preset, redraw, registry, sarafis2018, timing"],
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
    own = settings["instance_weights"]
    assert own["A"] == list(range(1, 11)) and own["log2_C"] == list(range(-6, 11))
    assert own["B"] == pytest.approx([0.1 * i for i in range(10)])
    assert [size["log2_m"] for size in settings["size"]["sizes"]] == list(range(7, 15))
    assert [size["every"] for size in settings["size"]["sizes"]] == [1] * 5 + [4] * 3
    published = read_published(root / "workflow/papers/sarafis2018/published.csv")
    run = [*settings["class_weights"]["datasets"], *own["datasets"]]
    assert set(published["dataset"]) == {entry["name"] for entry in run}


def test_models_of_the_comparison_are_those_of_franc(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())
    for kernel in ("linear", "rbf"):
        assert settings["comparison"][kernel] == settings["franc2008"][kernel]


def test_sizes_of_table_1_are_those_of_the_paper(root):
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["bakir2004"]
    published = read_published(root / "workflow/papers/bakir2004/published.csv")
    sizes = published[published["method"].isna()].pivot(
        index=["dataset", "setting"], columns="metric", values="value"
    )
    sets = settings["table1"]["sets"]
    assert len(sets) == len(sizes) == 8
    for own in sets:
        paper = sizes.loc[own["dataset"], f"train={own['train']}"]
        assert (own["train"], own["test"]) == (paper["train_rows"], paper["test_rows"])
        assert (own["subsets"], own["subset_size"]) == (paper["subsets"], paper["subset_size"])
    assert max(settings["figure3"]["sizes"]) == 8000 and settings["figure3"]["runs"] == 10
    assert settings["figure4"]["noise"] == [0, 0.05, 0.1, 0.15] and settings["figure4"]["gamma"] == 0.005
