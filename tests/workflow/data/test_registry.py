"""The registry: every mistake is named with its entry and key."""

import copy

import pytest
from data.registry import MOST_BYTES, load_registry

IDA = {
    "banana",
    "breast-cancer",
    "diabetis",
    "flare-solar",
    "german",
    "heart",
    "image",
    "ringnorm",
    "splice",
    "thyroid",
    "titanic",
    "twonorm",
    "waveform",
}


def test_ida_sets_have_both_sources_and_the_published_realisations(registry):
    for name in IDA:
        entry = registry[name]
        assert [source.format for source in entry.sources] == ["mat", "table"]
        assert entry.splits.realisations == (20 if name in ("image", "splice") else 100)
        assert entry.splits.train + entry.splits.test == entry.rows
        assert all(sum(source.classes.values()) == entry.rows for source in entry.sources)


def test_every_source_can_be_had_upstream_or_names_the_page(registry):
    mirror_only = {
        name
        for name, entry in registry.items()
        if entry.sources and not any(all(file.urls for file in source.files) for source in entry.sources)
    }
    assert mirror_only == {"parkinson"}
    assert registry["parkinson"].homepage


def test_the_size_of_every_file_and_archive_is_stated(registry):
    files = [file for entry in registry.values() for source in entry.sources for file in source.files]
    assert max(file.bytes for file in files) <= MOST_BYTES / 2
    archives = [url for file in files for url in file.urls if url.member is not None]
    assert archives and max(url.bytes for url in archives) <= MOST_BYTES / 2


def test_a_size_that_is_not_stated_is_bounded(as_registry, small_set):
    (file,) = as_registry(small=small_set[0])["small"].sources[0].files
    assert file.bytes == MOST_BYTES == 2**28


def test_updrs_and_call_duration_are_no_features(registry):
    (speech,) = registry["parkinson"].sources
    assert speech.options["extra"] == {"subject": 0, "updrs": 27}
    assert speech.options["features"] == ["1-26"]
    (bank,) = registry["bank-marketing"].sources
    assert "duration" not in str(bank.options["features"])


def test_unknown_data_set_lists_the_known_ones(registry):
    with pytest.raises(ValueError, match=r"unknown data set 'bananas'.*\bbanana, .*webdata"):
        registry["bananas"]


def test_small_set_is_well_formed(as_registry, small_set):
    entry = as_registry(small=small_set[0])["small"]
    assert (entry.rows, entry.features, entry.splits.seed) == (4, 2, 5)
    assert entry.sources[0].files[0].name == "small.csv"


def put(*keys, value=None):
    """A change of an entry: set the value at the keys, or delete it."""

    def change(entry):
        *outer, last = keys
        for key in outer:
            entry = entry[key]
        if value is None:
            del entry[last]
        else:
            entry[last] = value

    return change


