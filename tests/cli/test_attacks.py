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
        expected, found = (json.loads(run(command, name, "--json")[1]) for name in ("plain.csv", "other"))
        assert {**expected, "file": "", "seconds": 0} == {**found, "file": "", "seconds": 0}
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
    expected, found = (json.loads(run("loo", name, "--json")[1]) for name in ("plain", "other"))
    assert {**expected, "file": "", "seconds": 0} == {**found, "file": "", "seconds": 0}


@pytest.mark.parametrize("command", ["loo", "select", "train"])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "bad: the file is empty"),
        ("\n \n\r\n", "bad: the file is empty"),
        ("a,b,s\n", "bad: no row of data"),
        ("a,b,s\n1,2,x\n2,3,x\n", "bad, column 's' holds one class only: 'x'"),
        ("a,b,s\n1,2,x\n", "bad, column 's' holds one class only: 'x'"),
        ("s\nx\ny\n", "bad: found one column; a label and a feature are needed"),
        (PLAIN + "1,2\n", "bad, line 32: expected 4 columns, found 2"),
        (PLAIN.replace(",", ",,", 5), "bad, line 2: expected 7 columns, found 6"),
        (PLAIN[:60] + "\0" + PLAIN[60:], "bad: not a text file in UTF-8"),
        (PLAIN.encode("utf-16"), "bad: not a text file in UTF-8"),
        (PLAIN.replace("x", "é").encode("latin-1"), "bad: not a text file in UTF-8"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "bad: not a text file in UTF-8"),
        (b"\x1f\x8b\x08broken", "bad: cannot be unpacked"),
        (gzip.compress(PLAIN.encode(), mtime=0)[:-20], "bad: cannot be unpacked"),
        (
            "a,s\n" + "".join(f"{n}e307,{n % 2}\n" for n in range(20)),
            "bad, line 20, column 'a': '18e307' is not",
        ),
        ("a,s\n" + "".join(f"{n % 2}e200,{n % 2}\n" for n in range(9)), "X is too large for gamma='scale'"),
        ("a,s\n1,x\ninf,y\n3,x\n", "bad, line 3, column 'a': 'inf' is not finite"),
        ("a,s\n1,x\n,y\n3,x\n", "bad, line 3, column 'a': the value is missing (''), as in 1 of 3 rows"),
        ("a,s\n1,x\nNaN,y\n3,x\n", "bad, line 3, column 'a': the value is missing ('NaN')"),
        ("a,s\n1,x\n2,\n3,y\n", "bad, line 3, column 's': the value is missing ('')"),
        (
            "a,s\n1,x\n2 cm,y\n3,x\n",
            "bad, line 3, column 'a': '2 cm' is not a number, as others of the column",
        ),
        (
            "a,s\n" + "".join(f"{n % 7},{n * 1.5}\n" for n in range(120)),
            "bad, column 's' holds 120 different",
        ),
        ('a,b,s\n"1,2,x\n3,4,y\n', "bad, line 2: a quote that begins there is not closed"),
        ("1 -1:2\n-1 2:1\n", "bad, line 1: the first feature is 0, got -1"),
        ("1 0:2\n-1 2:1 2:1\n", "bad, line 2: features must increase, and 2 comes after 2"),
        ("1 1:2\n-1 3:1 2:1\n", "bad, line 2: features must increase, and 2 comes after 3"),
        ("1 1:2\n-1 3:1 3:1\n", "bad, line 2: features must increase, and 3 comes after 3"),
        ("1 1:2\n-1 2:x\n", "bad, line 2: '2:x' is not a feature and its value, as 3:0.5 is"),
        ("1 1:2\n-1 2\n", "bad, line 2: '2' is not a feature and its value, as 3:0.5 is"),
        ("yes 1:2\nno 2:1\n", "bad, line 1: the label 'yes' is not a number, as LIBSVM text has it"),
        ("1 1:2\n1,2 2:1\n", "bad, line 2: the label '1,2' is not a number, as LIBSVM text has it"),
        ("1 1:nan\n-1 2:1\n", "bad, row 1: the value of feature 1 is not finite"),
        ("1 1:2\n1 2:3\n", "bad: the label holds one class only: 1"),
        (
            "1 2000000000:2\n-1 2:1\n",
            "bad, line 1: feature 2000000000 is beyond the 134217728 that a row may",
        ),
        ("1 99999999999999999999:2\n-1 2:1\n", "bad, line 1: feature 99999999999999999999 is beyond the"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_bad_file_is_a_sentence(refused, file, tmp_path, command, content, sentence):
    file(content, "bad")
    assert refused(command, "bad", *MORE[command]).startswith(sentence)
    assert not (tmp_path / "m.json").exists()


MORE = {"loo": (), "train": ("--save", "m.json"), "select": ("--C", "1", "--save", "m.json")}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--label", "nope"), "plain.csv: there is no column 'nope' (found 'a', 'b', 'c', 's')"),
        (("--label", "9"), "plain.csv: there is no column 9, the columns are 1 to 4"),
        (("--ignore", "nope"), "plain.csv: there is no column 'nope'"),
        (
            ("--ignore", "a", "--ignore", "b", "--ignore", "c"),
            "plain.csv: no column is left for the features",
        ),
        (("--ignore", "s"), "plain.csv: the label's column 's' cannot be ignored"),
        (("--categorical", "s"), "plain.csv: --categorical is for features, and column 's' is none"),
        (("--format", "libsvm"), "plain.csv, line 1: the label 'a,b,c,s' is not a number"),
        (("--delimiter", ";"), "plain.csv: found one column; a label and a feature are needed (is it --del"),
        (("--memory", "1e-9"), "memory_mb=1e-09 holds 0 columns of 30 rows"),
        (
            ("--kernel", "poly", "--coef0", "-1"),
            "coef0 must not be negative for a polynomial kernel, got -1.0",
        ),
        (("--kernel", "chi2"), "X must not be negative for a chi-squared kernel"),
    ],
    ids=" ".join,
)
def test_wrong_options_are_a_sentence(refused, words, sentence):
    assert refused("loo", "plain.csv", *words).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--scoring", "f1"),
            "--scoring f1 is not for the classes x, y; f1_macro or f1 with --positive y is: ",
        ),
        (("--scoring", "r2"), "--scoring r2 is not for the classes x, y: "),
        (("--scoring", "nope"), "--scoring must be a name of sklearn.metrics.get_scorer_names()"),
        (("--plot", "surface.xyz"), "--plot takes a file that ends in .pdf, .svg, .png, got 'surface.xyz'"),
        (("--folds", "16", "--by", "cv"), "--folds must be from 2 to the 15 rows of class x, got 16"),
        (("--outer", "1"), "--outer must be from 2 to the 15 rows of class x, got 1"),
    ],
    ids=" ".join,
)
def test_wrong_options_of_a_selection_are_a_sentence(refused, words, sentence):
    assert refused("select", "plain.csv", "--C", "1", "--gamma", "1", *words).startswith(sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("train", "plain.csv", "--save", "plain.csv"),
            "--save plain.csv: would be written over the file that is",
        ),
        (
            ("train", "plain.csv", "--save", "folder/../plain.csv"),
            "--save folder/../plain.csv: would be written",
        ),
        (
            ("loo", "plain.csv", "--report", "./plain.csv"),
            "--report ./plain.csv: would be written over the file",
        ),
        (
            ("select", "plain.csv", "--save", "x", "--report", "x"),
            "--report x: would be written over what --save",
        ),
        (
            ("select", "plain.csv", "--output", "link"),
            "--output link: would be written over the file that is read",
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "m.json"),
            "--output m.json: would be written over the mod",
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "folder"),
            "--output folder: is a folder, not a file",
        ),
        (
            ("predict", "m.json", "plain.csv", "--output", "/dev/null"),
            "--output /dev/null: is a device, not a f",
        ),
        (("train", "plain.csv", "--save", ""), "--save : is a folder, not a file"),
    ],
    ids=" ".join,
)
def test_no_file_is_lost(run, refused, tmp_path, words, sentence):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("plain.csv")
    run("train", "plain.csv", "--save", "m.json")
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert refused(*words).startswith(sentence)
    assert {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "bad: neither a model of svmselect nor one of LIBSVM"),
        (bytes(range(256)), "bad: neither a model of svmselect nor one of LIBSVM"),
        (PLAIN, "bad: neither a model of svmselect nor one of LIBSVM"),
        ("[1, 2]", "bad: neither a model of svmselect nor one of LIBSVM"),
        ("{", "bad: not JSON: the file is cut off or damaged"),
        ('{"a": 1}', "bad: JSON, but no model of svmselect"),
        ("svm_type c_svc\nkernel_type rbf\n", "bad: a model of LIBSVM that is cut off or damaged"),
        (
            "svm_type epsilon_svr\nkernel_type rbf\n",
            "bad: a model of LIBSVM with svm_type epsilon_svr, of which",
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_wrong_model_file_is_a_sentence(refused, file, content, sentence):
    file(content, "bad")
    assert refused("predict", "bad", "plain.csv").startswith(sentence)


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("encoding", 3, "bad: its encoding is damaged"),
        ("encoding", {}, "bad: its encoding is damaged"),
        (
            "classes",
            {"dtype": "text", "values": ["x"]},
            "bad: the file is damaged: its parts do not fit each other",
        ),
        ("support_vectors", {"dense": [[1]]}, "bad: the file is damaged"),
        ("n_features", "a", "bad: the file is damaged"),
        ("kernel", {"name": "zzz"}, "bad: the file is damaged"),
        ("type", "Foo", "bad: the file is damaged"),
        (
            "version",
            99,
            "bad: written by a newer svmselect, of version 99 of the format, and this one reads 1",
        ),
        ("intercept", None, "bad: the file is damaged"),
    ],
)
def test_a_model_file_by_another_hand_is_a_sentence(run, refused, tmp_path, key, value, sentence):
    run("train", "plain.csv", "--save", "m.json")
    content = {**json.loads((tmp_path / "m.json").read_text()), key: value}
    (tmp_path / "bad").write_text(json.dumps({**content, "sha256": content_hash(content)}))
    assert refused("predict", "bad", "plain.csv").startswith(sentence)


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
    ("content", "sentence"),
    [
        ("a,s\n1,x\n", "new.csv: there is no column 'b', nor 1 others, which the model was trained on"),
        (
            "1,2\n3,4\n",
            "new.csv: the model was trained on 3 features, and the table has 2 columns: expected 3, or 4",
        ),
        (
            "a,b,c,s\n1,2,,x\n",
            "new.csv, line 2, column 'c': the value is missing (''), as in 1 of 1 rows, and the",
        ),
        (
            "a,b,c,s\n1,2,Oslo,x\n",
            "new.csv, line 2, column 'c': 'Oslo' is not a number, as others of the column",
        ),
        ("a,b,c,s\n1,2,3,q\n", "new.csv: no label, such as 'q', is a class of the model (x, y)"),
        ("", "new.csv: the file is empty"),
        ("1 0:1\n", "new.csv, line 1: the first feature is 1, got 0; --zero-based counts from 0"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_new_rows_that_do_not_fit_are_a_sentence(run, refused, file, content, sentence):
    run("train", "plain.csv", "--save", "m.json")
    file(content, "new.csv")
    assert refused("predict", "m.json", "new.csv").startswith(sentence)


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
