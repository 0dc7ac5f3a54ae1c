"""The command `svmselect`: its numbers, its words and its exit status."""

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from estimators.problems import blobs
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC as LIBSVM

import svmselect.sklearn
import svmselect.sklearn.kernels as sklearn_kernels
from svmselect.bounds import SINGLE_FITS
from svmselect.cli import arguments, main
from svmselect.standardise import standardise


@pytest.fixture
def data(tmp_path):
    """A CSV file of two classes, its features and labels."""
    X, y = blobs(1, m=60, k=2)
    labels = np.array(["ill", "well"])[y]
    path = tmp_path / "data.csv"
    lines = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), labels, strict=True)]
    path.write_text("\n".join(["x,y,z,state", *lines]) + "\n")
    return str(path), X, labels


def test_loo(data, run):
    path, X, y = data
    status, out, err = run("loo", path, "--C", "3", "--gamma", "0.2", "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    model = svmselect.sklearn.SVC(3, gamma=0.2).fit(X, y)
    assert result["loo_error"] == model.loo_error_
    assert result["misclassified_rows"] == (np.flatnonzero(model.loo_predictions_ != y) + 1).tolist()
    assert result["classes"] == {"ill": 30, "well": 30}
    assert result["support_vectors"] == model.support_.size
    status, out, err = run("loo", path, "--C", "3", "--gamma", "0.2")
    assert f"leave-one-out error  {100 * model.loo_error_:.2f} %" in out
    assert "60 rows, 3 features; classes ill (30), well (30); label: column 'state'" in out


@pytest.mark.parametrize("words", [(), ("--balanced",), ("--kernel", "linear", "--standardise")])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_loo_is_that_of_the_estimator(tmp_path, run, k, words):
    X, y = blobs(k, m=70, k=k)
    path = tmp_path / "data.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header="a,b,c,label", comments="", fmt="%.17g")
    result = json.loads(run("loo", str(path), "--C", "2", *words, "--json")[1])
    if "--standardise" in words:
        X = standardise(X)
    kernel = "linear" if "linear" in words else "rbf"
    weight = "balanced" if "--balanced" in words else None
    model = svmselect.sklearn.SVC(2, kernel=kernel, class_weight=weight).fit(X, y)
    assert result["misclassified_rows"] == (np.flatnonzero(model.loo_predictions_ != y) + 1).tolist()
    assert result["loo_error"] == pytest.approx(model.loo_error_)
    assert result["weighted_loo_error"] == pytest.approx(model.weighted_loo_error_)
    assert result["training_error"] == pytest.approx(1 - model.score(X, y))
    assert result["support_vectors"] == model.support_.size
    assert result["class_weight"] == weight and result["score"] is None


@pytest.mark.parametrize("format", ["csv", "libsvm"])
def test_loo_imports_no_scikit_learn(data, tmp_path, format):
    path, X, y = data
    if format == "libsvm":
        path = tmp_path / "rows"
        dump_svmlight_file(X, np.unique(y, return_inverse=True)[1], str(path), zero_based=False)
    code = "import sys; from svmselect.cli import main; assert main(sys.argv[1:]) == 0; print({'modules'})"
    code = code.replace("{'modules'}", "{'sklearn', 'pandas', 'tqdm'} & {*sys.modules}")
    words = [sys.executable, "-c", code, "loo", str(path), "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("set()\n")


def test_standardise_and_balance(data, run):
    path, X, y = data
    _, out, _ = run("loo", path, "--standardise", "--balanced", "--kernel", "linear", "--json")
    model = svmselect.sklearn.SVC(kernel="linear", class_weight="balanced").fit(standardise(X), y)
    assert json.loads(out)["loo_error"] == model.loo_error_
    assert json.loads(out)["weighted_loo_error"] == model.weighted_loo_error_
    words = ("loo", path, "--standardise", "--kernel", "linear")
    line = f"weighted by class    {100 * model.weighted_loo_error_:.2f} %"
    assert line in run(*words, "--balanced")[1] and "weighted" not in run(*words)[1]


def test_other_kernels(data, run, searched):
    path, X, y = data
    words = ("--kernel", "poly", "--degree", "2", "--coef0", "1", "--gamma", "0.3")
    _, out, _ = run("loo", path, *words, "--json")
    model = svmselect.sklearn.SVC(kernel="poly", degree=2, coef0=1.0, gamma=0.3).fit(X, y)
    result = json.loads(out)
    assert result["loo_error"] == model.loo_error_
    assert (result["degree"], result["coef0"], result["gamma"]) == (2, 1.0, 0.3)
    assert "SVM: poly kernel, C 1, gamma 0.3, degree 2, coef0 1" in run("loo", path, *words)[1]
    _, out, _ = run("select", path, "--kernel", "laplacian", "--json")
    search = searched(X, y, estimator=svmselect.sklearn.SVC(kernel="laplacian"))
    assert json.loads(out)["error"] == pytest.approx(1 - search.best_score_)
    # folds need no positive semi-definite kernel
    _, out, _ = run("select", path, "--kernel", "sigmoid", "--C", "1", "--json")
    search = searched(X, y, {"C": [1]}, svmselect.sklearn.SVC(kernel="sigmoid"))
    assert json.loads(out)["error"] == pytest.approx(1 - search.best_score_)
    for command in ("loo", "cv", "select"):
        status, out, err = run(command, path, "--kernel", "chi2")
        assert (status, out, err.count("\n")) == (2, "", 1) and "must not be negative" in err
    status, out, err = run("loo", path, "--kernel", "sigmoid")
    assert (status, out) == (2, "")
    assert "positive semi-definite kernel, and Sigmoid" in err


def test_names_of_kernels():
    """The command's, which does not import the estimators before it must."""
    assert set(arguments.KERNELS) == set(sklearn_kernels.KERNELS)


def test_uneven_features_are_remarked(tmp_path, run):
    path = tmp_path / "uneven.csv"
    path.write_text("".join(f"{n % 7},{1000 * (7 * n % 20)},{n % 2}\n" for n in range(20)))
    assert "--standardise makes them equal" in run("loo", str(path))[2]
    assert run("loo", str(path), "--standardise")[2] == ""


def test_cv(data, run):
    path, X, y = data
    status, out, _ = run("cv", path, "--C", "3", "--gamma", "0.2", "--folds", "4", "--seed", "5", "--json")
    result = json.loads(out)
    folds = StratifiedKFold(4, shuffle=True, random_state=5)
    expected = 1 - cross_val_score(LIBSVM(C=3, gamma=0.2), X, y, cv=folds)
    assert status == 0
    np.testing.assert_allclose(result["fold_errors"], expected, atol=1e-12)
    assert result["cv_error"] == pytest.approx(expected.mean())
    assert "4-fold error" in run("cv", path, "--folds", "4")[1]


def test_span(data, run):
    path, X, y = data
    status, out, _ = run("span", path, "--json")
    model = svmselect.sklearn.SVC().fit(X, y)
    result = json.loads(out)
    assert status == 0
    table = run("span", path)[1]
    for declared in SINGLE_FITS:
        assert result[declared.key] == pytest.approx(getattr(model, declared.key + "_"))
        assert declared.name in table


@pytest.mark.parametrize("by", ["loo", "cv"])
def test_select(data, run, by):
    path, X, y = data
    words = ("select", path, "--by", by, "--folds", "5", "--C", "0.5,5", "--gamma", "0.05,0.5,5")
    status, out, _ = run(*words, "--json")
    result = json.loads(out)
    grid = {"C": [0.5, 5.0], "gamma": [0.05, 0.5, 5.0]}
    if by == "loo":
        search = svmselect.sklearn.LOOSearchCV(param_grid=grid)
    else:
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        search = svmselect.sklearn.SeededCV(param_grid=grid, cv=folds)
    search.fit(X, y)
    assert status == 0
    assert {name: result[name] for name in ("C", "gamma")} == search.best_params_
    assert result["error"] == pytest.approx(1 - search.best_score_)
    assert len(result["models"]) == 6
    errors = [model["error"] for model in result["models"]]
    assert errors == sorted(errors)
    _, out, _ = run(*words, "--top", "2")
    assert "Best of 6 models" in out and out.count(" %") == 4


def test_a_class_of_fewer_rows_than_folds(tmp_path, run):
    """Leave-one-out can still judge, which the sentence says."""
    X, y = blobs(5, m=40, k=2)
    sentences = {
        1: "needs two rows of each class, and class few has one",
        2: "must be from 2 to the 2 rows of class few, got 3",
    }
    for few, sentence in sentences.items():
        labels = np.where(np.arange(40) < few, "few", np.array(["ill", "well"])[y])
        path = tmp_path / f"{few}.csv"
        rows = [",".join([*map(repr, row), label]) for row, label in zip(X.tolist(), labels, strict=True)]
        path.write_text("\n".join(["x,y,z,state", *rows, ""]))
        words = ("select", path, "--C", "1", "--gamma", "0.1")
        instead = "; --by loo needs no folds\n"
        assert run(*words) == (2, "", f"svmselect: error: --folds {sentence}{instead}")
        assert run(*words, "--by", "loo")[0] == 0
        status, out, err = run("cv", path, "--folds", "3")
        assert (status, out, err) == (2, "", f"svmselect: error: --folds {sentence}\n")


@pytest.mark.parametrize("by", ["loo", "cv"])
def test_select_by_a_score(data, run, by):
    path, X, y = data
    words = ("select", path, "--by", by, "--folds", "5", "--C", "0.5,5", "--gamma", "0.05,0.5")
    status, out, err = run(*words, "--scoring", "balanced_accuracy", "--json")
    result = json.loads(out)
    grid = {"C": [0.5, 5.0], "gamma": [0.05, 0.5]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    kind, more = {
        "loo": (svmselect.sklearn.LOOSearchCV, {}),
        "cv": (svmselect.sklearn.SeededCV, {"cv": folds}),
    }[by]
    search = kind(param_grid=grid, scoring="balanced_accuracy", **more).fit(X, y)
    assert (status, err) == (0, "")
    assert {name: result[name] for name in grid} == search.best_params_
    assert result["score"] == pytest.approx(search.best_score_) and "error" not in result
    assert result["measure"] == {"loo": "leave-one-out", "cv": "5-fold"}[by] + " balanced_accuracy"
    _, out, _ = run(*words, "--scoring", "balanced_accuracy")
    assert f"by {result['measure']}, {result['score']:.6g}: " in out and "%" not in out
    # the weights of classes count in the error, and the output says so
    lines = path.removesuffix(".csv") + "-few.csv"
    with open(path) as file, open(lines, "w") as few:
        rows = file.readlines()
        few.writelines([row for n, row in enumerate(rows) if "ill" not in row or n % 3 == 0])
    _, out, _ = run("select", lines, *words[2:], "--balanced")
    assert f"{result['measure'].split()[0]} error weighted by class, " in out


def test_scores_of_one_model(data, run):
    path, X, y = data
    model = svmselect.sklearn.SVC(3, gamma=0.2).fit(X, y)
    words = (path, "--C", "3", "--gamma", "0.2", "--scoring", "roc_auc")
    expected = roc_auc_score(y, model.loo_decision_)
    status, out, _ = run("loo", *words, "--json")
    assert status == 0 and json.loads(out)["score"] == pytest.approx(expected)
    assert f"leave-one-out roc_auc  {expected:.6g}" in run("loo", *words)[1]
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    expected = cross_val_score(LIBSVM(C=3, gamma=0.2, tol=1e-8), X, y, cv=folds, scoring="roc_auc").mean()
    status, out, _ = run("cv", *words, "--folds", "4", "--json")
    assert status == 0 and json.loads(out)["score"] == pytest.approx(expected)
    lines = [line.split() for line in run("cv", *words, "--folds", "4")[1].splitlines()]
    assert ["4-fold", "roc_auc", f"{expected:.6g}"] in lines


@pytest.mark.parametrize("command", ["loo", "cv", "select"])
def test_a_score_of_probabilities(data, run, command):
    path, X, y = data
    status, out, err = run(command, path, "--C", "3", "--gamma", "0.2", "--scoring", "neg_log_loss", "--json")
    assert (status, err) == (0, "")
    assert -1 < json.loads(out)["score"] < 0
    if command == "loo":
        model = svmselect.sklearn.SVC(3, gamma=0.2, calibration="loo").fit(X, y)
        assert json.loads(out)["score"] == pytest.approx(model.loo_score("neg_log_loss"))
        assert json.loads(out)["loo_error"] == model.loo_error_


@pytest.mark.parametrize("command", ["loo", "cv", "select"])
def test_an_unknown_score_is_one_sentence(data, run, command):
    status, out, err = run(command, data[0], "--scoring", "ballanced")
    assert (status, out) == (2, "")
    assert "--scoring" in err and "'ballanced'" in err and err.count("\n") == 1


def test_three_classes(tmp_path, run):
    X, y = blobs(2, m=45, k=3)
    path = tmp_path / "three.csv"
    np.savetxt(path, np.column_stack([X, y]), delimiter=",")
    status, out, _ = run("loo", str(path), "--json")
    assert json.loads(out)["loo_error"] == svmselect.sklearn.SVC().fit(X, y).loo_error_
    assert json.loads(out)["classes"] == {"0": 15, "1": 15, "2": 15}
    status, out, _ = run("span", str(path), "--json")
    assert status == 0
    assert json.loads(out)["span_estimate"] == svmselect.sklearn.SVC().fit(X, y).span_estimate_


def test_doubts_are_told_or_refused(data, run, tmp_path):
    """The file of `data` as pandas writes it by default: with its index, which is no feature."""
    path, X, y = data
    frame = pd.DataFrame(X, columns=list("xyz")).assign(state=y)
    frame.to_csv(tmp_path / "indexed.csv")
    plain = json.loads(run("loo", path, "--json")[1])
    status, out, err = run("loo", str(tmp_path / "indexed.csv"), "--json")
    result = json.loads(out)
    assert status == 0 and err.startswith("svmselect: the first column is left out: it has no name and")
    assert err.count("\n") == 1 and result["doubts"] == [err.strip().removeprefix("svmselect: ")]
    ignored = ("file", "seconds", "doubts")
    assert plain["doubts"] == []
    assert {k: v for k, v in result.items() if k not in ignored} == {
        k: v for k, v in plain.items() if k not in ignored
    }
    status, out, err = run("loo", str(tmp_path / "indexed.csv"), "--strict")
    assert (status, out) == (2, "") and "indexed.csv: the first column is left out" in err
    assert err.endswith("(refused by --strict)\n") and err.count("\n") == 1
    assert run("loo", str(tmp_path / "indexed.csv"), "--strict", "--ignore", "1")[0] == 0
    assert run("loo", path, "--strict")[::2] == (0, "")


def test_classes_are_named_in_full_and_without_control_characters(tmp_path, run):
    path = tmp_path / "large.csv"
    path.write_text("".join(f"{n % 7 / 7},{1234567 + n % 2}\n" for n in range(20)))
    assert "classes 1234567 (10), 1234568 (10)" in run("loo", str(path))[1]
    path.write_text("".join(f"{n % 7 / 7},\x1b[31mred{n % 2}\n" for n in range(20)))
    assert "\x1b" not in run("loo", str(path))[1]


def test_standard_input(data):
    path, *_ = data
    command = [sys.executable, "-m", "svmselect.cli", "loo", "-", "--json"]
    with open(path) as file:
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["rows"] == 60 and done.stderr == ""


@pytest.mark.parametrize(
    ("scale", "sentence"),
    [
        ("e200", "feature 1 cannot be standardised: its values go from 0 to 6e+200, and float64 does not"),
        ("e-320", "feature 1 cannot be standardised: its values go from 0 to 6e-320, and float64 does not"),
    ],
)
def test_what_cannot_be_standardised_is_a_sentence(tmp_path, run, scale, sentence):
    path = tmp_path / "huge.csv"
    path.write_text("".join(f"{n % 7}{scale},{n % 2}\n" for n in range(20)))
    status, out, err = run("loo", str(path), "--standardise")
    assert (status, out) == (2, "") and sentence in err and err.count("\n") == 1
    status, out, err = run("loo", str(path))
    assert status == (2 if scale == "e200" else 0) and err.count("\n") == (status > 0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("loo", "nothing.csv"), "error: nothing.csv: there is no such file"),
        (
            ("cv", "DATA", "--folds", "31"),
            "error: --folds must be from 2 to the 30 rows of class ill, got 31",
        ),
        (("loo", "DATA", "--label", "7"), "there is no column 7"),
        (("select", "DATA", "--kernel", "linear", "--gamma", "1"), "--gamma is for kernels that have one"),
    ],
)
def test_errors_are_one_sentence_and_status_2(data, run, words, sentence):
    status, out, err = run(*(data[0] if word == "DATA" else word for word in words))
    assert (status, out) == (2, "")
    assert err.startswith("svmselect: ") and sentence in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("lou",),
        ("loo",),
        ("loo", "f", "--C", "-1"),
        ("select", "f", "--C", "1,x"),
        ("cv", "f", "--folds", "0"),
        ("loo", "f", "--delimiter", "||"),
        ("loo", "f", "--memory", "1e300"),
        ("loo", "f", "--memory", "1e14"),
        ("loo", "f", "--C", "1_0"),
        ("cv", "f", "--seed", "-1"),
        ("cv", "f", "--seed", "4294967296"),
        ("cv", "f", "--folds", "\u0663"),
    ],
)
def test_a_wrong_command_line_is_status_2(words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(list(words))
    assert caught.value.code == 2
    assert "svmselect" in capsys.readouterr().err


def test_ctrl_c_is_status_130(data, run, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("svmselect.cli.loo.loo_path", interrupted)
    assert run("loo", data[0])[0] == 130


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", PACKERS)
def test_libsvm_text_in_every_command(tmp_path, run, searched, ending):
    X, y = blobs(3, m=40, k=2)
    plain = tmp_path / "plain"
    dump_svmlight_file(X, 2 * y - 1, str(plain), zero_based=False)
    path = tmp_path / f"rows.libsvm{ending}"
    path.write_bytes(PACKERS[ending](plain.read_bytes()))
    model = svmselect.sklearn.SVC(2, gamma=0.3).fit(X, y)
    words = (str(path), "--json", "--C", "2", "--gamma", "0.3")
    for command, name, expected in (
        ("loo", "loo_error", model.loo_error_),
        ("span", "span_estimate", model.span_estimate_),
        ("cv", "fold_errors", None),
        ("select", "error", 1 - searched(X, y, {"C": [2], "gamma": [0.3]}).best_score_),
    ):
        status, out, err = run(command, *words)
        assert (status, err) == (0, ""), command
        result = json.loads(out)
        assert (result["rows"], result["features"], result["classes"]) == (40, 3, {"-1": 20, "1": 20})
        assert len(result[name]) == 10 if expected is None else result[name] == pytest.approx(expected)


def test_the_installed_command(data):
    path, *_ = data
    command = [os.path.join(os.path.dirname(sys.executable), "svmselect"), "loo", path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # not a terminal: no bar
    assert "leave-one-out error" in done.stdout and done.stderr == ""


def test_a_reader_that_has_seen_enough_is_no_error(data):
    command = f"{sys.executable} -m svmselect.cli loo {data[0]} --json --quiet | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "{\n" and done.stderr == ""


def test_the_library_does_not_import_its_estimators():
    code = "import sys, svmselect; sys.exit('svmselect.sklearn' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
