"""The parameters of scikit-learn's SVC and NuSVC: accepted, or refused in a sentence."""

import inspect

import numpy as np
import pytest
import sklearn
import sklearn.svm
from estimators.problems import blobs
from packaging.version import Version
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, LeaveOneOut, StratifiedKFold, cross_val_predict

from svmselect.sklearn import SVC, LOOSearchCV, NuSVC, SeededCV

SINCE_1_8 = pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.8"), reason="scikit-learn before 1.8 has no such value"
)
PAIRS = [(SVC, sklearn.svm.SVC), (NuSVC, sklearn.svm.NuSVC)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_every_parameter_is_there(ours, theirs):
    parameters = inspect.signature(ours).parameters
    different = {"tol", "cache_size", "probability"} if ours is NuSVC else {"cache_size", "probability"}
    for name, parameter in inspect.signature(theirs).parameters.items():
        assert name in parameters
        if name not in different:
            assert parameters[name].default == parameter.default


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
@pytest.mark.parametrize(
    "parameters",
    [
        {"shrinking": False},
        {"random_state": 7},
        {"random_state": np.random.RandomState(0)},
        pytest.param({"probability": "deprecated"}, marks=SINCE_1_8),
        {"cache_size": 1},
        {"kernel": "poly", "degree": 2, "coef0": 1.0},
    ],
)
def test_what_is_accepted_gives_the_same_classifier(ours, theirs, parameters):
    X, y = blobs(0, m=60, k=3)
    fitted = ours(**{"tol": 1e-7, **parameters}).fit(X, y)
    expected = theirs(**{"tol": 1e-7, **parameters}).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(fitted.predict(X), expected.predict(X))


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"probability": True}, r"probability\b.* True\b"),
        ({"shrinking": "yes"}, r"shrinking\b.* 'yes'"),
        ({"break_ties": 1}, r"break_ties\b.* 1\b"),
        ({"verbose": "yes"}, r"verbose\b.* 'yes'"),
    ],
)
def test_what_is_refused_is_a_sentence(estimator, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator(**parameters).fit(*blobs(0, m=30, k=3))


def tied():
    """Four classes around 0, where many points have votes in a circle, and a map of points."""
    X, y = blobs(3, m=80, d=2, k=4)
    grid = np.linspace(-6, 6, 60)
    return X, y, np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])


@pytest.mark.parametrize("break_ties", [False, True])
def test_ties_are_broken_as_in_scikit_learn(break_ties):
    X, y, points = tied()
    parameters = {"kernel": "linear", "C": 10.0, "tol": 1e-8, "break_ties": break_ties}
    fitted = SVC(**parameters).fit(X, y).predict(points)
    np.testing.assert_array_equal(fitted, sklearn.svm.SVC(**parameters).fit(X, y).predict(points))
    if break_ties:
        first = SVC(**{**parameters, "break_ties": False}).fit(X, y).predict(points)
        assert (first != fitted).sum() > 10


@pytest.mark.slow
def test_left_out_rows_break_ties_too():
    X, y = blobs(0, m=48, d=2, k=6)
    parameters = {"kernel": "linear", "C": 10.0, "break_ties": True}
    libsvm = sklearn.svm.SVC(tol=1e-8, **parameters)
    expected = cross_val_predict(libsvm, X, y, cv=LeaveOneOut())
    plain = SVC(**{**parameters, "break_ties": False}).fit(X, y)
    fitted = SVC(**parameters).fit(X, y)
    np.testing.assert_array_equal(fitted.loo_predictions_, expected)
    assert (plain.loo_predictions_ != expected).any()
    grid = {"C": [0.3, 1.0, 5.0]}
    for search, cv in ((LOOSearchCV, LeaveOneOut()), (SeededCV, StratifiedKFold(4))):
        options = {} if search is LOOSearchCV else {"cv": cv}
        theirs = GridSearchCV(libsvm, grid, cv=cv, scoring="accuracy").fit(X, y)
        for scoring in (None, "accuracy"):
            ours = search(SVC(tol=1e-8, **parameters), grid, scoring=scoring, **options).fit(X, y)
            np.testing.assert_allclose(
                ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9
            )


@pytest.mark.parametrize("estimator", [SVC, NuSVC])
def test_verbose_prints_a_line_for_each_pair(estimator, capsys):
    X, y = blobs(0, m=60, k=3)
    estimator().fit(X, y)
    assert capsys.readouterr().out == ""
    fitted = estimator(verbose=True).fit(X, np.array(["a", "b", "c"])[y])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[1].startswith("[svmselect] 'a' and 'c': 40 rows, ")
    assert f"{fitted.n_iter_[1]} steps" in lines[1]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_nu_svc_calibrates_as_svc_does(classes, method):
    X, y = blobs(5, m=90, k=classes)
    model = NuSVC(nu=0.4, gamma=0.3, calibration="loo", calibration_method=method).fit(X[:60], y[:60])
    p = model.predict_proba(X[60:])
    assert p.shape == (30, classes)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if method == "sigmoid":  # an isotonic map of 60 rows is sure of itself at its ends
        assert log_loss(y[60:], p) < np.log(classes)
    assert not hasattr(NuSVC().fit(X, y), "predict_proba")
    search = LOOSearchCV(NuSVC(calibration="loo"), {"nu": [0.2, 0.4]}, scoring="neg_log_loss").fit(X, y)
    assert search.predict_proba(X).shape == (90, classes)


def test_nu_svc_tunes_its_threshold_as_svc_does():
    X, y = blobs(5, m=60, k=2)
    y = np.where(np.arange(60) < 40, 0, y)
    model = NuSVC(nu=0.2, gamma=0.3, threshold="balanced_accuracy").fit(X, y)
    values = NuSVC(nu=0.2, gamma=0.3).fit(X, y).loo_decision_

    def balanced(threshold):
        right = (values >= threshold) == y
        return (right[y == 0].mean() + right[y == 1].mean()) / 2

    assert balanced(model.threshold_) == max(map(balanced, [*values, values.max() + 1])) > balanced(0)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) >= model.threshold_)
