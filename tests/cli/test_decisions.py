"""How a saved model decides: probabilities and thresholds, and that it is what the output says."""

import csv
import html
import io
import json

import numpy as np
import pytest
from estimators.problems import blobs
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    make_scorer,
    precision_score,
    recall_score,
)
from sklearn.model_selection import StratifiedKFold, cross_val_score
from slow import slow

from svmselect.sklearn import SVC, LOOSearchCV, load_model


def write(path, X, y):
    rows = [",".join([*map(repr, row), str(label)]) for row, label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["x,y,z,state", *rows, ""]))


@pytest.fixture
def rows(tmp_path):
    """Features and labels of rows.csv, of which a fifth is ill."""
    X, y = blobs(4, m=140, k=2)
    remaining = np.r_[np.flatnonzero(y == 0)[:16], np.flatnonzero(y == 1)[:64]]
    X, y = X[remaining], np.array(["ill", "well"])[y[remaining]]
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
    *result, last = run("predict", "m.json", "rows.csv", "--probabilities")[1].splitlines()
    p = np.array([row[1:] for row in table("\n".join(result))], dtype=float)
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
    assert "m.json" in err and "--calibration" in err and err.count("\n") == 1


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
            "--threshold f1 is not for the classes ill, well; f1_macro or f1 with --positive well is: ",
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


@pytest.mark.parametrize("scoring", ["roc_auc", *slow("neg_log_loss", "balanced_accuracy")])
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
    sentence = f"{scoring} of the whole selection {np.mean(expected):.6g} (mean of 3 outer folds, "
    assert f"{sentence}{min(expected):.6g} to {max(expected):.6g}); " in run(*words)[1]


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


@pytest.mark.parametrize("by", [*slow("loo"), "cv"])
def test_jobs_change_nothing_but_the_time(rows, run, by):
    words = ("select", "rows.csv", *GRID, "--by", by, "--outer", 3, "--json")
    one, two = (json.loads(run(*words, "--jobs", n)[1]) for n in (1, 2))
    assert one.pop("seconds") > 0 and two.pop("seconds") > 0 and one == two
    status, _, err = run("select", "rows.csv", "--kernel", "sigmoid", "--by", by, "--jobs", 2)
    assert status == (2 if by == "loo" else 0)
    assert ("positive semi-definite kernel, and Sigmoid" in err) == (by == "loo")


@pytest.mark.parametrize("positive", ["ill", "well"])
def test_a_score_of_one_class(rows, run, positive):
    X, y = rows
    model = SVC(0.3, gamma=0.1).fit(X, y)
    words = ("rows.csv", "--C", 0.3, "--gamma", 0.1, "--positive", positive, "--scoring")
    for name, metric in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
        said = json.loads(run("loo", *words, name, "--json")[1])
        assert said["score"] == metric(y, model.loo_predictions_, pos_label=positive)
        assert said["positive"] == positive
    values = model.leave_one_out(decision_values=True) is not None and model.loo_decision_
    expected = average_precision_score(y == positive, values if positive == "well" else -values)
    said = json.loads(run("loo", *words, "average_precision", "--json")[1])
    assert said["score"] == pytest.approx(expected, rel=1e-12)
    assert f"leave-one-out f1 of {positive}" in run("loo", *words, "f1")[1]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    scorer = make_scorer(f1_score, pos_label=positive)
    expected = cross_val_score(SVC(0.3, gamma=0.1), X, y, cv=folds, scoring=scorer).mean()
    assert json.loads(run("cv", *words, "f1", "--json")[1])["score"] == pytest.approx(expected, rel=1e-12)


def test_a_selection_by_a_score_of_one_class(rows, run, searched):
    X, y = rows
    words = ("select", "rows.csv", "--C", "0.1,1,10", "--gamma", "0.01,0.1", "--scoring", "f1")
    more = ("--positive", "ill", "--outer", 2, "--jobs", 2, "--json")
    said = json.loads(run(*words, *more)[1])
    search = searched(
        X, y, {"C": [0.1, 1, 10], "gamma": [0.01, 0.1]}, scoring=make_scorer(f1_score, pos_label="ill")
    )
    assert said["score"] == pytest.approx(search.best_score_) and said["C"] == search.best_params_["C"]
    assert len(said["outer_scores"]) == 2 and said["measure"] == "3-fold f1 of ill"


@pytest.mark.parametrize("command", ["train", "select"])
def test_a_threshold_by_a_score_of_one_class(rows, run, command):
    X, y = rows
    grid = ("--C", 0.3, "--gamma", 0.1)
    words = (command, "rows.csv", "--save", "m.json", *grid, "--threshold", "f1", "--positive", "ill")
    said = json.loads(run(*words, "--json")[1])
    model = SVC(0.3, gamma=0.1, threshold=make_scorer(f1_score, pos_label="ill")).fit(X, y)
    assert said["threshold"] == model.threshold_ != 0 and said["threshold_scoring"] == "f1 of ill"
    loaded = load_model("m.json")
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="'f1 of ill'"):
        loaded.fit(X, y)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--positive", "ill"), "--positive ill is for scores of one class, average_precision, f1"),
        (("--positive", "ill", "--scoring", "accuracy"), "--positive ill is for scores of one class"),
        (("--positive", "sick", "--scoring", "f1"), "--positive sick is none of the classes ill, well"),
    ],
)
def test_a_class_that_is_not_needed_or_not_there_is_a_sentence(rows, run, words, sentence):
    for command in ("loo", "cv", "select"):
        status, out, err = run(command, "rows.csv", *words)
        assert (status, out, err.count("\n")) == (2, "", 1) and sentence in err


def test_a_number_as_the_class_that_a_score_is_of(run, tmp_path):
    X, y = blobs(4, m=60, k=2)
    write(tmp_path / "rows.csv", X, 2 * y + 2)
    model = SVC().fit(X, 2 * y + 2)
    for positive in ("4", "4.0", "+4"):
        said = json.loads(run("loo", "rows.csv", "--scoring", "f1", "--positive", positive, "--json")[1])
        assert said["score"] == f1_score(2 * y + 2, model.loo_predictions_, pos_label=4)


@pytest.mark.parametrize(("gamma", "constant"), [(1e-9, "well"), (0.1, None)])
@pytest.mark.parametrize("command", ["loo", "train", "select"])
def test_a_constant_model_is_called_so(rows, run, command, gamma, constant):
    words = (
        command,
        "rows.csv",
        "--C",
        1,
        "--gamma",
        gamma,
        *(("--save", "m") if command == "train" else ()),
    )
    assert json.loads(run(*words, "--json")[1])["constant"] == constant
    remark = "the model is constant: it gives every row the class well"
    assert (remark in run(*words)[1].splitlines()) == (constant is not None)
