"""--task one-class: loo, select, train and predict, on tables with and without a label and on LIBSVM text."""

import csv
import json

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import roc_auc_score

from svmselect.sklearn import LOOSearchCV, OneClassSVM, load_model

TASK = ("--task", "one-class")


def cloud(m=60):
    """Return rows around a point, and which of them are outliers."""
    rng = np.random.default_rng(0)
    X, outlier = rng.normal(size=(m, 2)), np.arange(m) % 12 == 5
    X[outlier] += 3 * rng.normal(size=(outlier.sum(), 2))
    return np.round(X, 3), outlier


@pytest.fixture
def plain(file):
    X, _ = cloud()
    return file("\n".join(["a,b", *(f"{a},{b}" for a, b in X.tolist())]) + "\n", "plain.csv")


@pytest.fixture
def labelled(file):
    X, outlier = cloud()
    words = np.where(outlier, "attack", "normal")
    lines = [f"{a},{word},{b}" for (a, b), word in zip(X.tolist(), words, strict=True)]
    return file("\n".join(["a,state,b", *lines]) + "\n", "labelled.csv")


@pytest.fixture
def text(tmp_path):
    X, outlier = cloud()
    dump_svmlight_file(X, np.where(outlier, -1, 1), str(tmp_path / "rows.txt"), zero_based=False)
    return tmp_path / "rows.txt"


@pytest.fixture(params=["plain", "bare", "labelled", "text"])
def rows(request, file):
    """Return each kind of file, and the options with which it has the same features."""
    if request.param == "bare":
        X, _ = cloud()
        return file("\n".join(f"{a} {b}" for a, b in X.tolist()), "bare.txt"), ()
    options = ("--label", "state") if request.param == "labelled" else ()
    return request.getfixturevalue(request.param), options


def test_leave_one_out(rows, run):
    X, _ = cloud()
    path, options = rows
    words = ("loo", path, *TASK, *options, "--nu", 0.2, "--gamma", 0.5)
    status, out, err = run(*words, "--json", "--strict")
    assert (status, err) == (0, "")
    result, values = json.loads(out), np.empty(60)
    for n in range(60):
        model = sklearn.svm.OneClassSVM(nu=0.2, gamma=0.5, tol=1e-10).fit(np.delete(X, n, axis=0))
        values[n] = model.decision_function(X[[n]])[0]
    np.testing.assert_allclose(result["loo_decision_values"], values, atol=1e-6)
    assert result["rejected_rows"] == (np.flatnonzero(values < 0) + 1).tolist()
    model = OneClassSVM(nu=0.2, gamma=0.5).fit(X)
    assert result["loo_rejection_rate"] == model.loo_rejection_rate_
    assert result["training_rejection_rate"] == np.mean(model.predict(X) < 0)
    assert (result["nu"], result["gamma"], "C" in result) == (0.2, 0.5, False)
    out = run(*words)[1]
    n = np.count_nonzero(values < 0)
    assert f"{n} of 60 rows" in out and "One-class SVM: rbf kernel, nu 0.2, gamma 0.5" in out


def test_rejected_rows_are_counted_by_label(run, labelled, text, plain):
    X, outlier = cloud()
    rejected = OneClassSVM(nu=0.2).fit(X).loo_decision_ < 0
    for path, options, names in ((labelled, ("--label", 2), ("attack", "normal")), (text, (), ("-1", "1"))):
        words = ("loo", path, *TASK, *options, "--nu", 0.2)
        result = json.loads(run(*words, "--json")[1])
        counts = np.count_nonzero(rejected & outlier), np.count_nonzero(rejected & ~outlier)
        assert result["rejected_by_class"] == dict(zip(names, map(int, counts), strict=True))
        assert f"of class {names[0]}" in run(*words)[1] and f"{counts[0]} of 5 rows" in run(*words)[1]
    result = json.loads(run("loo", plain, *TASK, "--json")[1])
    assert result["label"] is None and "classes" not in result and result["rejected_by_class"] == {}


