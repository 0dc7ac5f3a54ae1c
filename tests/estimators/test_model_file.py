"""Saved models: a loaded one predicts the same bits, and a file by another hand runs nothing."""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io
from estimators.problems import blobs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from svmselect import RBF, AnisotropicRBF, Linear, Polynomial
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
    load_model,
    save_model,
)

GRID = {"C": [0.5, 5.0], "gamma": [0.1, 1.0]}
SCORER = ["sklearn.metrics._scorer._Scorer", f1_score]
METHODS = ("predict", "decision_function", "predict_proba", "score_samples")


def inner(A, B):
    """A kernel by a function that has a name."""
    return A @ B.T


def saved_and_loaded(model, path, trusted=()):
    save_model(model, path)
    return load_model(str(path), trusted)


def assert_same(copy, model, X):
    """The same parameters, attributes without the training set, and bits of predictions."""
    assert type(copy) is type(model) and repr(copy.get_params()) == repr(model.get_params())
    assert {*vars(copy)} == {*vars(model)} - {"_training"}
    methods = [name for name in METHODS if hasattr(model, name)]
    assert methods == [name for name in METHODS if hasattr(copy, name)]
    for name in methods:
        np.testing.assert_array_equal(getattr(copy, name)(X), getattr(model, name)(X), err_msg=name)


@pytest.mark.parametrize("form", ["dense", "sparse", "far"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        SVC(3, gamma=0.3, decision_function_shape="ovo"),
        SVC(kernel="linear", class_weight={0: 1.5, 1: 0.7}),
        SVC(calibration="loo"),
        SVC(calibration="loo", calibration_method="isotonic"),
        SVC(kernel=0.5 * RBF(0.2) + Linear() * Polynomial(2, 0.1, 1.0)),
        SVC(kernel=AnisotropicRBF((0.1, 0.0, 2.0))),
        SVC(kernel="laplacian"),
        NuSVC(0.3, gamma="auto"),
        SVR(epsilon=0.2, kernel="linear"),
        SVR(epsilon=100.0),
        NuSVR(C=2.0),
        OneClassSVM(nu=0.2, kernel="linear"),
        LOOSearchCV(SVC(), GRID, factor=2),
        SeededCV(SVC(), GRID, scoring={"a": "accuracy", "b": "balanced_accuracy"}, refit="b"),
        SeededCV(SVR(), {"C": [1, 10]}, scoring="neg_mean_absolute_error"),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # polynomials of far rows
def test_a_loaded_model_predicts_the_same_bits(model, k, form, tmp_path):
    X, y = blobs(k, m=60, k=k)
    X = {"dense": X, "far": X + 1e6, "sparse": sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X))}[form]
    model = clone(model).fit(X, y)
    loaded = saved_and_loaded(model, tmp_path / "model")
    assert_same(loaded, model, X)
    assert_same(pickle.loads(pickle.dumps(model)), model, X)
    assert_same(saved_and_loaded(loaded, tmp_path / "again"), loaded, X)


@pytest.mark.parametrize("dtype", [None, object])
@pytest.mark.parametrize("labels", [["ill", "well"], [2.0, 7.0], [False, True], [-3, 8], ["ä", "\n"]])
def test_labels_and_thresholds_of_any_kind(labels, dtype, tmp_path):
    X, y = blobs(2, m=60, k=2)
    y = np.asarray(labels, dtype=dtype if isinstance(labels[0], str) else None)[y]
    for threshold in (None, "balanced_accuracy", make_scorer(f1_score, pos_label=labels[1])):
        model = SVC(threshold=threshold).fit(X, y)
        loaded = saved_and_loaded(model, tmp_path / "model", SCORER)
        assert (loaded.classes_.tolist(), loaded.threshold_) == (model.classes_.tolist(), model.threshold_)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@settings(max_examples=25, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(1e-5, 1e5), st.integers(2, 30), st.integers(0, 100))