FILE = ("sources", 0, "files", "data")
OPTIONS = ("sources", 0, "options")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("rows"), "the key 'rows' is missing"),
        (put("rows", value="4"), "rows must be of type int, found '4'"),
        (put("rows", value=True), "rows must be of type int, found True"),
        (put("rows", value=-4), "rows must be at least 1, found -4"),
        (put("rows", value=5), "do not add up to 5 rows"),
        (put("colour", value="red"), "unknown key 'colour'"),
        (put("classes", value={1: 4}), "classes must give the number of rows of -1 and of 1"),
        (put("labels", value={"a": 1, "b": 1}), "labels must map the labels in the files to -1 and"),
        (put("labels", value={"a": 1, "b": 0}), "labels must map the labels in the files to -1 and"),
        (put("splits"), "either 'splits' or a test part"),
        (put("classes", value={-1: -2, 1: 6}), "classes must give the number of rows of -1 and of 1"),
        (put("classes", value={-1: True, 1: 3}), "classes must give the number of rows of -1 and of 1"),
        (put("labels", value={"a": [1], "b": 1}), "labels must map the labels in the files to -1 and"),
        (put("labels", value={"a": True, "b": -1}), "labels must map the labels in the files to -1 and"),
        (put("labels", value={float("nan"): -1, 1: 1}), "the label nan"),
        (put("labels", value={True: -1, False: 1}), "a label as (True|False)"),
        (put("splits", "seed", value=10**26), "seed must be at most 9223372036854775807, found 10+"),
        (put(*OPTIONS, "delimiter", value="ab"), "the option delimiter cannot be 'ab'"),
        (put(*OPTIONS, "delimiter", value=""), "the option delimiter cannot be ''"),
        (put(*OPTIONS, "delimiter", value="\n"), r"the option delimiter cannot be '\\n'"),
        (put(*OPTIONS, "features", value=[]), "features name no column"),
        (put(*OPTIONS, "features", value=["0-99999999999"]), "'features' is 2, .* lists 100000000000"),
        (put(*OPTIONS, "features", value=["9-1"]), "the range '9-1' runs backwards"),
        (put(*OPTIONS, "features", value=["a", "a"]), "features name 'a' twice"),
        (put(*OPTIONS, "features", value=[0]), "'features' is 2, but the source 'small' lists 1"),
        (put("rows_test", value=3), "'rows_test' is 3 but the test files say otherwise"),
        (put("splits", "train", value=3), "splits of 3 \\+ 2 rows cannot be drawn from 4"),
        (put("splits", "seed", value=-1), "seed must not be negative"),
        (put("splits", value={"train": 2, "test": 2, "by": "who", "train_values": [1]}), "splits by 'who'"),
        (put("sources"), "exactly one of the keys 'sources', 'generator' and 'bundled'"),
        (put("bundled", value="iris"), "exactly one of the keys 'sources', 'generator' and 'bundled'"),
        (put("bundled", value="moon"), "bundled must be one of .*iris"),
        (put("generator", value={"name": "moon", "seed": 1}), "name must be one of .*twonorm"),
        (put("sparse", value="yes"), "sparse must be of type bool"),
        (
            put("sources", 0, "format", value="arff"),
            "source 1: format must be one of .*libsvm.*, found 'arff'",
        ),
        (put("sources", 0, "folder", value="../small"), "folder must be a plain file name"),
        (put("sources", 0, "options", "glue", value=1), "options cannot have 'glue'"),
        (put("sources", 0, "options", "header", value="yes"), "the option header cannot be 'yes'"),
        (put("sources", 0, "options", "features", value=[{"name": 1}]), "features cannot have the column"),
        (put("sources", 0, "format", value="mat"), "options must have 'struct'"),
        (put("sources", 0, "format", value="idx"), "files must have 'labels'"),
        (put("sources", 0, "files", "spare", value={"name": "x", "sha256": "0" * 64}), "cannot have 'spare'"),
        (put("sources", 0, "files", "test_labels", value={"name": "x", "sha256": "0" * 64}), "'test_data'"),
        (put("sources", 0, "files", "test_data", value={"name": "x", "sha256": "0" * 64}), "rows_test"),
        (put(*FILE, "sha256"), "exactly one of the keys 'sha256' and 'sha256_gz'"),
        (put(*FILE, "sha256", value="abc"), "sha256 must be 64 hexadecimal digits, found 'abc'"),
        (put(*FILE, "bytes", value=0), "bytes must be at least 1, found 0"),
        (put(*FILE, "bytes", value="2 MB"), "bytes must be of type int, found '2 MB'"),
        (
            put(*FILE, "urls", value=[{"zip": "http://x", "member": "y", "bytes": -1}]),
            "bytes must be at least 1, found -1",
        ),
        (put(*FILE, "name", value="a/b"), "name must be a plain file name"),
        (put(*FILE, "urls", value=["ftp://x"]), "must start with http"),
        (put(*FILE, "urls", value=[{"zip": "http://x"}]), "the key 'member' is missing"),
    ],
)
def test_mistakes(as_registry, small_set, change, sentence):
    entry = copy.deepcopy(small_set[0])
    change(entry)
    with pytest.raises(ValueError, match=f"data set 'small' in the registry.*{sentence}"):
        as_registry(small=entry)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "cannot be read"),
        ("a: [", "not valid YAML"),
        ("- a", "must be a mapping"),
        ("", "must be a mapping"),
        ("a: 1", "expected a mapping"),
        ("a/b: {}", "the name may hold"),
        ("a_b: {}", "data set 'a_b' .*: the name may hold"),
        ("UP: {}", "data set 'UP' .*: the name may hold"),
        ("a.b: {}", "data set 'a.b' .*: the name may hold"),
        ('"a\\n": {}', "the name may hold"),
        ("no: {}", "data set False .* quotes"),
        ("~: {}", "data set None .* quotes"),
        ("7: {}", "data set 7 .* quotes"),
        ("a: {}\nb: {}\na: {}", "the key 'a' is there twice, in lines 1 and 3"),
        ("a:\n  rows: 1\n  rows: 2", "the key 'rows' is there twice, in lines 2 and 3"),
        ("a: " + "[" * 30_000 + "]" * 30_000, "nested more than"),
        ("a: &a [*a]", "expected a mapping"),
        ("\x00", "not valid YAML"),
    ],
)
def test_not_a_registry(tmp_path, content, sentence):
    path = tmp_path / "registry.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ValueError, match=sentence):
        load_registry(path)


def test_names_of_data_sets_are_those_that_the_rules_take(root):
    from data.registry import NAME

    common = (root / "workflow/rules/common.smk").read_text()
    assert "dataset=NAME.pattern" in common and not NAME.fullmatch("a_b")


def test_keys_of_an_anchor_may_be_merged_and_replaced(tmp_path):
    from data.yaml_file import read_yaml

    path = tmp_path / "file.yaml"
    path.write_text("base: &base {a: 1, b: 2}\nchanged:\n  <<: *base\n  b: 3\nagain: *base\n")
    content = read_yaml(path)
    assert content["changed"] == {"a": 1, "b": 3} and content["again"] == {"a": 1, "b": 2}
    path.write_bytes("ü: 1".encode("utf-16"))
    with pytest.raises(ValueError, match=str(path)):
        read_yaml(path)