@pytest.mark.parametrize("kind", ["labelled", "text"])
def test_scores_of_labels(kind, run, request):
    X, outlier = cloud()
    path, options = request.getfixturevalue(kind), ()
    if kind == "labelled":
        options = ("--label", "state", "--positive", "normal")
    words = (path, *TASK, *options, "--scoring", "roc_auc", "--json")
    model = OneClassSVM(nu=0.1, gamma=0.5).fit(X)
    result = json.loads(run("loo", *words, "--nu", 0.1, "--gamma", 0.5)[1])
    np.testing.assert_allclose(result["score"], roc_auc_score(~outlier, model.loo_decision_))
    status, out, err = run("select", *words, "--gamma", "0.01,0.1,1")
    assert (status, err) == (0, "")
    grid = {"gamma": [0.01, 0.1, 1.0], "nu": [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5]}
    search = LOOSearchCV(OneClassSVM(), grid, scoring="roc_auc").fit(X, np.where(outlier, -1, 1))
    result = json.loads(out)
    assert {name: result[name] for name in grid} == search.best_params_
    np.testing.assert_allclose(result["score"], search.best_score_)
    assert len(result["models"]) == 24


def test_selection_by_consistency(rows, run, tmp_path):
    X, _ = cloud()
    path, options = rows
    options = (*TASK, *options, "--nu", 0.2)
    files = ("--save", "model", "--output", "models.csv", "--report", "page.html", "--plot", "rates.svg")
    status, out, err = run("select", path, *options, *files, "--json")
    assert (status, err) == (0, "")
    result, search = json.loads(out), LOOSearchCV(OneClassSVM(nu=0.2)).fit(X)
    assert result["nu"] == 0.2 and result["gamma"] == pytest.approx(search.best_params_["gamma"])
    rates = search.cv_results_["loo_rejection_rate"][np.argsort(search.cv_results_["rank_test_score"])]
    assert [model["loo_rejection_rate"] for model in result["models"]] == rates.tolist()
    assert result["consistent"] is True and result["loo_rejection_rate"] == rates[0]
    with (tmp_path / "models.csv").open() as lines:
        header, best, *_ = csv.reader(lines)
    assert header == ["gamma", "nu", "consistent", "loo_rejection_rate"] and float(best[-1]) == rates[0]
    np.testing.assert_allclose(load_model("model").decision_function(X), search.decision_function(X))
    page = (tmp_path / "page.html").read_text()
    assert "Rejected rows" in page and "by consistency" in page
    assert "left-out rows that are rejected" in (tmp_path / "rates.svg").read_text()
    out = run("select", path, *options)[1]
    assert "Best of 8 models by consistency" in out and f"{100 * rates[0]:.2f} %" in out


def test_remarks_on_a_selection(run, plain):
    words = ("select", plain, *TASK)
    assert "does not choose nu" in run(*words, "--nu", "0.1,0.3")[1]
    assert "larger ones may be" in run(*words, "--nu", "0.1", "--gamma", "0.001,0.01")[1]
    out = run(*words, "--nu", "0.05", "--gamma", "100")[1]
    assert "no model is consistent" in out and "does not choose" not in out


def test_kernels_without_gamma(run, plain, tmp_path):
    words = ("select", plain, *TASK, "--kernel", "linear", "--nu", "0.1,0.3")
    result = json.loads(run(*words, "--plot", "rates.png", "--json")[1])
    search = LOOSearchCV(OneClassSVM(kernel="linear"), {"nu": [0.1, 0.3]}).fit(cloud()[0])
    assert result["nu"] == search.best_params_["nu"] and "gamma" not in result
    assert (tmp_path / "rates.png").stat().st_size > 0


