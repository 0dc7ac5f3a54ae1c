"""The features that docs/features.md lists, one small test each."""

import gzip
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from estimators.problems import blobs
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    LeaveOneOut,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect import RBF, AnisotropicRBF, Gram, leave_one_out
from svmselect.bounds import SINGLE_FITS
from svmselect.cli import main
from svmselect.sklearn import (
    SVC,
    SVR,
    BaggedSVC,
    CrossTrainingSVC,
    EditedSVC,
    LOOSearchCV,
    NuSVC,
    OneClassSVM,
    SeededCV,
    load_model,
    save_model,
)

X, y = blobs(3, m=60, k=2)
GRID = {"C": [0.5, 5], "gamma": [0.1, 1]}


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """The command's output; it works in a folder with the rows as rows.csv."""
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X, columns=list("abc")).assign(state=np.array(["ill", "well"])[y]).to_csv(
        "rows.csv", index=False
    )

    def call(*words):
        assert main([*map(str, words), "--quiet"]) == 0
        return capsys.readouterr().out

    return call


def test_leave_one_out_error_equals_that_by_retraining():
    model = SVC(5, gamma=0.3).fit(X, y)
    retrained = cross_val_predict(SVC(5, gamma=0.3, tol=1e-9), X, y, cv=LeaveOneOut())
    np.testing.assert_array_equal(model.loo_predictions_, retrained)
    assert 0 < model.loo_error_ == np.mean(retrained != y)


def test_left_out_decision_values_equal_those_by_retraining():
    options = {"cv": LeaveOneOut(), "method": "decision_function"}
    retrained = cross_val_predict(SVC(5, gamma=0.3, tol=1e-9), X, y, **options)
    np.testing.assert_allclose(SVC(5, gamma=0.3).fit(X, y).loo_decision_, retrained.ravel(), atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_estimates_from_one_fit(k):
    model = SVC(5, gamma=0.3).fit(*blobs(3, m=60, k=k))
    values = {each.key: getattr(model, f"{each.key}_") for each in SINGLE_FITS}
    assert len(values) >= 8 and all(np.isfinite(value) and value >= 0 for value in values.values())
    assert 0 < values["span_estimate"] < 0.5


def test_models_of_a_grid_share_kernel_values():
    """Kernel values are computed once per gamma, and a model that starts from another takes fewer steps."""
    gram = Gram(X, RBF(0.3))
    steps = [leave_one_out(gram, 2.0 * y - 1, C).solution.n_iter for C in (1, 2, 4)]
    computed = gram.kernel_values
    start = leave_one_out(gram, 2.0 * y - 1, 2).solution
    again = leave_one_out(gram, 2.0 * y - 1, 2, start=start.alpha).solution
    assert gram.kernel_values == computed and again.n_iter < steps[1]
    search = LOOSearchCV(param_grid=GRID).fit(X, y)
    values = [SVC(**candidate).fit(X, y).loo_error_ for candidate in search.cv_results_["params"]]
    np.testing.assert_allclose(search.cv_results_["loo_error"], values)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_kernels_of_libsvm_agree_with_libsvm(kernel):
    from sklearn.svm import SVC as LIBSVM

    ours, theirs = (kind(kernel=kernel, gamma=0.1, tol=1e-8).fit(X, y) for kind in (SVC, LIBSVM))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_other_kernels_sums_and_products():
    sums, products = RBF(0.1) + RBF(1.0), RBF(0.1) * RBF(1.0)
    for kernel in ("laplacian", "chi2", sums, products, AnisotropicRBF((0.1, 0.2, 0.3))):
        search = LOOSearchCV(SVC(kernel=kernel), {"C": [0.5, 5]}).fit(np.abs(X), y)
        assert search.best_estimator_.score(np.abs(X), y) > 0.7


def test_function_or_matrix_as_kernel():
    K = X @ X.T
    linear, matrix = SVC(kernel="linear").fit(X, y), SVC(kernel="precomputed").fit(K, y)
    function = SVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    assert linear.loo_error_ == matrix.loo_error_ == function.loo_error_
    np.testing.assert_allclose(matrix.decision_function(K), linear.decision_function(X), atol=5e-3)


def test_more_than_two_classes():
    rows, labels = blobs(3, m=60, k=4)
    model = LOOSearchCV(param_grid=GRID).fit(rows, labels)
    assert model.decision_function(rows).shape == (60, 4) and model.score(rows, labels) > 0.7


def test_sample_weights():
    weight = np.where(np.arange(60) < 50, 1.0, 0.0)
    some, weighted = SVC(gamma=0.3).fit(X[:50], y[:50]), SVC(gamma=0.3).fit(X, y, weight)
    np.testing.assert_allclose(weighted.decision_function(X), some.decision_function(X), atol=5e-3)


def test_class_weights():
    remaining = np.r_[np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)]
    models = [SVC(0.1, gamma=0.1, class_weight=w).fit(X[remaining], y[remaining]) for w in (None, "balanced")]
    plain, balanced = (balanced_accuracy_score(y, model.predict(X)) for model in models)
    assert balanced > plain + 0.1