def test_every_digit_is_saved(C, gamma, m, seed):
    X, y = blobs(seed, m=m, k=2)
    model = SVC(C, gamma=gamma).fit(X, y)
    content = skops.io.dumps(model)
    loaded = skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))
    assert_same(loaded, model, X)


def test_pipelines_with_names_and_a_given_kernel(tmp_path):
    X, y = blobs(0, m=60, k=2)
    frame = pd.DataFrame(X, columns=["a", "größe", "c"]).assign(word=np.array(["x", "y"])[y[::-1]])
    frame.loc[3, "a"] = np.nan
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = ColumnTransformer([("words", OneHotEncoder(), ["word"])], remainder=numbers)
    for last in (SeededCV(SVC(), GRID), SVC()):
        model = make_pipeline(columns, last).fit(frame, y)
        assert_same(saved_and_loaded(model, tmp_path / "model"), model, frame)
    model = SVC().fit(frame[["größe", "c"]], y)
    loaded = saved_and_loaded(model, tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == ["größe", "c"]
    with pytest.raises(AttributeError, match="loo_error_"):
        loaded.loo_error_  # noqa: B018
    model = SVC(kernel="precomputed").fit(X @ X.T, y)
    assert_same(saved_and_loaded(model, tmp_path / "model"), model, X @ X.T)
    for edited in (EditedSVC(), BaggedSVC(), CrossTrainingSVC()):
        model = edited.fit(X, y)
        assert_same(saved_and_loaded(model, tmp_path / "model"), model, X)


def test_other_types_are_trusted_by_name_or_as_they_are(tmp_path):
    X, y = blobs(0, m=60, k=2)
    model = SVC(kernel=inner).fit(X, y)
    with pytest.raises(ValueError, match=rf"trusted=\['{inner.__module__}\.inner'\]"):
        saved_and_loaded(model, tmp_path / "model")
    assert_same(load_model(tmp_path / "model", inner), model, X)
    model = SeededCV(SVC(), GRID, cv=StratifiedKFold(2)).fit(X, y)
    with pytest.raises(ValueError, match="StratifiedKFold"):
        saved_and_loaded(model, tmp_path / "model")
    assert_same(load_model(tmp_path / "model", [StratifiedKFold]), model, X)


def test_what_cannot_be_saved(tmp_path):
    X, y = blobs(0, m=60, k=2)
    model = SVC().fit(X, y)
    for unfitted in (SVC(), LOOSearchCV(SVC()), make_pipeline(StandardScaler(), SVC())):
        with pytest.raises(ValueError, match=type(unfitted).__name__):
            save_model(unfitted, tmp_path / "model")
    for foreign in (X, SVC, {"model": model}):
        with pytest.raises(ValueError, match=rf"model\b.* {type(foreign).__name__}$"):
            save_model(foreign, tmp_path / "model")
    for function in (lambda A, B: A @ B.T, inner.__get__(X)):
        with pytest.raises(ValueError, match="saved"):
            save_model(SVC().fit(X, y).set_params(kernel=function), tmp_path / "model")
    with pytest.raises(ValueError, match=r"True or False\b.*class_weight"):
        save_model(SVC(class_weight={False: 1, True: 2}).fit(X, y == 1), tmp_path / "model")
    with pytest.raises(ValueError, match=r"format\b.* 'onnx'"):
        save_model(model, tmp_path / "model", "onnx")
    with pytest.raises(ValueError, match=r"zero_based\b.* format='skops'"):
        save_model(model, tmp_path / "model", zero_based=True)
    assert list(tmp_path.iterdir()) == []


def assert_refused(path, match, trusted=()):
    with pytest.raises(ValueError, match=match) as caught:
        load_model(path, trusted)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_a_foreign_file_is_one_sentence(tmp_path):
    path = tmp_path / "model"
    zipped = (b"PK", b"PK\3\4" + b"0" * 100)
    for content in (
        b"",
        b"\xff\xfe",
        b"hello",
        b"{}",
        b"[" * 10**5,
        b"svm_type ",
        b"svm_type c_svc",
        *zipped,
    ):
        path.write_bytes(content)
        assert_refused(path, "skops|LIBSVM")
    path.write_text('{\n"format": "svmselect model",\n"version": 1')
    assert_refused(path, r"JSON.*train")
    assert_refused(tmp_path / "nothing", "no such file")
    assert_refused(tmp_path, "cannot be read")


def rewritten(path, change, other=()):
    """Change the schema of a skops file in place, add entries, and compress the file."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    change(schema)
    parts["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in (parts | dict(other)).items():
            archive.writestr(name, part)


def node(kind, loader, module="builtins", **parts):
    return {"__class__": kind, "__module__": module, "__loader__": loader, **parts}


def with_gamma(value):
    """A change of a schema that gives the model this node as its gamma."""
    return lambda schema: schema["content"]["content"].update(gamma=value)


@pytest.fixture
def path(tmp_path):
    """The file of a model, in a folder of its own."""
    X, y = blobs(0, m=60, k=2)
    save_model(SVC().fit(X, y), tmp_path / "folder" / "model")
    return tmp_path / "folder" / "model"


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "remove"), ("svmselect.sklearn.model_file", "save_model"), ("svmselect.cli", "main")],
)
def test_a_hostile_file_calls_nothing(module, name, path):
    mark = path.with_name("mark")
    mark.write_text("")
    words = [node("str", "JsonNode", content=json.dumps(str(mark)))]
    call = node(name, "ConstructorFromReduceNode", module, content=node("tuple", "TupleNode", content=words))
    rewritten(path, with_gamma(call))
    assert_refused(path, rf"trusted=\['{module}\.{name}'\]")
    assert mark.exists()


def test_names_of_entries_lead_nowhere(path):
    rewritten(path, with_gamma(node("bytes", "BytesNode", file="../../etc/passwd")), {"../mark": b"x"})
    assert_refused(path, "damaged")
    assert [*path.parent.parent.iterdir()] == [path.parent] and [*path.parent.iterdir()] == [path]


def test_a_file_that_is_cut_off_or_no_model_is_refused(path):
    content = path.read_bytes()
    for end in range(2, len(content) - 1, 997):
        path.write_bytes(content[:end])
        assert_refused(path, "damaged")
    path.write_bytes(skops.io.dumps([1, 2]))
    assert_refused(path, "list")


def test_a_file_that_unpacks_to_absurdly_much_is_refused(path, monkeypatch):
    monkeypatch.setattr("svmselect.sklearn.model_file.MOST_BYTES", 2**24)
    zeros, matrix = io.BytesIO(), io.BytesIO()
    np.save(zeros, np.zeros(2**22))
    sparse.save_npz(matrix, sparse.csr_array(np.ones((1, 2**22))))
    often = node("list", "ListNode", content=[node("bytes", "BytesNode", file="often")] * 1000)
    for parts, change in (
        ({"zeros.npy": zeros.getvalue()}, lambda schema: None),
        ({"matrix.npz": matrix.getvalue()}, lambda schema: None),
        ({"often": bytes(2**16)}, with_gamma(often)),
        ({}, with_gamma(node("str", "JsonNode", content=" " * 2**22))),
    ):
        original = path.read_bytes()
        rewritten(path, change, parts)
        assert_refused(path, r"\d{8} bytes")
        path.write_bytes(original)


def test_indices_of_sparse_support_vectors_are_checked(tmp_path):
    X, y = blobs(0, m=60, k=2)
    model = SVC(kernel="linear").fit(sparse.csr_matrix(X), y)
    model.support_vectors_.indices[3] = 10**6
    save_model(model, tmp_path / "model")
    assert_refused(tmp_path / "model", "1000000")