@pytest.mark.parametrize("save_as", ["json", "libsvm"])
def test_train_and_predict(save_as, rows, run, text, labelled, plain):
    X, outlier = cloud()
    path, options = rows
    status, out, err = run(
        "train", path, *TASK, *options, "--nu", 0.2, "--save", "model", "--save-as", save_as
    )
    assert (status, err) == (0, "") and "training rejection rate" in out
    model, reference = OneClassSVM(nu=0.2).fit(X), sklearn.svm.OneClassSVM(nu=0.2, tol=1e-8).fit(X)
    expected = model.decision_function(X)
    np.testing.assert_allclose(expected, reference.decision_function(X), atol=1e-2)
    status, out, _ = run("predict", "model", path, "--decision-values", *options)
    assert status == 0
    *lines, last = out.splitlines()
    values = np.array([line.split(",") for line in lines], dtype=float)
    np.testing.assert_allclose(values[:, 1], expected, atol=1e-9)
    np.testing.assert_array_equal(values[:, 0], np.where(expected >= 0, 1, -1))
    rejected = expected < 0
    assert last.startswith(f"{rejected.sum()} of 60 rejected")
    if path in (labelled, text):
        assert f"{np.count_nonzero(rejected & outlier)} of 5 of class" in last
    if path != text:
        return
    status, out, err = run("predict", "model", plain, "--json")
    assert (status, json.loads(out)["predictions"]) == (0, values[:, 0].tolist())


def test_a_model_finds_its_columns_in_files_with_and_without_labels(run, plain, labelled, file):
    X, _ = cloud()
    for path, options in ((plain, ()), (labelled, ("--label", "state"))):
        assert run("train", path, *TASK, *options, "--save", "model")[0] == 0
        outs = [run("predict", "model", each)[1].splitlines()[:60] for each in (plain, labelled)]
        assert outs[0] == outs[1] and len(outs[0]) == 60
    words = ["attack", "normal", ""] * 20
    lines = [f"{a},{word},{b}" for (a, b), word in zip(X.tolist(), words, strict=True)]
    some = file("\n".join(["a,state,b", *lines]), "some.csv")
    assert run("train", labelled, *TASK, "--label", "state", "--save", "model")[0] == 0
    last = run("predict", "model", some)[1].splitlines()[-1]
    assert " of 20 of class attack; " in last and last.count("of class") == 2
    # by place: a third column is no label unless it is named
    bare = file("\n".join(f"{a},{b}" for a, b in X.tolist()), "bare.csv")
    wide = file("\n".join(f"{a},{b},1" for a, b in X.tolist()), "wide.csv")
    assert run("train", bare, *TASK, "--save", "model")[0] == 0
    assert run("predict", "model", bare)[::2] == (0, "")
    status, _, err = run("predict", "model", wide)
    assert status == 2 and "2 features, and the table has 3 columns" in err
    assert run("predict", "model", wide, "--label", 3)[0] == 0


def test_categories_and_standardised_features(run, file):
    X, _ = cloud()
    colour = np.array(["red", "blue"])[(X[:, 0] > 0).astype(int)]
    lines = [f"{a},{b},{c}" for (a, b), c in zip(X.tolist(), colour, strict=True)]
    path = file("\n".join(["a,b,colour", *lines]))
    options = (*TASK, "--categorical", "colour", "--standardise", "--nu", 0.2)
    assert run("train", path, *options, "--save", "model")[0] == 0
    Z = np.c_[(X - X.mean(axis=0)) / X.std(axis=0, ddof=1), colour == "blue", colour == "red"]
    lines = run("predict", "model", path, "--decision-values")[1].splitlines()[:60]
    values = np.array([line.split(",")[1] for line in lines], dtype=float)
    np.testing.assert_allclose(values, OneClassSVM(nu=0.2).fit(Z).decision_function(Z), atol=2e-3)


