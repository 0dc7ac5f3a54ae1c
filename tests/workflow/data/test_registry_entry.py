"""Entries of the registry for files: what is prepared by them has the rows of the file."""

import gzip
import hashlib
import json

import pytest
import yaml
from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.registry import load_registry
from datasets import main

HEART = "age,sex,max rate,ill\n63,m,150,1\n41,f,172,0\n57,m,?,1\n44,f,173,0\n52,m,162,1\n"
TABLES = {
    "numbers.csv": "1.5,2,1\n2,3,0\n0.5,7,1\n",
    "heart.csv": HEART.replace("?", "141"),
    "words.csv": '"a","b","y"\n"1","x, z","no"\n"2","w","yes"\n"3","w","no"\n',
    "bare.csv": "1;p\n2;q\n3;p\n",
    "white": "1 2 -1\n3 4 1\n5 7 1\n",
    "rows.libsvm": "+1 1:0.5 3:2\n-1 2:1\n+1 1:-1\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_the_entry_prepares_the_rows_of_the_file(file, tmp_path, capsys, name):
    content = TABLES[name].encode()
    path = file(gzip.compress(content), name + ".gz") if name == "bare.csv" else file(content, name)
    assert main(["add", str(path)]) == 0
    (entry,) = yaml.safe_load(text := capsys.readouterr().out).values()
    (source,) = entry["sources"]
    assert source["files"]["data"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert source["files"]["data"]["name"] == name
    (tmp_path / "registry.yaml").write_text(text)
    (tmp_path / "mirror" / source["folder"]).mkdir(parents=True)
    (tmp_path / "mirror" / source["folder"] / name).write_bytes(content)
    ((key, result),) = load_registry(tmp_path / "registry.yaml").items()
    assert key == name.split(".")[0]
    fetch(result, tmp_path / "raw", str(tmp_path / "mirror"), progress=False)
    prepare(result, tmp_path / "raw", tmp_path / "set.npz")
    dataset = Dataset.load(tmp_path / "set.npz")
    rows = content.decode().splitlines()[-1]
    assert dataset.X.shape == (entry["rows"], entry["features"])
    assert dataset.y[-1] == (-1 if rows.endswith(('"no"', "p")) else 1)


@pytest.mark.parametrize("word", ["?", "NA"])
def test_rows_with_a_missing_value(file, capsys, word):
    path = str(file(HEART.replace("?", word), "heart.csv"))
    assert main(["add", path, "--drop-missing", "--json", "--name", "mine"]) == 0
    entry = json.loads(capsys.readouterr().out)["mine"]
    assert entry["rows"] == 4 and entry["classes"] == {"-1": 2, "1": 2}
    assert entry["sources"][0]["options"]["missing"] == word


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("1,0\n2,1\n3,2\n", (), "the registry has data sets of two classes, this has 3"),
        (HEART, (), "line 4, column 'max rate': the value is missing"),
        ("1,5;0\n2,5;1\n", (), "'1,5' is a number in another dress"),
        (HEART.replace("?", "7"), ("--name", "my heart"), "the name may hold lower-case letters"),
        (b"PAR1", (), "not a Parquet file"),
    ],
)
def test_what_the_registry_cannot_read_is_one_sentence(file, capsys, content, options, sentence):
    path = str(file(content))
    assert main(["add", path, *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and path in err


@pytest.mark.parametrize(
    ("name", "content", "key", "labels"),
    [
        ("under_score.csv", "a,b,y\n1,2,yes\n2,3,no\n", "under-score", {"no": -1, "yes": 1}),
        ("UP.CSV", "a,b,y\n1,2,yes\n2,3,no\n\n", "up", {"no": -1, "yes": 1}),
        ("My_data-2.x.csv", "a, b, y\n1, 2, yes\n2, 3, no\n", "my-data-2", {"no": -1, "yes": 1}),
        ("bom.csv", "\ufeffa,b,y\n1,2,yes\n2,3,no\n", "bom", {"no": -1, "yes": 1}),
        ("halves.csv", "a,b,y\n1,2,5\n2,3,-1\n4,4,5\n", "halves", {-1: -1, 5: 1}),
        ("fractions.csv", "a,b,y\n1,2,1.5\n2,3,-1.0\n4,4,1.5\n", "fractions", {-1: -1, 1.5: 1}),
    ],
)
def test_an_entry_has_a_name_and_labels_that_the_workflow_reads(file, capsys, name, content, key, labels):
    assert main(["add", str(file(content.encode(), name))]) == 0
    ((added, entry),) = yaml.safe_load(capsys.readouterr().out).items()
    assert added == key and entry["labels"] == labels
