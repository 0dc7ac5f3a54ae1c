"""Files and options as users get them wrong: each is a right result, or status 2 and one sentence."""

import gzip
import json
import os

import numpy as np
import pytest
from estimators.problems import blobs

from svmselect.sklearn.model_file import content_hash

X, y = blobs(5, m=30, k=2)
ROWS = [",".join([*map(repr, row), "xy"[label]]) for row, label in zip(X.tolist(), y, strict=True)]
PLAIN = "\n".join(["a,b,c,s", *ROWS, ""])
PAIRS = [
    " ".join([str(2 * label - 1), *(f"{j}:{value!r}" for j, value in enumerate(row, 1))])
    for row, label in zip(X.tolist(), y, strict=True)
]
LIBSVM = "\n".join([*PAIRS, ""])


@pytest.fixture(autouse=True)
def plain(tmp_path):
    """The table that is right."""
    (tmp_path / "plain.csv").write_text(PLAIN)


@pytest.fixture
def refused(run):
    def call(*words):
        status, out, err = run(*words)
        assert (status, out) == (2, "") and err.count("\n") == 1, err
        assert err.startswith("svmselect: error: ") and "Traceback" not in err and "Errno" not in err
        return err.removeprefix("svmselect: error: ").rstrip()

    return call


def names(message, parts):
    """Return whether a message begins with the file or option, and names line, column and value."""
    return message.startswith(parts[0]) and all(part in message for part in parts)


AS_PLAIN = {
    "Windows line ends": PLAIN.replace("\n", "\r\n"),
    "old line ends": PLAIN.replace("\n", "\r"),
    "a byte order mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "a byte order mark and Windows line ends": b"\xef\xbb\xbf" + PLAIN.replace("\n", "\r\n").encode(),
    "no line end at the end": PLAIN.rstrip("\n"),
    "blank lines": PLAIN.replace("\n", "\n\n") + "\n \n",
    "semicolons": PLAIN.replace(",", ";"),
    "tabs": PLAIN.replace(",", "\t"),
    "spaces": PLAIN.replace(",", "  "),
    "quotes": PLAIN.replace(",x", ',"x"').replace("a,b", '"a", "b"'),
    "white space around cells": PLAIN.replace(",", " , "),
    "gzip without its ending": gzip.compress(PLAIN.encode(), mtime=0),
}


@pytest.mark.parametrize("content", AS_PLAIN.values(), ids=AS_PLAIN)
def test_the_same_table_in_other_clothes(run, file, content):
    file(content, "other")
    for command in ("loo", "cv"):
        expected, result = (json.loads(run(command, name, "--json")[1]) for name in ("plain.csv", "other"))
        assert {**expected, "file": "", "seconds": 0} == {**result, "file": "", "seconds": 0}
    run("train", "other", "--save", "m.json")
    expected = run("predict", "m.json", "plain.csv")
    assert expected[0] == 0 and run("predict", "m.json", "other") == expected


@pytest.mark.parametrize(
    "content",
    [
        LIBSVM.replace("\n", "\r\n"),
        "# a comment\n" + LIBSVM,
        LIBSVM.replace("\n", "  # a comment\n"),
        b"\xef\xbb\xbf" + LIBSVM.encode(),
        "\n".join(f"{'+' if row[0] == '1' else ''}{row}" for row in PAIRS),
        "\n".join(row.replace(" ", " qid:3 ", 1) for row in PAIRS),
    ],
)
def test_the_same_libsvm_text_in_other_clothes(run, file, content):
    file(LIBSVM, "plain")
    file(content, "other")
    expected, result = (json.loads(run("loo", name, "--json")[1]) for name in ("plain", "other"))
    assert {**expected, "file": "", "seconds": 0} == {**result, "file": "", "seconds": 0}