def test_one_column_equal_rows_and_one_row(run, file):
    result = json.loads(run("loo", file("1\n2\n3\n4\n9\n"), *TASK, "--nu", 0.4, "--json")[1])
    model = OneClassSVM(nu=0.4).fit(np.array([[1.0], [2], [3], [4], [9]]))
    np.testing.assert_allclose(result["loo_decision_values"], model.loo_decision_)
    equal = file("a,b\n" + "1,2\n" * 6, "equal.csv")
    result = json.loads(run("loo", equal, *TASK, "--json")[1])
    assert result["loo_rejection_rate"] == 0 and result["loo_decision_values"] == [0] * 6
    assert run("select", equal, *TASK)[0] == 0
    one = file("a,b\n1,2\n", "one.csv")
    assert run("train", one, *TASK, "--save", "model")[0] == 0
    assert run("predict", "model", one)[1].startswith("1\n0 of 1 rejected")
    for command in ("loo", "select"):
        status, _, err = run(command, one, *TASK)
        assert status == 2 and "at least two rows" in err


def test_sparse_text_with_far_values(run, file):
    path = file("1 1:0.5\n1 2:1 9000:1\n1 3:1e3\n1 1:0.4\n1 1:0.4\n", "rows.txt")
    result = json.loads(run("loo", path, *TASK, "--gamma", 0.1, "--nu", 0.5, "--json")[1])
    X = np.zeros((5, 9000))
    X[[0, 1, 1, 2, 3, 4], [0, 1, 8999, 2, 0, 0]] = 0.5, 1, 1, 1e3, 0.4, 0.4
    np.testing.assert_allclose(
        result["loo_decision_values"], OneClassSVM(gamma=0.1).fit(X).loo_decision_, atol=1e-12
    )
    assert result["features"] == 9000 and result["rejected_by_class"] == {}


def test_a_column_called_label_is_a_feature_with_a_remark(run, file):
    X, _ = cloud()
    path = file("\n".join(["a,label", *(f"{a},{b}" for a, b in X.tolist())]))
    status, out, err = run("loo", path, *TASK, "--json")
    assert status == 0 and json.loads(out)["features"] == 2
    assert "column 'label' is taken for a feature" in err and "--ignore label" in err
    assert run("loo", path, *TASK, "--strict")[0] == 2
    assert run("loo", path, *TASK, "--ignore", "label")[2] == ""


