"""scikit-learn's own estimators of our models: the same decisions, also in ONNX."""

import pickle

import numpy as np
import onnxruntime
import pytest
import sklearn.svm
import skops.io
from estimators.problems import blobs
from scipy import sparse
from skl2onnx import to_onnx
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmselect import RBF, AnisotropicRBF, Linear
from svmselect.sklearn import SVC, SVR, LOOSearchCV, NuSVC, NuSVR, OneClassSVM, load_model, save_model

KERNELS = {
    "linear": {},
    "poly": {"degree": 2, "coef0": 1.0},
    "rbf": {"gamma": "scale"},
    "sigmoid": {"gamma": 0.01, "coef0": 0.1},
    "precomputed": {},
}
MODELS = [
    SVC(C=3),
    SVC(decision_function_shape="ovo", class_weight="balanced"),
    SVC(break_ties=True),
    NuSVC(0.9),
    SVR(),
    SVR(epsilon=100.0),
    NuSVR(),
    OneClassSVM(nu=0.2),
]


def problem(k, form):
    X, y = blobs(0, m=60, k=k)
    X = np.column_stack([X, np.ones(60), X[:, 0]])
    X[10:20] = X[:10]  # rows that occur twice
    return {
        "dense": X,
        "far": X + 1e6,
        "Fortran": np.asfortranarray(X),
        "sparse": sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X)),
    }[form], y


def values_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def assert_same(converted, model, X):
    """The same predictions where values are clear, and the same values relative to their terms."""
    assert type(converted) is getattr(sklearn.svm, type(model).__name__)
    values, converted_values = values_of(model, X), values_of(converted, X)
    # the size of the terms, whose sums are the values
    rows = {"linear": converted.support_vectors_, "precomputed": np.ones(1)}.get(model.kernel, np.zeros(1))
    size = max(1, np.abs(X).max() * np.abs(rows).max() if rows.size else 1) * np.abs(model.dual_coef_).sum()
    scale = max(size, np.abs(values).max(), np.abs(model.intercept_).max())
    np.testing.assert_allclose(converted_values, values, rtol=0, atol=1e-12 * scale)
    if hasattr(model, "decision_function"):
        clear = np.abs(values).reshape(len(values), -1).min(axis=1) > 1e-12 * scale
        np.testing.assert_array_equal(converted.predict(X)[clear], model.predict(X)[clear])


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    ("kernel", "form"),
    [
        *((kernel, "dense") for kernel in KERNELS),
        *((kernel, "sparse") for kernel in KERNELS if kernel != "precomputed"),
        *((kernel, "far") for kernel in ("linear", "rbf")),
        ("poly", "Fortran"),
    ],
)
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_same_decisions(model, kernel, k, form, tmp_path):
    X, y = problem(k, form)
    if kernel == "precomputed":
        X = X @ X.T
    weight = np.r_[np.zeros(3), np.linspace(0.5, 2, 57)]
    model = clone(model).set_params(kernel=kernel, **KERNELS[kernel])
    model.fit(X, y, sample_weight=None if isinstance(model, NuSVC) else weight)
    converted = model.to_sklearn()
    assert_same(converted, model, X)
    if hasattr(model, "classes_"):
        assert converted.classes_.tolist() == model.classes_.tolist()
        np.testing.assert_array_equal(converted.n_support_, model.n_support_)
    if hasattr(model, "offset_"):
        np.testing.assert_array_equal(converted.offset_, model.offset_)
    # what others do with an estimator
    content = skops.io.dumps(converted)
    for copy in (
        pickle.loads(pickle.dumps(converted)),
        skops.io.loads(content, ["scipy.sparse._csr.csr_matrix"]),
    ):
        np.testing.assert_array_equal(values_of(copy, X), values_of(converted, X))
    if form == "dense":
        assert type(clone(converted).fit(X, y)) is type(converted)
    save_model(model, tmp_path / "model")
    assert vars(load_model(tmp_path / "model").to_sklearn()).keys() == vars(converted).keys()


@pytest.mark.parametrize("model", [SVC(), NuSVC(0.3), SVR(), NuSVR(), OneClassSVM()], ids=str)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_attributes_are_those_that_scikit_learn_sets(model, form):
    X, y = problem(3, form)
    theirs = getattr(sklearn.svm, type(model).__name__)().set_params(
        **({"nu": model.nu} if hasattr(model, "nu") else {})
    )
    theirs.fit(X, y)
    ours = model.fit(X, y).to_sklearn()
    assert vars(theirs).keys() <= vars(ours).keys()
    for name, value in vars(theirs).items():
        if name != "_effective_probability":
            assert type(getattr(ours, name)) is type(value) or np.isscalar(value), name
            assert getattr(getattr(ours, name), "dtype", 0) == getattr(value, "dtype", 0) or np.isscalar(
                value
            ), name
    assert isinstance(ours.gamma, float) and ours.gamma == pytest.approx(theirs._gamma)


def test_names_labels_kernel_objects_and_empty_classes():
    pandas = pytest.importorskip("pandas")
    X, y = problem(3, "dense")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = SVC(kernel=RBF(0.5)).fit(frame, np.array(["ä", "b", "c"])[y])
    converted = model.to_sklearn()
    assert converted.feature_names_in_.tolist() == list("abcde") and converted.kernel == "rbf"
    np.testing.assert_array_equal(converted.predict(frame), model.predict(frame))
    model = SVC().fit(X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    assert_same(model.to_sklearn(), model, X)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (SVC(kernel="laplacian"), "laplacian"),
        (SVR(kernel=AnisotropicRBF((1.0,) * 5)), "AnisotropicRBF"),
        (SVC(kernel=RBF(1.0) + Linear()), "Sum"),
        (SVC(calibration="loo"), "calibration"),
        (SVC(threshold="recall"), "threshold"),
    ],
    ids=str,
)
def test_what_scikit_learn_cannot_hold(model, match):
    X, y = problem(2, "dense")
    with pytest.raises(ValueError, match=match):
        model.fit(X, y).to_sklearn()
    with pytest.raises(ValueError, match="fitted"):
        clone(model).to_sklearn()


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("model", [SVC(), NuSVC(0.3), SVR(), NuSVR(), OneClassSVM()], ids=str)
def test_onnx_predicts_the_same(model, kernel, k):
    X, y = blobs(1, m=80, k=k)
    X = X.astype(np.float32)
    model = clone(model).set_params(kernel=kernel).fit(X, y)
    session = onnxruntime.InferenceSession(
        to_onnx(model.to_sklearn(), X[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    predicted = session.run(None, {session.get_inputs()[0].name: X})[0].ravel()
    if isinstance(model, SVR | NuSVR):
        np.testing.assert_allclose(predicted, model.predict(X), atol=1e-3)
    else:
        values = np.abs(model.decision_function(X))
        clear = values.reshape(80, -1).min(axis=1) > 1e-4
        np.testing.assert_array_equal(predicted[clear], model.predict(X)[clear])


def test_a_pipeline_becomes_onnx():
    X, y = blobs(1, m=80, k=3)
    X = X.astype(np.float32)
    pipeline = make_pipeline(StandardScaler(), LOOSearchCV(SVC(), {"C": [1.0, 10.0]})).fit(X, y)
    plain = make_pipeline(*pipeline[:-1], pipeline[-1].best_estimator_.to_sklearn())
    session = onnxruntime.InferenceSession(
        to_onnx(plain, X[:1]).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    predicted = session.run(None, {session.get_inputs()[0].name: X})[0]
    assert np.mean(predicted == pipeline.predict(X)) > 0.98