@pytest.mark.parametrize("command", ["loo", "select", "train"])
@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ("bad", "empty")),
        ("\n \n\r\n", ("bad", "empty")),
        ("a,b,s\n", ("bad", "no row")),
        ("a,b,s\n1,2,x\n2,3,x\n", ("bad", "'s'", "'x'", "one class")),
        ("a,b,s\n1,2,x\n", ("bad", "'s'", "'x'", "one class")),
        ("s\nx\ny\n", ("bad", "one column")),
        (PLAIN + "1,2\n", ("bad", "line 32", "4")),
        (PLAIN.replace(",", ",,", 5), ("bad", "line 2", "7", "6")),
        (PLAIN[:60] + "\0" + PLAIN[60:], ("bad", "UTF-8")),
        (PLAIN.encode("utf-16"), ("bad", "UTF-8")),
        (PLAIN.replace("x", "é").encode("latin-1"), ("bad", "UTF-8")),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ("bad", "UTF-8")),
        (b"\x1f\x8b\x08broken", ("bad", "unpacked")),
        (gzip.compress(PLAIN.encode(), mtime=0)[:-20], ("bad", "unpacked")),
        (
            "a,s\n" + "".join(f"{n}e307,{n % 2}\n" for n in range(20)),
            ("bad", "line 20", "'a'", "'18e307'"),
        ),
        ("a,s\n" + "".join(f"{n % 2}e200,{n % 2}\n" for n in range(9)), ("X", "'scale'")),
        ("a,s\n1,x\ninf,y\n3,x\n", ("bad", "line 3", "'a'", "'inf'")),
        ("a,s\n1,x\n,y\n3,x\n", ("bad", "line 3", "'a'", "''")),
        ("a,s\n1,x\nNaN,y\n3,x\n", ("bad", "line 3", "'a'", "'NaN'")),
        ("a,s\n1,x\n2,\n3,y\n", ("bad", "line 3", "'s'", "''")),
        (
            "a,s\n1,x\n2 cm,y\n3,x\n",
            ("bad", "line 3", "'a'", "'2 cm'"),
        ),
        (
            "a,s\n" + "".join(f"{n % 7},{n * 1.5}\n" for n in range(120)),
            ("bad", "'s'", "120"),
        ),
        ('a,b,s\n"1,2,x\n3,4,y\n', ("bad", "line 2")),
        ("1 -1:2\n-1 2:1\n", ("bad", "line 1", "-1")),
        ("1 0:2\n-1 2:1 2:1\n", ("bad", "line 2", "2")),
        ("1 1:2\n-1 3:1 2:1\n", ("bad", "line 2", "3")),
        ("1 1:2\n-1 3:1 3:1\n", ("bad", "line 2", "3")),
        ("1 1:2\n-1 2:x\n", ("bad", "line 2", "'2:x'")),
        ("1 1:2\n-1 2\n", ("bad", "line 2", "'2'")),
        ("yes 1:2\nno 2:1\n", ("bad", "line 1", "'yes'", "LIBSVM")),
        ("1 1:2\n1,2 2:1\n", ("bad", "line 2", "'1,2'", "LIBSVM")),
        ("1 1:nan\n-1 2:1\n", ("bad", "row 1")),
        ("1 1:2\n1 2:3\n", ("bad", "1", "one class")),
        (
            "1 2000000000:2\n-1 2:1\n",
            ("bad", "line 1", "2000000000", "134217728"),
        ),
        ("1 99999999999999999999:2\n-1 2:1\n", ("bad", "line 1", "99999999999999999999")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_bad_file_is_a_sentence(refused, file, tmp_path, command, content, parts):
    file(content, "bad")
    assert names(refused(command, "bad", *MORE[command]), parts)
    assert not (tmp_path / "m.json").exists()


MORE = {"loo": (), "train": ("--save", "m.json"), "select": ("--C", "1", "--save", "m.json")}


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--label", "nope"), ("plain.csv", "'nope'", "'a'", "'b'", "'c'", "'s'", "no column")),
        (("--label", "9"), ("plain.csv", "9", "1", "4", "no column")),
        (("--ignore", "nope"), ("plain.csv", "'nope'", "no column")),
        (
            ("--ignore", "a", "--ignore", "b", "--ignore", "c"),
            ("plain.csv", "no column"),
        ),
        (("--ignore", "s"), ("plain.csv", "'s'", "ignored")),
        (("--categorical", "s"), ("plain.csv", "--categorical", "'s'")),
        (("--format", "libsvm"), ("plain.csv", "line 1", "'a,b,c,s'")),
        (("--delimiter", ";"), ("plain.csv", "--del", "one column")),
        (("--memory", "1e-9"), ("memory_mb", "1e-09", "30")),
        (
            ("--kernel", "poly", "--coef0", "-1"),
            ("coef0", "-1.0", "must not"),
        ),
        (("--kernel", "chi2"), ("X", "must not")),
    ],
    ids=" ".join,
)
def test_wrong_options_are_a_sentence(refused, words, parts):
    assert names(refused("loo", "plain.csv", *words), parts)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ("--scoring", "f1"),
            ("--scoring f1", "--positive"),
        ),
        (("--scoring", "r2"), ("--scoring r2",)),
        (("--scoring", "nope"), ("--scoring",)),
        (("--plot", "surface.xyz"), ("--plot", "'surface.xyz'")),
        (("--folds", "16", "--by", "cv"), ("--folds", "2", "15", "16")),
        (("--outer", "1"), ("--outer", "2", "15")),
    ],
    ids=" ".join,
)
def test_wrong_options_of_a_selection_are_a_sentence(refused, words, parts):
    assert names(refused("select", "plain.csv", "--C", "1", "--gamma", "1", *words), parts)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (
            ("train", "plain.csv", "--save", "plain.csv"),
            ("--save", "over the file"),
        ),
        (
            ("train", "plain.csv", "--save", "folder/../plain.csv"),
            ("--save", "folder"),
        ),
        (
            ("loo", "plain.csv", "--report", "./plain.csv"),
            ("--report", "over the file"),
        ),
        (
            ("select", "plain.csv", "--save", "x", "--report", "x"),
            ("--report", "--save", "over what --save"),
        ),
        (
            ("select", "plain.csv", "--output", "link"),
            ("--output", "over the file"),
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "m.json"),
            ("--output", "over the mod"),
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "folder"),
            ("--output", "folder"),
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "/dev/null"),
            ("--output", "device"),
        ),
        (("train", "plain.csv", "--save", ""), ("--save", "folder")),
    ],
    ids=" ".join,
)
def test_no_file_is_lost(run, refused, tmp_path, words, parts):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("plain.csv")
    run("train", "plain.csv", "--save", "m.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert names(refused(*words), parts)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ("bad", "LIBSVM")),
        (bytes(range(256)), ("bad", "LIBSVM")),
        (PLAIN, ("bad", "LIBSVM")),
        ("[1, 2]", ("bad", "LIBSVM")),
        ("{", ("bad", "damaged", "JSON")),
        ('{"a": 1}', ("bad", "JSON")),
        ("svm_type c_svc\nkernel_type rbf\n", ("bad", "damaged", "LIBSVM")),
        (
            "svm_type epsilon_svr\nkernel_type rbf\n",
            ("bad", "LIBSVM"),
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_wrong_model_file_is_a_sentence(refused, file, content, parts):
    file(content, "bad")
    assert names(refused("predict", "bad", "plain.csv"), parts)


@pytest.mark.parametrize(
    ("key", "value", "parts"),
    [
        ("encoding", 3, ("bad", "damaged")),
        ("encoding", {}, ("bad", "damaged")),
        (
            "classes",
            {"dtype": "text", "values": ["x"]},
            ("bad", "damaged"),
        ),
        ("support_vectors", {"dense": [[1]]}, ("bad", "damaged")),
        ("n_features", "a", ("bad", "damaged")),
        ("kernel", {"name": "zzz"}, ("bad", "damaged")),
        ("type", "Foo", ("bad", "damaged")),
        (
            "version",
            99,
            ("bad", "99"),
        ),
        ("intercept", None, ("bad", "damaged")),
    ],
)
def test_a_model_file_by_another_hand_is_a_sentence(run, refused, tmp_path, key, value, parts):
    run("train", "plain.csv", "--save", "m.json")
    content = {**json.loads((tmp_path / "m.json").read_text()), key: value}
    (tmp_path / "bad").write_text(json.dumps({**content, "sha256": content_hash(content)}))
    assert names(refused("predict", "bad", "plain.csv"), parts)


@pytest.mark.parametrize(
    ("content", "last", "remark"),
    [
        ("\n".join(",".join(line.split(",")[::-1]) for line in PLAIN.split("\n")), True, ""),
        ("\n".join(f"{line},9" for line in PLAIN.strip().split("\n")), True, ""),
        ("\n".join(line.rpartition(",")[0] for line in PLAIN.strip().split("\n")), False, ""),
        ("\n".join(f"9,{line}" for line in PLAIN.strip().split("\n")), True, ""),
        (
            PLAIN.replace(",x", ",z"),
            None,
            "15 rows have a label that is no class of the model (x, y), such as 'z'",
        ),
    ],
    ids=["columns in another order", "a further column", "no labels", "a column before", "an unknown label"],
)
def test_new_rows_of_another_form(run, file, content, last, remark):
    run("train", "plain.csv", "--save", "m.json")
    *expected, error = run("predict", "m.json", "plain.csv")[1].splitlines()
    file(content, "new.csv")
    status, out, err = run("predict", "m.json", "new.csv")
    assert status == 0 and out.splitlines()[:30] == expected and remark in err and bool(remark) == bool(err)
    if last is not None:
        assert out.splitlines()[30:] == ([error] if last else [])


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a,s\n1,x\n", ("new.csv", "'b'", "1", "no column")),
        (
            "1,2\n3,4\n",
            ("new.csv", "3", "2", "4"),
        ),
        (
            "a,b,c,s\n1,2,,x\n",
            ("new.csv", "line 2", "'c'", "''"),
        ),
        (
            "a,b,c,s\n1,2,Oslo,x\n",
            ("new.csv", "line 2", "'c'", "'Oslo'"),
        ),
        ("a,b,c,s\n1,2,3,q\n", ("new.csv", "'q'", "no label")),
        ("", ("new.csv", "empty")),
        ("1 0:1\n", ("new.csv", "line 1", "0", "--zero-based")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_new_rows_that_do_not_fit_are_a_sentence(run, refused, file, content, parts):
    run("train", "plain.csv", "--save", "m.json")
    file(content, "new.csv")
    assert names(refused("predict", "m.json", "new.csv"), parts)


@pytest.mark.parametrize("words", [("--impute",), ()])
def test_categories_that_are_unknown_or_missing(run, file, words):
    head, rows = (
        "a,city,s\n",
        [f"{n / 7:.3f},{['Oslo', 'Rome'][n % 2]},{'xy'[n // 2 % 2]}\n" for n in range(24)],
    )
    file(head + "".join(rows), "train.csv")
    assert run("train", "train.csv", "--save", "m.json", "--categorical", "city", *words)[0] == 0
    file(head + "".join(rows).replace("Rome", "Paris"), "unknown.csv")
    status, out, err = run("predict", "m.json", "unknown.csv")
    assert (
        status == 0
        and len(out.splitlines()) == 25
        and "12 rows have a category that the model was not" in err
    )
    file(head + "".join(rows).replace("Rome", ""), "missing.csv")
    status, out, err = run("predict", "m.json", "missing.csv")
    if words:  # Oslo is as frequent, and first
        file(head + "".join(rows).replace("Rome", "Oslo"), "filled.csv")
        assert (status, err) == (0, "") and out == run("predict", "m.json", "filled.csv")[1]
    else:
        assert (status, out) == (2, "") and "missing.csv, line 3, column 'city': the value is missing" in err


@pytest.mark.parametrize(
    "labels", [["0", "1"], ["no", "yes"], ["-1", "+1"], ["klasse ä", "Klasse ä"], ["1.5", "2.5"]]
)
def test_labels_of_any_kind_come_back_as_they_were(run, file, labels):
    content = "\n".join(f"{row.rpartition(',')[0]},{labels['xy'.index(row[-1])]}" for row in ROWS)
    file("a,b,c,s\n" + content, "rows.csv")
    assert run("train", "rows.csv", "--save", "m.json", "--C", "100", "--gamma", "10")[0] == 0
    *predicted, last = run("predict", "m.json", "rows.csv")[1].splitlines()
    assert last == "error 0.00 % (0 of 30 rows)"
    assert [word.lstrip("+") for word in predicted] == [labels[k].lstrip("+") for k in y]


def test_values_of_every_size(run, file):
    """Features may have any scale that float64 holds, if they are standardised."""
    for scale in (1e-150, 1.0, 1e150):
        rows = [",".join([*map(repr, (scale * row).tolist()), "xy"[k]]) for row, k in zip(X, y, strict=True)]
        file("\n".join(rows), f"{scale}.csv")
    said = [
        json.loads(run("loo", f"{scale}.csv", "--standardise", "--json")[1])["loo_error"]
        for scale in (1e-150, 1.0, 1e150)
    ]
    assert said[0] == said[1] == said[2] and np.isfinite(said[0])


ESCAPE = "n\x1b[31mX\x07\u202e"


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "strange.json", "plain.csv"),
        ("predict", "strange.json", "strange.csv"),
        ("predict", "strange.json", "strange.csv", "--decision-values"),
        ("predict", f"{ESCAPE}.json", "plain.csv"),
        ("predict", "m.json", "strange.csv"),
        ("loo", "strange.csv"),
        ("loo", f"{ESCAPE}.csv"),
        ("loo", "strange.csv", "--label", ESCAPE),
        ("loo", "plain.csv", "--C", ESCAPE),
        ("loo", "plain.csv", ESCAPE),
        ("loo", "plain.csv", "--scoring", ESCAPE),
        ("loo", "plain.csv", "--scoring", "f1", "--positive", ESCAPE),
        ("select", "strange.csv", "--C", "1", "--gamma", "1", "--save", f"{ESCAPE}.json"),
    ],
    ids=repr,
)
def test_no_terminal_obeys_the_text_of_a_file(run, file, words):
    """Names of classes, columns and files, and words of the command line, are printed as escapes."""
    file(PLAIN.replace(",x", f",{ESCAPE}").replace("a,", f"{ESCAPE},", 1), "strange.csv")
    run("train", "plain.csv", "--save", "m.json")
    run("train", "strange.csv", "--save", "strange.json")
    _, out, err = run(*words)
    assert "Traceback" not in err and (out or err)
    for text in (out, err):
        assert all(c.isprintable() for c in text.replace("\n", "")), text
    if words == ("predict", "strange.json", "strange.csv"):
        assert out.splitlines()[0] in ("y", "n\\x1b[31mX\\x07\\u202e") and "\\x1b[31m" in out
