"""A fit that fails, or is interrupted, leaves the estimator as it was; data that mislead it are named."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numerics.problems import two_classes
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import LeaveOneOut
from sklearn.utils.validation import check_is_fitted

from svmselect.sklearn import (
    SVC,
    SVR,
    BaggedSVC,
    CrossTrainingSVC,
    EditedSVC,
    LOOSearchCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    SeededCV,
)

RNG = np.random.default_rng(0)
X, Y = two_classes(RNG, 60, 3, gap=0.5)
Z = X[:, 0] + 0.1 * RNG.normal(size=60)
TARGET = {SVR: Z, NuSVR: Z}


def fails(A, B):
    raise RuntimeError("no kernel")


def interrupts(A, B):
    raise KeyboardInterrupt


def estimators(kernel):
    """Every kind of estimator, and every search of each."""
    kinds = [SVC, NuSVC, SVR, NuSVR, OneClassSVM]
    searches = [LOOSearchCV(kind(kernel=kernel), error_score="raise") for kind in kinds]
    searches += [SeededCV(kind(kernel=kernel), error_score="raise") for kind in kinds[:-1]]
    for search in searches:
        search.param_grid = {search.estimator._formulation: [0.3]}
    edited = [kind(kernel=kernel) for kind in (CrossTrainingSVC, BaggedSVC, EditedSVC)]
    return [*(kind(kernel=kernel) for kind in kinds), *searches, *edited]


def target_of(estimator):
    return TARGET.get(type(getattr(estimator, "estimator", estimator)), Y)


def name_of(estimator):
    """A short name of a test."""
    inner = getattr(estimator, "estimator", None)
    return type(estimator).__name__ + (f"({type(inner).__name__})" if inner is not None else "")


def with_kernel(estimator, kernel):
    name = "estimator__kernel" if hasattr(estimator, "estimator") else "kernel"
    return estimator.set_params(**{name: kernel})


@pytest.mark.parametrize("kernel", [fails, interrupts])
@pytest.mark.parametrize("estimator", estimators("rbf"), ids=name_of)
def test_a_fit_that_ends_early_changes_nothing(estimator, kernel):
    estimator, y = clone(estimator), target_of(estimator)
    with_kernel(estimator, kernel)
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        estimator.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    with pytest.raises(NotFittedError):
        estimator.predict(X)
    with_kernel(estimator, "rbf").fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    predictions, before = estimator.predict(X), dict(vars(estimator))
    with_kernel(estimator, kernel)
    with pytest.raises((RuntimeError, KeyboardInterrupt)):
        estimator.fit(X[:, :2], y)
    assert estimator.n_features_in_ == 3 and list(estimator.feature_names_in_) == ["a", "b", "c"]
    assert {key: id(value) for key, value in vars(estimator).items() if key != "kernel"} == {
        key: id(value) for key, value in before.items() if key != "kernel"
    }
    np.testing.assert_array_equal(estimator.predict(X), predictions)


def test_an_interrupted_refit_leaves_no_half_search(monkeypatch):
    search = LOOSearchCV(SVC(), {"C": [1.0]})

    def interrupted(self, *args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SVC, "_train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, Y)
    with pytest.raises(NotFittedError):
        search.predict(X)
    assert "cv_results_" not in vars(search)


def test_warnings_name_the_line_that_called():
    with pytest.warns(UserWarning) as caught:
        SVC(max_iter=1).fit(X, Y)
        SVR(max_iter=1).fit(X, Z)
        SeededCV(SVC(max_iter=1), {"C": [1.0]}).fit(X, Y)
    assert {warning.filename for warning in caught} == {__file__}


def score(estimator, X, y):
    return 1.0


def nan_score(estimator, X, y):
    return np.nan


SEARCHES = [
    (search, kind)
    for search in (LOOSearchCV, SeededCV)
    for kind in (SVC, NuSVC, SVR, NuSVR, OneClassSVM)
    if (search, kind) != (SeededCV, OneClassSVM)
]


@pytest.mark.parametrize(("search", "kind"), SEARCHES)
def test_scores_that_are_all_nan_stop_a_search(search, kind):
    y = TARGET.get(kind, Y)
    grid = {kind._formulation: [0.2, 0.3]}
    with pytest.raises(ValueError, match=r"\bscore\b.* NaN"):
        search(kind(), grid, scoring=nan_score).fit(X, y)
    both = {"good": score, "bad": nan_score}
    with pytest.warns(UserWarning, match=r"\bbad\b.* 2 of 2"):
        search(kind(), grid, scoring=both, refit="good").fit(X, y)
    with pytest.raises(ValueError, match=r"\bbad\b.* NaN"):
        search(kind(), grid, scoring=both, refit="bad").fit(X, y)


def test_r2_of_folds_of_one_row_stops_a_search():
    with (
        warnings.catch_warnings(action="ignore"),
        pytest.raises(ValueError, match=r"\bscore\b.* NaN"),
    ):
        SeededCV(SVR(), {"C": [10, 100]}, cv=LeaveOneOut()).fit(X[:30], Z[:30])


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_a_search_weighs_the_score_of_new_rows_for_regressions(scoring):
    search = SeededCV(SVR(), {"C": [1.0]}, scoring=scoring).fit(X, Z)
    weight = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    expected = search.score(X[repeated], Z[repeated])
    assert search.score(X, Z, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    assert search.score(X, Z) != pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("kind", [LOOSearchCV, SeededCV])
@pytest.mark.parametrize("scoring", [None, "accuracy", "balanced_accuracy", ["roc_auc", "f1"]])
def test_a_search_weighs_the_score_of_new_rows(kind, scoring):
    refit = "f1" if isinstance(scoring, list) else True
    search = kind(SVC(), {"C": [1.0]}, scoring=scoring, refit=refit).fit(X, Y)
    weight = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    expected = search.score(X[repeated], Y[repeated])
    assert search.score(X, Y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)
    assert search.score(X, Y) != pytest.approx(expected, rel=1e-3)


def test_weights_that_a_scorer_cannot_use_are_refused():
    search = LOOSearchCV(SVR(), {"C": [1.0]}, scoring=make_scorer(max_error)).fit(X, Z)
    with pytest.raises(TypeError, match=r"'score' takes no sample_weight"):
        search.score(X, Z, sample_weight=np.ones(60))
    # the error of a scorer that takes weights stays its own
    with pytest.raises(ValueError, match="60"):
        LOOSearchCV(SVR(), {"C": [1.0]}).fit(X, Z).score(X, Z, sample_weight=np.ones(7))


BIG = 2**53 + 1


def large(kind):
    """Rows whose column 1 holds an integer that float64 rounds, of some kind."""
    rows = np.stack([np.arange(24), np.arange(24) + 5], axis=1)
    rows[7, 1] = BIG
    if kind == "csr":
        return sparse.csr_array(rows)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame({"a": rows[:, 0], "id": rows[:, 1]})
    if kind in ("pandas", "Int64"):
        frame = pd.DataFrame({"a": rows[:, 0] / 2, "id": rows[:, 1]})
        return frame.astype({"id": kind}) if kind == "Int64" else frame
    return rows.tolist() if kind == "list" else rows.astype(kind)


@pytest.mark.parametrize("kind", ["int64", "uint64", "object", "list", "csr", "pandas", "Int64", "polars"])
@pytest.mark.parametrize(
    "model", [SVC(), SVR(), OneClassSVM(), EditedSVC(), LOOSearchCV(SVC(), {"C": [1]})], ids=name_of
)
def test_integers_that_float64_rounds_are_named(model, kind):
    y = np.arange(24) % 2
    column = "'id'" if kind in ("pandas", "Int64", "polars") else "1"
    with pytest.warns(UserWarning, match=rf"column {column} of X .*\b{BIG} to {BIG - 1}\b"):
        model.fit(large(kind), y)


@pytest.mark.parametrize(
    ("value", "rounded"),
    [(2**53, False), (2**53 + 2, False), (-(2**53) - 1, True), (2**62, False), (2**63 - 1, True)],
)
def test_only_integers_that_change_are_named(value, rounded):
    z = np.arange(24)
    z[3] = value
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVR(C=1e-3, max_iter=10**6).fit(np.arange(24.0)[:, None], z)
    assert [f"y holds integers that float64 rounds, such as {value}" in str(w.message) for w in caught] == [
        True
    ] * rounded
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC().fit(np.arange(24.0)[:, None], np.where(z % 3, value, 0))  # labels stay what they are


def test_integers_beyond_float64_are_refused():
    with pytest.raises(ValueError, match=r"column 0 of X is too large for float64"):
        SVC().fit([[10**400], [1]], [0, 1])


@pytest.mark.parametrize(
    "fit",
    [SVC(), LOOSearchCV(SVC(), {"C": [1]}), SeededCV(NuSVC(), {"nu": [0.1]}, cv=LeaveOneOut())],
    ids=name_of,
)
def test_numbers_to_predict_are_asked_about(fit):
    rows, numbers = np.arange(24.0)[:, None], np.arange(24) // 2 * 2 + np.arange(24) % 5 // 4
    with (
        pytest.warns(UserWarning, match=rf"{np.unique(numbers).size} different numbers in 24 rows.*SVR"),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "The least populated class")
        fit.fit(rows, numbers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC().fit(rows, numbers.astype(str))  # names
        SVC().fit(rows[:20], numbers[:20])  # few rows
        SVC().fit(rows, np.arange(24) // 2)  # no more than half of them differ


@pytest.mark.parametrize("scale", [1e100, 1e149, 1e150, 1e160, 1e300])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian"])
@pytest.mark.parametrize("kind", [SVC, SVR, OneClassSVM])
def test_huge_features_are_computed_with_or_named(kind, kernel, scale):
    """Left-out values, too. Sums of kernel values beyond 1e300 once wrote outside of arrays."""
    name = "nu" if kind is OneClassSVM else "C"
    # of a linear kernel C is for values of the size scale^2
    value = max(1 / scale / scale, 1e-300) if kernel == "linear" and name == "C" else 0.3
    for gamma in ("scale", 1.0):
        model = kind(kernel=kernel, gamma=gamma, **{name: value})
        for fit in (model, LOOSearchCV(model, {name: [value]})):
            try:
                fit.fit(X[:20] * scale, target_of(model)[:20])
                fitted = getattr(fit, "best_estimator_", fit)
                values = fitted.loo_decision_ if kind is OneClassSVM else fitted.loo_predictions_
                assert np.isfinite(values).all()
            except ValueError as error:
                assert "float64" in str(error)


@pytest.mark.parametrize("weight", [1e280, 1e300, 1e308])
def test_huge_weights_of_one_class_are_computed_with_or_named(weight):
    model, expected = OneClassSVM(), OneClassSVM().fit(X).predict(X)
    try:
        np.testing.assert_array_equal(model.fit(X, sample_weight=np.full(60, weight)).predict(X), expected)
    except ValueError as error:
        assert f"{weight:.3g}" in str(error)