def test_regression():
    from sklearn.svm import SVR as LIBSVM

    X = np.random.default_rng(0).normal(size=(40, 2))
    z = X[:, 0] * X[:, 1]
    ours, theirs = (kind(C=10, gamma=0.3, tol=1e-8).fit(X, z) for kind in (SVR, LIBSVM))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    left_out = cross_val_predict(LIBSVM(C=10, gamma=0.3, tol=1e-8), X, z, cv=LeaveOneOut())
    np.testing.assert_allclose(ours.loo_predictions_, left_out, atol=1e-5)
    assert ours.predict_interval(X, 0.1).shape == (40, 2)


def test_one_class_models():
    from sklearn.svm import OneClassSVM as LIBSVM

    X = np.random.default_rng(0).normal(size=(40, 2))
    ours, theirs = (kind(nu=0.22, gamma=0.3, tol=1e-8).fit(X) for kind in (OneClassSVM, LIBSVM))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    left_out = cross_val_predict(LIBSVM(nu=0.22, gamma=0.3, tol=1e-8), X, cv=LeaveOneOut())
    np.testing.assert_array_equal(ours.loo_predictions_, left_out)
    search = LOOSearchCV(OneClassSVM(nu=0.22), {"gamma": [0.01, 100.0]}).fit(X)
    assert search.best_params_ == {"gamma": 0.01}


def test_nu_svc():
    from sklearn.svm import NuSVC as LIBSVM

    ours, theirs = (kind(nu=0.3, gamma=0.3, tol=1e-8).fit(X, y) for kind in (NuSVC, LIBSVM))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-4)
    assert 0 <= ours.loo_error_ < 0.5


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_without_another_fit(method, monkeypatch):
    plain = SVC(gamma=0.3).fit(X, y)
    model = SVC(gamma=0.3, calibration="loo", calibration_method=method).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    order = np.argsort(plain.decision_function(X))
    assert (np.diff(p[order, 1]) >= 0).all() and np.ptp(p[:, 1]) > 0.5


def test_threshold_without_another_fit():
    remaining = np.r_[np.flatnonzero(y == 0)[:6], np.flatnonzero(y == 1)]
    model = SVC(0.1, gamma=0.1, threshold="balanced_accuracy").fit(X[remaining], y[remaining])
    plain = SVC(0.1, gamma=0.1).fit(X[remaining], y[remaining])
    assert model.threshold_ != 0
    scores = [balanced_accuracy_score(y, each.predict(X)) for each in (model, plain)]
    assert scores[0] > scores[1] + 0.1


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "roc_auc", "f1", "neg_log_loss"])
def test_searches_by_any_score(scoring):
    for kind in (LOOSearchCV, SeededCV):
        search = kind(SVC(calibration="loo"), GRID, scoring=scoring).fit(X, y)
        assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_searches_that_keep_groups_together():
    groups = np.arange(60) // 5
    ours = SeededCV(SVC(tol=1e-8), GRID, cv=GroupKFold(4)).fit(X, y, groups=groups)
    theirs = GridSearchCV(SVC(tol=1e-8), GRID, cv=GroupKFold(4)).fit(X, y, groups=groups)
    for column in ("mean_test_score", "split3_test_score"):
        np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column])


def test_search_over_kernels_nu_and_class_weights():
    grids = [{"kernel": ["linear"], "C": [1, 5]}, {**GRID, "class_weight": [None, "balanced"]}]
    assert len(LOOSearchCV(SVC(), grids).fit(X, y).cv_results_["params"]) == 10
    assert LOOSearchCV(NuSVC(), {"nu": [0.2, 0.4]}).fit(X, y).best_params_["nu"] in (0.2, 0.4)


def test_random_search_and_halving():
    random = RandomizedSearchCV(SVC(), GRID, n_iter=3, cv=3, random_state=0).fit(X, y)
    halving = HalvingGridSearchCV(SVC(), GRID, cv=3, random_state=0).fit(X, y)
    assert min(random.best_score_, halving.best_score_) > 0.6


def test_outer_error_of_a_selection(run):
    said = json.loads(run("select", "rows.csv", "--C", "0.5,5", "--outer", 3, "--json"))
    assert said["outer_error"] == sum(said["outer_errors"]) / 60
    assert 0.5 < cross_val_score(LOOSearchCV(SVC(), GRID), X, y, cv=3).mean() < 1


def test_ties_are_announced(run):
    words = ("select", "rows.csv", "--C", "0.001,0.001", "--gamma", "0.1")
    assert "2 models tie for the best 3-fold error; the first of the grid is chosen" in run(*words)