def test_libsvm_labels_of_many_values_are_not_used(run, tmp_path):
    X, _ = cloud()
    dump_svmlight_file(X, X[:, 0], str(tmp_path / "rows.txt"), zero_based=False)
    status, out, err = run("loo", tmp_path / "rows.txt", *TASK, "--json")
    assert status == 0 and json.loads(out)["label"] is None and "the labels are not used" in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("loo", "--C", 1), "--C is not for --task one-class"),
        (("loo", "--balanced"), "--balanced is not for --task one-class"),
        (("loo", "--epsilon", 1), "--epsilon is for --task regression"),
        (("loo", "--nu", 0), "'0' is not a positive number"),
        (("loo", "--nu", 1.5), "'1.5' is not a share above 0, up to 1"),
        (("loo", "--kernel", "sigmoid"), "positive semi-definite kernel"),
        (("loo", "--label", 9), "there is no column 9"),
        (("loo", "--label", "a"), "different values: that is no class label"),
        (("loo", "--positive", "normal"), "--positive is for --scoring"),
        (("loo", "--ignore", "a", "--ignore", "b", "--ignore", "state"), "no column is left"),
        (("loo", "--scoring", "roc_auc"), "--scoring needs --label"),
        (("loo", "--scoring", "odd"), "--scoring must be a name of"),
        (("loo", "--label", "state", "--scoring", "roc_auc"), "attack, normal"),
        (("loo", "--label", "state", "--scoring", "f1", "--positive", "x"), "--positive x is none of"),
        (
            ("loo", "--label", "state", "--scoring", "neg_log_loss", "--positive", "normal"),
            "--scoring neg_log_loss is not for one-class models",
        ),
        (("select", "--by", "cv"), "--by is not for --task one-class"),
        (("select", "--folds", 3), "--folds is not for --task one-class"),
        (("select", "--seed", 0), "--seed is not for --task one-class"),
        (("select", "--groups", "state"), "--groups is not for --task one-class"),
        (("select", "--outer", 3), "--outer is not for --task one-class"),
        (("select", "--kernel", "linear", "--gamma", 1), "--gamma is for kernels that have one"),
        (("select", "--plot", "a.txt"), "--plot takes a file that ends in"),
        (("train", "--save", "out", "--calibration", "sigmoid"), "--calibration is not for --task one-class"),
        (("train", "--save", "out", "--threshold", "f1"), "--threshold is not for --task one-class"),
        (("train", "--save", "out", "--save-as", "libsvm", "--standardise"), "LIBSVM's model file cannot"),
        (
            ("train", "--save", "out", "--save-as", "libsvm", "--kernel", "laplacian", "--ignore", "state"),
            "the kernel 'laplacian' cannot be saved",
        ),
        (("cv",), "invalid choice: 'one-class'"),
        (("span",), "invalid choice: 'one-class'"),
    ],
)
def test_refusals_are_one_sentence_before_anything_is_written(words, sentence, run, labelled, tmp_path):
    command, *options = words
    status, out, err = run(command, labelled, *TASK, *options)
    assert (status, out) == (2, "") and sentence in err
    assert [path.name for path in tmp_path.iterdir()] == [labelled.name]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_nu_is_for_one_class(task, run, labelled):
    status, _, err = run("loo", labelled, "--task", task, "--nu", 0.1)
    assert status == 2 and "--nu is for --task one-class" in err


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("", (), "the file is empty"),
        ("a,b\n", (), "no row of data"),
        ("a,b\n1,\n2,3\n", (), "line 2, column 'b': the value is missing"),
        ("a,b\n1,\n,3\n", ("--drop-missing",), "every row has a missing value"),
        ("a,b\n1,inf\n2,3\n", (), "'inf' is not finite"),
        ("a,b\n1,x\n2,3\n", (), "'x' is not a number"),
        ("a,y\n1,x\n2,x\n", ("--label", "y", "--scoring", "roc_auc", "--positive", "x"), "rows of outliers"),
        ("a,y\n1,x\n2,\n3,x\n", ("--label", "y"), "line 3, column 'y': the value is missing"),
        ("1 1:2\n1 1:3\n", ("--scoring", "roc_auc"), "rows of outliers"),
        ("1 1:2\n-1 1:3\n", ("--label", "1"), "--label is for CSV files"),
    ],
)
def test_nasty_files_are_one_sentence(content, options, sentence, run, file):
    status, out, err = run("loo", file(content), *TASK, *options)
    assert (status, out) == (2, "") and sentence in err


def test_missing_values_are_dropped_or_filled_in(run, file):
    path = file("a,b\n1,1\n,3\n2,4\n5,2\n")
    result = json.loads(run("loo", path, *TASK, "--drop-missing", "--json")[1])
    assert (result["rows"], result["dropped_rows"]) == (3, 1)
    result = json.loads(run("loo", path, *TASK, "--impute", "--json")[1])
    model = OneClassSVM().fit([[1, 1], [2, 3], [2, 4], [5, 2]])
    np.testing.assert_allclose(result["loo_decision_values"], model.loo_decision_)


def test_page_of_leave_one_out(run, labelled, tmp_path):
    options = ("--label", "state", "--report", "page.html", "--nu", 0.2)
    assert run("loo", labelled, *TASK, *options)[0] == 0
    values = OneClassSVM(nu=0.2).fit(cloud()[0]).loo_decision_
    page = (tmp_path / "page.html").read_text()
    assert "Leave-one-out decision values" in page and f"{np.count_nonzero(values < 0)} of 60 rows" in page
    assert f"{values.min():.6g}" in page and "attack" in page
