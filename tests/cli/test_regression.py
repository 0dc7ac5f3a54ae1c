"""--task regression: loo, cv, span, select, train and predict, on tables and on LIBSVM text."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from svmselect.sklearn import SVR, LOOSearchCV, OneClassSVM, SeededCV, load_model, save_model
from svmselect.svr import spread_of


def problem(m=60):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(m, 2)), 3)
    return X, np.round(np.sin(X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=m), 4)


@pytest.fixture
def table(file):
    X, z = problem()
    lines = [f"{a},{b},{c}" for (a, b), c in zip(X.tolist(), z.tolist(), strict=True)]
    return file("\n".join(["first,second,target", *lines]) + "\n")


@pytest.fixture
def text(tmp_path):
    dump_svmlight_file(*problem(), str(tmp_path / "rows.txt"), zero_based=False)
    return tmp_path / "rows.txt"


@pytest.mark.parametrize("kind", ["table", "text"])
def test_leave_one_out_of_a_table_and_of_libsvm_text(kind, run, request):
    X, z = problem()
    options = ("--task", "regression", "--C", 3, "--gamma", 0.3, "--epsilon", 0.2)
    status, out, err = run("loo", request.getfixturevalue(kind), *options, "--scoring", "r2", "--json")
    assert (status, err) == (0, "")
    result, model = json.loads(out), SVR(C=3, gamma=0.3, epsilon=0.2).fit(X, z)
    np.testing.assert_allclose(result["loo_predictions"], model.loo_predictions_, atol=1e-9)
    np.testing.assert_allclose(result["loo_mean_absolute_error"], np.abs(model.loo_residuals_).mean())
    np.testing.assert_allclose(result["score"], model.loo_score("r2"))
    assert result["epsilon"] == 0.2 and result["targets"]["largest"] == z.max()
    status, out, err = run("loo", request.getfixturevalue(kind), *options)
    assert status == 0 and "leave-one-out mean absolute error" in out and "numbers from" in out


def test_cross_validation_and_spans(run, table):
    X, z = problem()
    options = ("--task", "regression", "--C", 3, "--gamma", 0.3)
    result = json.loads(run("cv", table, *options, "--folds", 4, "--seed", 5, "--json")[1])
    folds = KFold(4, shuffle=True, random_state=5)
    search = SeededCV(SVR(gamma=0.3), {"C": [3.0]}, cv=folds, scoring="neg_mean_absolute_error").fit(X, z)
    np.testing.assert_allclose(result["cv_mean_absolute_error"], -search.best_score_)
    result = json.loads(run("span", table, *options, "--json")[1])
    np.testing.assert_allclose(
        result["span_mean_absolute_error"], SVR(C=3, gamma=0.3).fit(X, z).span_estimate_
    )


def test_rows_of_a_group_are_held_out_together(run, file):
    X, z = problem(40)
    groups = np.arange(40) // 4
    lines = [f"{a},{b},g{g},{c}" for (a, b), g, c in zip(X.tolist(), groups, z.tolist(), strict=True)]
    path = file("\n".join(["a,b,group,target", *lines]))
    options = ("--task", "regression", "--groups", "group", "--folds", 3, "--json")
    result = json.loads(run("cv", path, *options)[1])
    folds = list(GroupKFold(3, shuffle=True, random_state=0).split(X, groups=groups))
    search = SeededCV(SVR(), {"C": [1.0]}, cv=folds, scoring="neg_mean_absolute_error").fit(X, z)
    np.testing.assert_allclose(result["cv_mean_absolute_error"], -search.best_score_)
    status, _, err = run("cv", path, *options[:-3], "--folds", 11)
    assert status == 2 and "--folds" in err and "10 groups" in err


@pytest.mark.parametrize("by", ["loo", "cv"])
def test_selection(by, run, table, tmp_path):
    X, z = problem()
    options = ("--C", "1,10", "--gamma", "0.1,1", "--epsilon", "0.05,0.2", "--by", by, "--json")
    files = ("--save", "model.json", "--output", "models.csv")
    status, out, err = run("select", table, "--task", "regression", *options, *files)
    assert (status, err) == (0, "")
    grid = {"C": [1.0, 10.0], "gamma": [0.1, 1.0], "epsilon": [0.05, 0.2]}
    if by == "loo":
        search = LOOSearchCV(SVR(), grid, scoring="neg_mean_absolute_error").fit(X, z)
    else:
        folds = KFold(3, shuffle=True, random_state=0)
        search = SeededCV(SVR(), grid, cv=folds, scoring="neg_mean_absolute_error").fit(X, z)
    result = json.loads(out)
    np.testing.assert_allclose(result["mean_absolute_error"], -search.best_score_)
    assert {name: result[name] for name in grid} == search.best_params_
    assert len(result["models"]) == 8 and len((tmp_path / "models.csv").read_text().splitlines()) == 9
    np.testing.assert_array_equal(load_model("model.json").predict(X), search.predict(X))


@pytest.mark.parametrize("save_as", ["json", "libsvm"])
def test_train_and_predict(save_as, run, table, file):
    X, z = problem()
    status, out, err = run("train", table, "--task", "regression", "--save", "model", "--save-as", save_as)
    assert (status, err) == (0, "") and "training r2" in out
    model = SVR().fit(X, z)
    status, out, err = run("predict", "model", table)
    *predicted, last = out.splitlines()
    assert (status, err) == (0, "")
    np.testing.assert_allclose(np.array(predicted, dtype=float), model.predict(X), atol=1e-12)
    assert f"mean absolute error {np.abs(z - model.predict(X)).mean():.6g}" in last and "60 rows" in last
    result = json.loads(run("predict", "model", table, "--json")[1])
    np.testing.assert_allclose(result["test_r2"], model.score(X, z))
    status, out, err = run("predict", "model", table, "--output", "out.csv")
    assert status == 0 and "60 rows predicted" in out
    np.testing.assert_allclose(np.loadtxt("out.csv", skiprows=1), model.predict(X), atol=1e-12)
    new = file("1,2\n0.5,0\n", "new.csv")
    assert len(run("predict", "model", new, "--no-header")[1].splitlines()) == 2


def test_categories_and_standardised_features(run, file):
    X, z = problem(40)
    colour = np.array(["red", "blue"])[(X[:, 0] > 0).astype(int)]
    lines = [f"{a},{b},{c}" for (a, _), b, c in zip(X.tolist(), colour, z.tolist(), strict=True)]
    path = file("\n".join(["a,colour,z", *lines]))
    options = ("--task", "regression", "--label", "z", "--standardise", "--save", "model")
    assert run("train", path, *options)[0] == 0
    assert len(run("predict", "model", path)[1].splitlines()) == 41


def test_one_class_models_predict(run, table):
    X, _ = problem()
    save_model(OneClassSVM(nu=0.2).fit(X), "model")
    status, out, _ = run("predict", "model", table, "--decision-values", "--label", "target")
    assert status == 0 and "of 60 rejected" in out
    assert len(out.splitlines()) == 61 and out.splitlines()[0].count(",") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("loo", "--balanced"), "--balanced is not for --task regression"),
        (("select", "--outer", "61"), "--outer must be from 2 to the 60 rows, got 61"),
        (("select", "--plot", "a.txt"), "--plot takes a file that ends in"),
        (("loo", "--scoring", "accuracy"), "--scoring accuracy is not for numbers"),
        (("cv", "--folds", "61"), "--folds must be from 2 to the 60 rows, got 61"),
        (("loo", "--epsilon", "-1"), "'-1' is not a number from 0"),
        (("loo", "--label", "word"), "line 2: a number to predict is wanted, got 'w'"),
        (("train", "--standardise", "--save", "model", "--save-as", "libsvm"), "LIBSVM's model file cannot"),
        (("select", "--impute", "--save", "model", "--save-as", "libsvm"), "LIBSVM's model file cannot"),
    ],
)
def test_what_cannot_be_is_one_sentence(words, sentence, run, file):
    X, z = problem()
    lines = [f"{a},{b},w,{c}" for (a, b), c in zip(X.tolist(), z.tolist(), strict=True)]
    path = file("\n".join(["a,b,word,target", *lines]))
    command, *options = words
    status, _, err = run(command, path, "--task", "regression", *options)
    assert status == 2 and sentence in err


def test_a_label_that_is_no_class_is_a_number_to_predict(run, table, text, file):
    said = json.loads(run("loo", table, "--task", "regression", "--json")[1])
    for path in (table, text):
        status, out, err = run("loo", path, "--json")
        assert status == 0 and "is taken for a number to predict, as --task regression says" in err
        assert json.loads(out)["loo_predictions"] == said["loo_predictions"]
    status, _, err = run("loo", table, "--strict")
    assert status == 2 and "that is no class label (see --label and --task)" in err
    status, _, err = run("loo", table, "--task", "classification")
    assert status == 2 and "that is no class label" in err
    status, out, _ = run("loo", table, "--epsilon", "0.1")
    assert status == 0 and "epsilon 0.1" in out
    status, _, err = run("loo", table, "--epsilon", "0", "--task", "classification")
    assert status == 2 and "--epsilon is for --task regression" in err
    # the last column of a file without names may be a feature
    lines = table.read_text().splitlines()[1:]
    assert run("loo", file("\n".join(lines), "plain.csv"))[0] == 2


def test_the_whole_selection_is_tested_by_outer_folds(run, table):
    X, z = problem()
    options = ("--C", "1,10", "--gamma", "0.1,1", "--outer", 4, "--json")
    result = json.loads(run("select", table, "--task", "regression", *options)[1])
    predicted, folds = np.empty(60), KFold(4, shuffle=True, random_state=0)
    for train, held_out in folds.split(X):
        inner = KFold(3, shuffle=True, random_state=0)
        grid = {
            "C": [1.0, 10.0],
            "gamma": [0.1, 1.0],
            "epsilon": [0.1 * spread_of(z[train], np.ones(train.size))],
        }
        search = SeededCV(SVR(), grid, cv=inner, scoring="neg_mean_absolute_error").fit(X[train], z[train])
        predicted[held_out] = search.predict(X[held_out])
    np.testing.assert_allclose(result["outer_mean_absolute_error"], np.abs(z - predicted).mean())
    assert result["outer_folds"] == 4 and result["outer_mean_absolute_error"] != result["mean_absolute_error"]


@pytest.mark.parametrize("by", ["loo", "cv"])
def test_page_and_plot_of_a_selection(by, run, table, tmp_path):
    X, z = problem()
    options = (
        "--C",
        "1,10",
        "--gamma",
        "0.1,1",
        "--by",
        by,
        "--report",
        "page.html",
        "--plot",
        "surface.svg",
    )
    result = json.loads(run("select", table, "--task", "regression", *options, "--json")[1])
    assert result["epsilon"] == pytest.approx(0.1 * z.std())
    model = SVR(C=result["C"], gamma=result["gamma"], epsilon=result["epsilon"]).fit(X, z)
    predicted = model.loo_predictions_
    if by == "cv":
        predicted = cross_val_predict(model, X, z, cv=KFold(3, shuffle=True, random_state=0))
    page = (tmp_path / "page.html").read_text()
    worst = np.abs(z - predicted).argmax()
    assert f">{worst + 1}</td>" in page and f"{z[worst] - predicted[worst]:.6g}" in page
    inside = np.count_nonzero(np.abs(z - predicted) <= result["epsilon"])
    assert f"{inside} of 60 are at most epsilon" in page and "numbers from" in page
    assert "mean absolute error" in (tmp_path / "surface.svg").read_text()


def test_page_of_leave_one_out(run, table, tmp_path):
    assert run("loo", table, "--task", "regression", "--report", "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert "Leave-one-out residuals" in page and "leave-one-out r2" in page


def test_units_of_the_targets_are_remarked(run, file):
    X, z = problem()
    lines = [f"{a},{b},{1000 * c}" for (a, b), c in zip(X.tolist(), z.tolist(), strict=True)]
    status, _, err = run("loo", file("\n".join(lines)), "--task", "regression", "--no-header", "--label", 3)
    assert status == 0 and "in their units" in err