def test_leave_one_out_in_a_pipeline(run):
    """The search stands last; the command learns its encoding anew without each outer fold."""
    search = make_pipeline(StandardScaler(), LOOSearchCV(SVC(), GRID)).fit(X * [1, 10, 100], y)
    alone = LOOSearchCV(SVC(), GRID).fit(StandardScaler().fit_transform(X), y)
    assert search[-1].loo_error_ == alone.loo_error_
    pipeline = make_pipeline(StandardScaler(), SVC())
    fitted = GridSearchCV(pipeline, {"svc__C": [0.5, 5]}, cv=LeaveOneOut()).fit(X[::3], y[::3])
    assert fitted.best_score_ > 0.5
    assert json.loads(run("select", "rows.csv", "--standardise", "--outer", 2, "--C", "1", "--json"))


def test_surface_of_errors_is_a_pdf(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("select", "rows.csv", "--C", "0.5,5", "--gamma", "0.1,1", "--report", "surface.pdf")
    assert (tmp_path / "surface.pdf").read_bytes().startswith(b"%PDF")


def test_commands_train_select_save_and_predict(run):
    run("train", "rows.csv", "--save", "trained.json")
    run("select", "rows.csv", "--C", "0.5,5", "--save", "selected.json")
    for name in ("trained.json", "selected.json"):
        assert re.fullmatch(
            r"error .* % \(\d+ of 60 rows\)", run("predict", name, "rows.csv").splitlines()[-1]
        )


def test_categories_and_missing_values_in_a_saved_model(run):
    frame = pd.read_csv("rows.csv").assign(city=np.array(["Oslo", "Rome"])[np.arange(60) % 2])
    frame.loc[3, "city"] = frame.loc[5, "a"] = None
    frame.to_csv("mixed.csv", index=False)
    words = ("--label", "state", "--categorical", "city", "--impute")
    assert json.loads(run("train", "mixed.csv", *words, "--save", "m.json", "--json"))["features"] == 5
    assert len(run("predict", "m.json", "mixed.csv").splitlines()) == 61


@pytest.mark.slow
def test_every_kind_of_file_gives_the_same_error(run):
    dump_svmlight_file(X, y, "rows.libsvm", zero_based=False)
    pd.read_csv("rows.csv").to_parquet("rows.parquet")
    with gzip.open("rows.csv.gz", "wb") as file, open("rows.csv", "rb") as plain:
        file.write(plain.read())
    files = ("rows.csv", "rows.csv.gz", "rows.libsvm", "rows.parquet")
    errors = [json.loads(run("loo", name, "--json"))["loo_error"] for name in files]
    with open("rows.csv") as file:
        command = [sys.executable, "-m", "svmselect.cli", "loo", "-", "--json"]
        done = subprocess.run(command, stdin=file, capture_output=True, text=True, check=True)
    assert {*errors, json.loads(done.stdout)["loo_error"]} == {SVC().fit(X, y).loo_error_}


def test_report_of_a_selection(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("select", "rows.csv", "--C", "0.5,5", "--report", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 1 and "Misclassified rows" in page and "Support vectors" in page


def test_model_file_of_skops(tmp_path):
    model = make_pipeline(StandardScaler(), SVC(gamma=0.3, calibration="loo")).fit(X, y)
    save_model(model, tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_the_class_of_scikit_learn_has_the_same_model():
    model = SVC(gamma=0.3).fit(X, y)
    np.testing.assert_allclose(
        model.to_sklearn().decision_function(X), model.decision_function(X), atol=1e-12
    )


def test_model_file_of_libsvm(tmp_path):
    model = SVC(gamma=0.3).fit(X, y)
    save_model(model, tmp_path / "m", "libsvm")
    assert (tmp_path / "m").read_text().startswith("svm_type c_svc\nkernel_type rbf\n")
    loaded = load_model(tmp_path / "m")
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-12)


def test_pipelines_clones_and_pickles():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.5, 5]}, cv=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(copy.decision_function(X), search.decision_function(X))
    assert clone(search).get_params().keys() == search.get_params().keys()


def test_sparse_rows():
    rows = sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))
    result, dense = (SVC(gamma=0.3).fit(each, y) for each in (rows, rows.toarray()))
    np.testing.assert_allclose(result.loo_decision_, dense.loo_decision_, atol=1e-8)
    assert sparse.issparse(result.support_vectors_)


def test_data_frames():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = SVC(gamma=0.3).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"a": "z"}))


def test_edited_training_sets():
    for kind in (EditedSVC, CrossTrainingSVC, BaggedSVC):
        model = kind(gamma=0.3).fit(X, y)
        assert model.score(X, y) > 0.6
    assert 0 < EditedSVC(gamma=0.3).fit(X, y).rows_.size < 60


@pytest.mark.slow
def test_more_than_a_hundred_thousand_rows():
    """A linear kernel of two far classes, so that the test takes a second."""
    rng = np.random.default_rng(0)
    labels = np.arange(110_000) % 2
    rows = rng.normal(size=(110_000, 2)) * 0.5 + 8 * labels[:, None]
    model = SVC(1.0, kernel="linear").fit(rows, labels)
    assert model.fit_status_ == 0 and model.score(rows, labels) == 1
