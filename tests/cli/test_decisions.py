"""How a saved model decides: probabilities and thresholds, and that it is what the output says."""

import csv
import html
import io
import json

import numpy as np
import pytest
from estimators.problems import blobs
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold

from svmselect.sklearn import SVC, LOOSearchCV, load_model


def write(path, X, y):
    rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["x,y,z,state", *rows, ""]))


@pytest.fixture
def rows(tmp_path):
    """Features and labels of rows.csv, of which a fifth is ill."""
    X, y = blobs(4, m=140, k=2)
    kept = np.r_[np.flatnonzero(y == 0)[:16], np.flatnonzero(y == 1)[:64]]
    X, y = X[kept], np.array(["ill", "well"])[y[kept]]
    write(tmp_path / "rows.csv", X, y)
    return X, y


def table(out):
    return list(csv.reader(io.StringIO(out)))


def starts(out):
    """The first two words of each line."""
    return [line.split()[:2] for line in out.splitlines()]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities(rows, run, tmp_path, method):
    X, y = rows
    words = ("--C", 3, "--gamma", 0.2)
    status, out, err = run("train", "rows.csv", "--save", "m.json", "--calibration", method, *words)
    assert (status, err) == (0, "") and ["probabilities", method] in starts(out)
    model = SVC(3, gamma=0.2, calibration="loo", calibration_method=method).fit(X, y)
    *found, last = run("predict", "m.json", "rows.csv", "--probabilities")[1].splitlines()
    p = np.array([row[1:] for row in table("\n".join(found))], dtype=float)
    np.testing.assert_array_equal(p, model.predict_proba(X))
    assert last.startswith("error ") and np.ptp(p[:, 0]) > 0.5
    both = ("--decision-values", "--probabilities")
    run("predict", "m.json", "rows.csv", *both, "--output", "out.csv")
    head, *cells = table((tmp_path / "out.csv").read_text())
    assert head == ["predicted", "decision value", "probability of ill", "probability of well"]
    expected = np.column_stack([model.decision_function(X), p])
    np.testing.assert_array_equal(np.array([row[1:] for row in cells], dtype=float), expected)
    said = json.loads(run("predict", "m.json", "rows.csv", *both, "--json")[1])
    assert said["classes"] == ["ill", "well"] and said["probabilities"] == p.tolist()


def test_probabilities_of_three_classes(run, tmp_path):
    X, y = blobs(2, m=60, k=3)
    write(tmp_path / "rows.csv", X, y)
    run("train", "rows.csv", "--save", "m.json", "--calibration", "sigmoid")
    said = json.loads(run("predict", "m.json", "rows.csv", "--probabilities", "--json")[1])
    np.testing.assert_array_equal(said["probabilities"], SVC(calibration="loo").fit(X, y).predict_proba(X))


def test_a_model_without_probabilities(rows, run):
    run("train", "rows.csv", "--save", "m.json")
    status, out, err = run("predict", "m.json", "rows.csv", "--probabilities")
    assert (status, out) == (2, "")
    assert err == "svmselect: error: m.json: the model has no probabilities: train it with --calibration\n"


def test_a_threshold(rows, run):
    X, y = rows
    words = ("train", "rows.csv", "--save", "m.json", "--gamma", 0.1, "--C", 0.3)
    said = json.loads(run(*words, "--threshold", "balanced_accuracy", "--json")[1])
    model = SVC(0.3, gamma=0.1, threshold="balanced_accuracy").fit(X, y)
    plain = SVC(0.3, gamma=0.1).fit(X, y)
    assert said["threshold"] == model.threshold_ != 0 and said["threshold_scoring"] == "balanced_accuracy"
    scores = [balanced_accuracy_score(y, m.predict(X)) for m in (model, plain)]
    assert scores[0] > scores[1] + 0.05
    assert run("predict", "m.json", "rows.csv")[1].splitlines()[:-1] == model.predict(X).tolist()
    out = run(*words, "--threshold", "balanced_accuracy")[1]
    assert ["threshold", f"{model.threshold_:.6g}"] in starts(out) and "the best balanced_accuracy" in out


@pytest.mark.parametrize("command", ["train", "select"])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--threshold", "ballanced"), "--threshold must be a name of sklearn.metrics.get_scorer_names()"),
        (("--threshold", "roc_auc"), "--threshold is tuned by a score of predicted classes, and roc_auc is"),
        (
            ("--threshold", "f1"),
            "--threshold f1 is not for the classes ill, well; f1_macro is: pos_label=1 is",
        ),
        (("--save-as", "libsvm", "--threshold", "accuracy"), "--threshold accuracy is nothing that LIBSVM's"),
        (("--save-as", "libsvm", "--calibration", "sigmoid"), "--calibration sigmoid is nothing that"),
    ],
)
def test_what_cannot_be_decided_is_a_sentence(rows, run, tmp_path, command, options, sentence):
    status, out, err = run(command, "rows.csv", "--save", "m", *options)
    assert (status, out) == (2, "") and err.startswith(f"svmselect: error: {sentence}")
    assert err.count("\n") == 1 and not (tmp_path / "m").exists()


def test_a_threshold_of_three_classes_is_a_sentence(run, tmp_path):
    X, y = blobs(2, m=60, k=3)
    write(tmp_path / "rows.csv", X, y)
    status, out, err = run("select", "rows.csv", "--threshold", "accuracy")
    assert (status, out) == (2, "") and "--threshold is for two classes, the file has 3" in err


