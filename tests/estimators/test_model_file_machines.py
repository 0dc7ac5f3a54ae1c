"""Model files of regressions and one-class models, ours and LIBSVM's."""

import shutil
import subprocess

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from svmselect import RBF, Linear
from svmselect.sklearn import SVR, NuSVR, OneClassSVM, load_model, save_model

MODELS = [
    SVR(C=3, gamma=0.3, epsilon=0.2),
    SVR(kernel="linear", epsilon=0),
    SVR(epsilon=100.0),
    SVR(kernel=0.5 * RBF(0.2) + Linear()),
    NuSVR(nu=0.3, C=2.0, kernel="poly", degree=2, coef0=1.0),
    OneClassSVM(nu=0.2, gamma=0.5),
    OneClassSVM(nu=0.3, kernel="linear"),
]
KINDS = {"epsilon_svr": (3, SVR), "nu_svr": (4, NuSVR), "one_class": (2, OneClassSVM)}


def problem(form="dense", m=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 4)) + 1
    z = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=m)
    X = np.where(np.abs(X) < 0.5, 0, X)
    return {"dense": X, "sparse": sparse.csr_matrix(X), "far": X + 1e4}[form], z


def values_of(model, X):
    return model.decision_function(X) if isinstance(model, OneClassSVM) else model.predict(X)


@pytest.mark.parametrize("form", ["dense", "sparse", "far"])
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # polynomials of far rows
def test_a_loaded_model_predicts_the_same_bits(model, form, tmp_path):
    X, z = problem(form)
    model = clone(model).fit(X, z)
    save_model(model, tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert type(loaded) is type(model) and loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(values_of(loaded, X), values_of(model, X))
    assert {*vars(loaded)} == {*vars(model)} - {"_training"}
    for name in {*vars(loaded)} - {"support_vectors_"}:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name), err_msg=name)
        assert np.asarray(getattr(loaded, name)).dtype == np.asarray(getattr(model, name)).dtype, name
    save_model(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    with pytest.raises(AttributeError, match="loo"):
        loaded.loo_predictions_  # noqa: B018


def test_a_precomputed_kernel_and_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, z = problem()
    model = SVR(kernel="precomputed").fit(X @ X.T, z)
    save_model(model, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X @ X.T), model.predict(X @ X.T))
    frame = pandas.DataFrame(X, columns=list("abcd"))
    save_model(SVR().fit(frame, z), tmp_path / "model")
    assert load_model(tmp_path / "model").feature_names_in_.tolist() == list("abcd")


@pytest.mark.parametrize(
    "change", [('"dual_coef": [', '"dual_coef": [1.0, '), ('"n_features": 4', '"n_features": 5')]
)
def test_a_damaged_file_is_one_sentence(change, tmp_path):
    X, z = problem()
    save_model(SVR().fit(X, z), tmp_path / "model")
    text = (tmp_path / "model").read_text()
    assert change[0] in text
    (tmp_path / "model").write_text(text.replace(*change))
    with pytest.raises(ValueError, match="damaged"):
        load_model(tmp_path / "model")


@pytest.fixture
def libsvm():
    """LIBSVM's own programs."""
    if shutil.which("svm-predict") is None or shutil.which("svm-train") is None:
        pytest.skip("svm-train and svm-predict (Debian's libsvm-tools) are not on PATH")

    def call(program, *words):
        subprocess.run([program, *map(str, words)], check=True, capture_output=True)

    return call


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", KINDS)
def test_libsvm_predicts_what_a_saved_model_predicts(kind, kernel, form, libsvm, tmp_path):
    X, z = problem(form)
    model = KINDS[kind][1](kernel=kernel, gamma=0.3).fit(X, z)
    save_model(model, tmp_path / "model", "libsvm")
    assert (tmp_path / "model").read_text().startswith(f"svm_type {kind}\n")
    dump_svmlight_file(X, z, str(tmp_path / "rows"), zero_based=False)
    libsvm("svm-predict", tmp_path / "rows", tmp_path / "model", tmp_path / "out")
    clear = np.abs(values_of(model, X)) > 1e-9
    np.testing.assert_allclose(np.loadtxt(tmp_path / "out")[clear], model.predict(X)[clear], atol=1e-9)
    loaded = load_model(tmp_path / "model", X.shape[1])
    assert type(loaded) is type(model)
    np.testing.assert_allclose(values_of(loaded, X), values_of(model, X), atol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [(), ("-b", 1)], ids=["plain", "probabilities"])
def test_a_model_of_libsvm_predicts_what_libsvm_predicts(kind, kernel, options, libsvm, tmp_path):
    if kind == "one_class" and options:
        pytest.skip("older versions of svm-train refuse it")
    X, z = problem()
    number, ours = KINDS[kind]
    dump_svmlight_file(X, z, str(tmp_path / "rows"), zero_based=False)
    options = (
        "-s",
        number,
        "-t",
        {"linear": 0, "rbf": 2}[kernel],
        "-g",
        0.3,
        "-n",
        0.5,
        "-e",
        1e-9,
        *options,
    )
    libsvm("svm-train", *options, tmp_path / "rows", tmp_path / "model")
    libsvm("svm-predict", tmp_path / "rows", tmp_path / "model", tmp_path / "out")
    loaded = load_model(tmp_path / "model", X.shape[1])
    model = ours(kernel=kernel, gamma=0.3, tol=1e-9).fit(X, z)
    clear = np.abs(values_of(model, X)) > 1e-4
    np.testing.assert_allclose(np.loadtxt(tmp_path / "out")[clear], loaded.predict(X)[clear], atol=1e-5)
    np.testing.assert_allclose(values_of(loaded, X), values_of(model, X), atol=1e-3)


def test_a_model_of_libsvm_that_cannot_be_read(tmp_path):
    X, z = problem()
    save_model(SVR().fit(X, z), tmp_path / "model", "libsvm")
    text = (tmp_path / "model").read_text()
    for old, new in [("total_sv ", "total_sv 1"), ("rho ", "rho 1 "), ("epsilon_svr", "two_class")]:
        (tmp_path / "model").write_text(text.replace(old, new, 1))
        with pytest.raises(ValueError, match="LIBSVM"):
            load_model(tmp_path / "model")
