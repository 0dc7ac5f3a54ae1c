"""LIBSVM text as other programs write it: features from 0, rows without features, variants of the format."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from estimators.problems import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_iris

from svmselect.cli import libsvm_text
from svmselect.cli.libsvm_text import MOST_PLAIN, any_rows, plain_rows
from svmselect.cli.read import read
from svmselect.sklearn import SVC, load_model

X, y = blobs(5, m=60, k=2)
X = np.where(np.abs(X) < 0.5, 0, X)
TRAIN, NEW = slice(0, 40), slice(40, 60)


def write(name, X, y, zero_based):
    dump_svmlight_file(sparse.csr_matrix(X), y, name, zero_based=zero_based)


PLAIN_WORDS = [
    "1",
    "-1",
    "+1",
    "0.5",
    ".5",
    "5.",
    "1e3",
    "-2.5E-3",
    "1e400",
    "123456789.123456789",
    "00",
    "-0",
]
WORDS = [
    *PLAIN_WORDS,
    "",
    "1_0",
    "0x1",
    "nan",
    "inf",
    "1e",
    ".",
    "-",
    "#",
    "a",
    "\u0661",
    "1,2",
    "qid:3",
    "1:1",
]
GAPS = [" ", "  ", "\t", "\x0b", "\u00a0"]
ENDS = ["\n", "\r\n", " \n", "\n\n", "\r", "\x0c\n", "\u2028", " # 3:4\n"]


@st.composite
def texts(draw):
    """Lines of labels and pairs, plain ones more often than others."""
    word = st.one_of(*[st.sampled_from(PLAIN_WORDS)] * 15, st.sampled_from(WORDS))
    gap = st.one_of(*[st.just(" ")] * 15, st.sampled_from(GAPS))
    end = st.one_of(*[st.just("\n")] * 15, st.sampled_from(ENDS))
    number = st.one_of(*[st.integers(1, 4)] * 9, st.integers(-1, 2**33))
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        features, pairs = draw(st.lists(st.integers(1, 9), unique=True, max_size=4)), []
        features = sorted(features) if draw(st.integers(0, 9)) else [draw(number) for _ in features]
        for feature in features:
            pairs.append(f"{draw(gap)}{feature}:{draw(word)}")
        lines.append(draw(word) + "".join(pairs) + draw(end))
    return "".join(lines)


@settings(max_examples=400, deadline=None)
@given(texts())
def test_plain_text_is_read_as_by_scikit_learn(text):
    plain = plain_rows(text)
    if plain is None:
        return
    (X, labels), (theirs, their_labels) = plain, any_rows(text)
    assert X.shape == theirs.shape
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(theirs, name))
    np.testing.assert_array_equal(labels, their_labels)


def test_lines_that_are_not_plain_or_wrong_are_left_to_scikit_learn(monkeypatch):
    assert plain_rows("# 1\n1 1:2 3:4\r\n\n-1\n+2e1\t2:.5 \n")[0].nnz == 3
    for line in (
        "1 2:1 1:1",
        "1 1:1 1:1",
        "1 1:1 # 1",
        "1 qid:1 1:1",
        "a 1:1",
        "1 1:1_0",
        "1 1:nan",
        "1 -1:1",
    ):
        assert plain_rows(f"1 1:2 3:4\n{line}\n") is None
    assert plain_rows("1 1:2\n" * (MOST_PLAIN // 6 + 1)) is None
    monkeypatch.setattr(libsvm_text, "MOST_PLAIN", 0)
    assert plain_rows("1 1:2\n") is None


def test_what_scikit_learn_writes_by_default_is_read(run):
    dump_svmlight_file(*load_iris(return_X_y=True), "zero")
    write("one", *load_iris(return_X_y=True), zero_based=False)
    status, out, err = run("loo", "zero", "--json")
    said, expected = json.loads(out), json.loads(run("loo", "one", "--json")[1])
    assert status == 0 and err.count("\n") == 1 and "features count from 0" in err and "--zero-based" in err
    assert said["features"] == 4 and said["loo_error"] == expected["loo_error"] > 0
    assert said["misclassified_rows"] == expected["misclassified_rows"]
    assert run("loo", "zero", "--zero-based")[2] == ""
    assert "refused by --strict" in run("loo", "zero", "--strict")[2]


def test_the_option_settles_what_a_file_does_not_say(file):
    path = file("1 1:2\n-1 3:4\n")
    assert read(path).X.shape == (2, 3) and read(path).doubts == ()
    np.testing.assert_array_equal(read(path, zero_based=True).X.toarray(), [[0, 2, 0, 0], [0, 0, 0, 4]])
    with pytest.raises(ValueError, match="--zero-based is for LIBSVM text"):
        read(file("a,y\n1,0\n2,1\n"), zero_based=True)


@pytest.mark.parametrize("save_as", ["json", "libsvm"])
@pytest.mark.parametrize("told", [False, True])
def test_a_model_remembers_from_which_number_features_count(run, save_as, told):
    """Rows to predict in which no feature 0 occurs are not shifted."""
    write("train", X[TRAIN], y[TRAIN], zero_based=True)
    new = X[NEW] * [0, 1, 1]
    write("new", new, y[NEW], zero_based=True)
    more = ("--zero-based",) if told else ()
    run("train", "train", "--save", "m", "--save-as", save_as, "--gamma", 0.4, *more)
    for words in ((), more):
        status, out, err = run("predict", "m", "new", "--decision-values", *words)
        assert (status, err) == (0, "")
        values = [float(line.split(",")[1]) for line in out.splitlines()[:-1]]
        expected = SVC(gamma=0.4).fit(X[TRAIN], y[TRAIN]).decision_function(new)
        np.testing.assert_allclose(values, expected, rtol=1e-9)
    if save_as == "libsvm":
        assert load_model("m").n_features_in_ == 3
        if shutil.which("svm-predict"):
            subprocess.run(["svm-predict", "new", "m", "out"], check=True, capture_output=True)
            with open("out") as file:
                assert file.read().split() == [line.split(",")[0] for line in out.splitlines()[:-1]]


def test_an_option_of_training_is_kept_where_no_row_shows_it(run):
    X0 = X * [0, 1, 1]
    write("train", X0[TRAIN], y[TRAIN], zero_based=True)
    write("new", X[NEW], y[NEW], zero_based=True)
    for save_as in ("json", "libsvm"):
        run("train", "train", "--zero-based", "--save", "m", "--save-as", save_as, "--gamma", 0.4)
        out = run("predict", "m", "new", "--decision-values")[1]
        values = [float(line.split(",")[1]) for line in out.splitlines()[:-1]]
        expected = SVC(gamma=0.4).fit(X0[TRAIN], y[TRAIN]).decision_function(X[NEW])
        np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_rows_from_0_for_a_model_from_1(run):
    write("train", X[TRAIN], y[TRAIN], zero_based=False)
    write("zero", X[NEW], y[NEW], zero_based=True)
    write("one", X[NEW], y[NEW], zero_based=False)
    run("train", "train", "--save", "m")
    status, out, err = run("predict", "m", "zero")
    assert (status, out) == (2, "") and "the first feature is 1, got 0; --zero-based" in err
    assert run("predict", "m", "zero", "--zero-based") == run("predict", "m", "one")


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_surplus_features_count_nothing_for_both_kinds_of_model(run, kernel, zero_based):
    """Also where no support vector has the last feature of the training file."""
    train = X[TRAIN].copy()
    train[:, 2] = 0
    train[np.argmax(np.abs(SVC(gamma=0.4).fit(train, y[TRAIN]).decision_function(train))), 2] = 1e-3
    write("train", train, y[TRAIN], zero_based)
    write("rows", X[NEW], y[NEW], zero_based)
    write("wide", np.column_stack([X[NEW], np.eye(20)[:, :2] * 9]), y[NEW], zero_based)
    said = {}
    for save_as in ("json", "libsvm"):
        options = ("--kernel", kernel, "--gamma", 0.4, "--C", 0.1)
        run("train", "train", "--save", "m", "--save-as", save_as, *options)
        status, expected, err = run("predict", "m", "rows", "--decision-values")
        assert (status, err) == (0, "")
        status, out, err = run("predict", "m", "wide", "--decision-values")
        assert (status, out) == (0, expected)
        assert f"2 rows have features that the model was not trained on, such as {4 - zero_based}" in err
        assert run("predict", "m", "wide", "--strict")[0] == 2
        said[save_as] = np.array([line.split(",")[1] for line in out.splitlines()[:-1]], dtype=float)
    np.testing.assert_allclose(said["json"], said["libsvm"], rtol=1e-9, atol=1e-12)


def test_a_file_that_begins_with_rows_without_features(file):
    bare = "".join(f"{n % 2}\n" for n in range(60))
    table = read(file(f"{bare}1 1:0.5 3:2\n0 2:1\n"))
    assert table.X.shape == (62, 3) and table.X.nnz == 3 and table.doubts == ()


@pytest.mark.parametrize(
    ("line", "number", "quoted"),
    [
        ("1,2 1:0.5 3:2", 1, "'1,2'"),
        ("1,2 1:0.5", 1, "'1,2'"),
        ("1:2 1:0.5 3:2", 1, "'1:2'"),
        ("1: 1:0.5 3:2", 1, "'1:'"),
        ("1 | 1:0.5 3:2", 1, "'|'"),
        ("1 1:0.5 3:2 cat", 1, "'cat'"),
        ("1,1:0.5,3:2", 1, "','"),
        ("1;1:0.5;3:2", 1, "';'"),
        ("1, 1:0.5, 3:2", 1, "','"),
        ("label features\n1 1:0.5 3:2", 1, "no label and pairs"),
        ("# comment\n1,1:0.5,3:2", 2, "','"),
    ],
)
def test_a_variant_is_refused_by_its_name(run, file, line, number, quoted):
    head, _, row = line.rpartition("\n")
    text = head + "\n" * bool(head) + f"{row}\n{row.replace('1', '0', 1)}\n" * 10
    file(text, "rows")
    run("train", file("a,b,y\n1,2,1\n3,4,0\n"), "--save", "m")
    for words in (("loo", "rows"), ("train", "rows", "--save", "n"), ("predict", "m", "rows")):
        status, out, err = run(*words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert f"rows: nearly LIBSVM text, but line {number} " in err and quoted in err
    if row.count(",") == 2 and not head:
        assert read("rows", format="csv", header=False, label="1").X.shape[0] == 20


@pytest.mark.parametrize(
    "text",
    [
        "from,to,y\n10:30,11:45,a\n9:05,10:00,b\n",
        "from to y\n10:30 11:45 1\n9:05 10:00 0\n",
        "score,a,y\n3:1,5,a\n2:2,6,b\n",
        "note,a,y\nsee 1:2 there,5,a\nno,6,b\n",
    ],
)
def test_a_table_with_colons_is_a_table(file, text):
    assert read(file(text)).X.shape[0] == 2


def test_the_text_of_a_variant_can_be_repaired(file):
    """What the sentence asks for is read."""
    expected = read(file("1 1:0.5 3:2\n0 1:0.5 3:2\n"))
    result = read(file("1,1:0.5,3:2\n0,1:0.5,3:2\n".replace(",", " ")))
    np.testing.assert_array_equal(result.X.toarray(), expected.X.toarray())