GRID = ("--C", "0.3,3", "--gamma", "0.05,0.5")
MODELS = {"C": [0.3, 3], "gamma": [0.05, 0.5]}


def test_a_selected_model_is_what_the_output_says(rows, run, searched):
    """A score may ask for probabilities; the model that is saved has them only on request."""
    X, y = rows
    words = ("select", "rows.csv", *GRID, "--scoring", "neg_log_loss", "--save", "m.json")
    status, out, err = run(*words)
    assert (status, err) == (0, "") and "probabilities" not in out and "saved  m.json" in out
    assert load_model("m.json").get_params() == {
        **SVC().get_params(),
        **searched(X, y, MODELS, SVC(calibration="loo"), scoring="neg_log_loss").best_params_,
    }
    assert json.loads(run(*words, "--json")[1])["calibration"] is None
    out = run(*words, "--calibration", "isotonic", "--threshold", "balanced_accuracy")[1]
    saved = load_model("m.json")
    assert (saved.calibration, saved.calibration_method) == ("loo", "isotonic")
    assert ["probabilities", "isotonic"] in starts(out)
    assert ["threshold", f"{saved.threshold_:.6g}"] in starts(out)


def test_all_models_as_a_table(rows, run, tmp_path):
    said = json.loads(run("select", "rows.csv", *GRID, "--output", "models.csv", "--json")[1])
    head, *cells = table((tmp_path / "models.csv").read_text())
    assert head == ["C", "gamma", "error"] and said["output"] == "models.csv"
    assert [dict(zip(head, map(float, row), strict=True)) for row in cells] == said["models"]


def folds(y):
    return StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(y.size), y)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss", "balanced_accuracy"])
def test_the_score_of_the_whole_selection(rows, run, searched, scoring):
    """As that of a search within each fold."""
    X, y = rows
    words = ("select", "rows.csv", *GRID, "--scoring", scoring, "--outer", 3)
    said = json.loads(run(*words, "--json")[1])
    estimator = SVC(calibration="loo" if scoring == "neg_log_loss" else None)
    expected = [
        searched(X[train], y[train], MODELS, estimator, scoring=scoring).score(X[test], y[test])
        for train, test in folds(y)
    ]
    np.testing.assert_allclose(said["outer_scores"], expected, rtol=1e-9)
    assert said["outer_score"] == pytest.approx(np.mean(expected))
    what = f"{scoring} of the whole selection {np.mean(expected):.6g} (mean of 3 outer folds, "
    assert f"{what}{min(expected):.6g} to {max(expected):.6g}); " in run(*words)[1]


def test_the_threshold_is_part_of_the_whole_selection(rows, run):
    X, y = rows
    words = ("--C", "0.3", "--gamma", "0.1", "--threshold", "balanced_accuracy", "--outer", 3)
    said = json.loads(run("select", "rows.csv", *words, "--json")[1])
    model = SVC(0.3, gamma=0.1, threshold="balanced_accuracy")
    expected = [
        int(np.sum(model.fit(X[train], y[train]).predict(X[test]) != y[test])) for train, test in folds(y)
    ]
    assert said["outer_errors"] == expected


def test_the_weighted_error_of_the_whole_selection(rows, run, searched):
    X, y = rows
    words = ("select", "rows.csv", *GRID, "--balanced", "--outer", 3)
    said = json.loads(run(*words, "--json")[1])
    predicted = np.empty_like(y)
    for train, test in folds(y):
        search = searched(X[train], y[train], MODELS, SVC(class_weight="balanced"))
        predicted[test] = search.predict(X[test])
    expected = 1 - balanced_accuracy_score(y, predicted)
    assert said["outer_weighted_error"] == pytest.approx(expected)
    assert said["outer_weighted_error"] != pytest.approx(said["outer_error"])
    assert f"weighted error of the whole selection {100 * expected:.2f} % (" in run(*words)[1]


def test_the_best_of_many_is_called_optimistic(rows, run, searched, tmp_path):
    X, y = rows
    least = LOOSearchCV(param_grid=MODELS).fit(X, y).loo_error_
    line = f"{100 * least:.2f} %, the best leave-one-out error of 4 models, is optimistic: --outer 5 measures"
    assert line in run("select", "rows.csv", *GRID, "--by", "loo")[1]
    least = 1 - searched(X, y, MODELS).best_score_
    line = f"{100 * least:.2f} %, the best 3-fold error of 4 models, is optimistic: --outer 5 measures"
    assert line in run("select", "rows.csv", *GRID)[1]
    out = run("select", "rows.csv", "--C", "1", "--gamma", "1")[1]
    assert "optimistic" not in out and "Best of 1 model by" in out
    pytest.importorskip("matplotlib")
    run("select", "rows.csv", *GRID, "--report", "page.html")
    assert line in html.unescape((tmp_path / "page.html").read_text())


@pytest.mark.parametrize("by", ["loo", "cv"])
def test_jobs_change_nothing_but_the_time(rows, run, by):
    words = ("select", "rows.csv", *GRID, "--by", by, "--outer", 3, "--json")
    one, two = (json.loads(run(*words, "--jobs", n)[1]) for n in (1, 2))
    assert one.pop("seconds") > 0 and two.pop("seconds") > 0 and one == two
    status, _, err = run("select", "rows.csv", "--kernel", "sigmoid", "--by", by, "--jobs", 2)
    assert status == (2 if by == "loo" else 0)
    assert ("positive semi-definite kernel, and Sigmoid" in err) == (by == "loo")
