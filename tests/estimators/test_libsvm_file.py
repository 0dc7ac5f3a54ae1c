"""LIBSVM's model files: ours predict there, and theirs here, what LIBSVM's programs predict."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from estimators.problems import blobs
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from svmselect.sklearn import SVC, SVR, LOOSearchCV, NuSVC, NuSVR, OneClassSVM, load_model, save_model
from svmselect.sklearn.calibration import PairwiseCoupling


def problem(k, form):
    X, y = blobs(k, m=80, k=k)
    return sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0, X)) if form == "sparse" else X, y


@pytest.fixture
def libsvm():
    """LIBSVM's own programs."""
    if shutil.which("svm-predict") is None or shutil.which("svm-train") is None:
        pytest.skip("svm-train and svm-predict (Debian's libsvm-tools) are not on PATH")

    def call(program, *words):
        subprocess.run([program, *map(str, words)], check=True, capture_output=True)

    return call


LABELS = {2: np.array([1, -1]), 3: np.array([7, -2, 3])}
OPTIONS = {
    "linear": ("-t", 0),
    "poly": ("-t", 1, "-d", 2, "-g", 0.3, "-r", 1),
    "rbf": ("-t", 2, "-g", 0.3),
    "sigmoid": ("-t", 3, "-g", 0.01, "-r", 0.1),
}
PARAMETERS = {
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 1.0},
    "rbf": {"gamma": 0.3},
    "sigmoid": {"gamma": 0.01, "coef0": 0.1},
}
# the number of each type of LIBSVM, with the options that make its model ours
KINDS = [
    (SVC(C=2), (0, "-c", 2)),
    (NuSVC(0.6), (1, "-n", 0.6)),
    (OneClassSVM(), (2, "-n", 0.5)),
    (SVR(), (3, "-p", 0.1)),
    (NuSVR(), (4, "-n", 0.5)),
]


def values_of(model, X):
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kernel", OPTIONS)
@pytest.mark.parametrize(("estimator", "options"), KINDS, ids=str)
def test_both_programs_read_both_files(estimator, options, kernel, k, form, libsvm, tmp_path):
    X, y = problem(k, form)
    y = LABELS[k][y]
    dump_svmlight_file(X, y, str(tmp_path / "rows"), zero_based=False)
    model = clone(estimator).set_params(kernel=kernel, **PARAMETERS[kernel]).fit(X, y)
    save_model(model, tmp_path / "ours", "libsvm")
    libsvm("svm-train", "-s", *options, *OPTIONS[kernel], "-e", 1e-9, tmp_path / "rows", tmp_path / "theirs")
    for name in ("ours", "theirs"):
        libsvm("svm-predict", tmp_path / "rows", tmp_path / name, tmp_path / "out")
        loaded = load_model(tmp_path / name, n_features=X.shape[1])
        assert type(loaded) is type(model)
        values = values_of(loaded, X)
        clear = np.abs(values) > 1e-9 if values.ndim == 1 else slice(None)
        out = np.loadtxt(tmp_path / "out")
        np.testing.assert_allclose(out[clear], loaded.predict(X)[clear], atol=1e-5)
        if name == "ours":
            np.testing.assert_allclose(values, values_of(model, X), atol=1e-12)
        elif estimator.get_params() == SVC(C=2).get_params() and k == 2:
            exact = clone(model).set_params(tol=1e-9).fit(X, y)  # LIBSVM keeps kernel values in float32
            np.testing.assert_allclose(values, values_of(exact, X), atol=1e-5)


def test_what_the_format_cannot_hold(tmp_path):
    X, y = problem(2, "dense")
    for model, match in (
        (SVC().fit(X, y.astype(str)), r"label '0'"),
        (SVC(kernel="laplacian").fit(X, y), r"kernel 'laplacian'"),
        (SVC(kernel="precomputed").fit(X @ X.T, y), r"kernel 'precomputed'"),
        (SVC(threshold="recall").fit(X, y), "threshold"),
        (SVC(calibration="loo").fit(X, y), "calibration"),
        (LOOSearchCV(SVC(), {"C": [1.0]}).fit(X, y), "LOOSearchCV"),
    ):
        with pytest.raises(ValueError, match=match):
            save_model(model, tmp_path / "model", "libsvm")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("estimator", [SVC(), SVR()])
def test_a_file_that_is_cut_off_is_one_sentence(estimator, tmp_path):
    X, y = problem(3, "sparse")
    path = tmp_path / "model"
    save_model(estimator.fit(X[:30], y[:30]), path, "libsvm")
    content = path.read_bytes()
    for end in {*range(0, len(content) - 1, 97), len(content) - 2}:
        path.write_bytes(content[:end])
        with pytest.raises(ValueError) as caught:
            load_model(path)
        assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_far_rows_of_a_linear_kernel_in_libsvms_format(tmp_path):
    X, y = problem(3, "dense")
    X += 1000
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    assert model._origin is not None
    save_model(model, tmp_path / "model", "libsvm")
    loaded = load_model(tmp_path / "model").set_params(decision_function_shape="ovo")
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), atol=1e-6)


MODEL = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:0.5 3:1
-1 2:1
"""


def test_a_model_of_libsvm_by_hand(tmp_path):
    path = tmp_path / "model"
    path.write_text(MODEL)
    model = load_model(path)
    assert (model.n_features_in_, model.classes_.tolist()) == (3, [-1, 1])
    row = np.array([[0.1, 0.2, 0.3]])
    distances = 0.4**2 + 0.2**2 + 0.7**2, 0.1**2 + 0.8**2 + 0.3**2
    expected = np.exp(-0.5 * distances[0]) - np.exp(-0.5 * distances[1]) - 0.25
    assert model.decision_function(row) == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"feature 3\b.* 2\b"):
        load_model(path, n_features=2)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("c_svc", "two_class", "with svm_type two_class, of which c_svc, nu_svc, epsilon_svr"),
        (
            "rbf",
            "precomputed",
            "with kernel_type precomputed, of which linear, polynomial, rbf, sigmoid can be read",
        ),
        ("kernel_type rbf", "kernel_type sigmoid", "damaged"),
        (
            "kernel_type rbf",
            "kernel_type polynomial\ndegree 3\ncoef0 -1",
            r"coef0\b.* -1.0\b",
        ),
        ("gamma 0.5", "gamma x", "damaged"),
        ("gamma 0.5\n", "", "damaged"),
        ("rho 0.25", "rho nan", "damaged"),
        ("rho 0.25", "rho 1 2", "damaged"),
        ("nr_sv 1 1", "nr_sv 3 -1", "damaged"),
        ("nr_class 2", "nr_class 3", "damaged"),
        ("3:1", "3:1e999", "damaged"),
        ("2:1", "-1:1", "damaged"),
        ("1:0.5 3:1", "3:1 1:0.5", "damaged"),
        ("2:1", "99999999999:1", "damaged"),
        ("-1 2:1", "2:1", "damaged"),
        ("label 1 -1", "label 1 1", "damaged"),
    ],
)
def test_a_model_of_libsvm_that_cannot_be_read(old, new, sentence, tmp_path):
    path = tmp_path / "model"
    path.write_text(MODEL.replace(old, new))
    with pytest.raises(ValueError, match=sentence) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}: ")


ROWS = np.array([[0.1, 0.2, 0.3], [-1, 0.5, 2]])


@pytest.mark.parametrize(
    "content",
    [
        MODEL.replace("\n", "\r\n"),
        MODEL.replace("\n", "\r"),
        MODEL.rstrip("\n"),
        MODEL.replace("\n", "\r\n").rstrip(),
        re.sub(r"(?<=:1)$", " ", MODEL, flags=re.MULTILINE).rstrip("\n"),
        "\ufeff" + MODEL,
        re.sub(r"(\d):", lambda m: f"{int(m[1]) - 1}:", MODEL),
    ],
    ids=["crlf", "cr", "no end", "crlf, no end", "LIBSVM's spaces, no end", "mark", "from 0"],
)
def test_a_model_of_libsvm_in_other_clothes(content, tmp_path):
    (tmp_path / "plain").write_text(MODEL)
    (tmp_path / "other").write_bytes(content.encode())
    model, other = (load_model(tmp_path / name) for name in ("plain", "other"))
    np.testing.assert_array_equal(other.decision_function(ROWS), model.decision_function(ROWS))


def test_features_of_libsvm_from_0_or_1(tmp_path):
    """Features 0 and 3 are 0 in all support vectors of a file by another program."""
    path = tmp_path / "model"
    path.write_text(MODEL.replace(" 3:1", " 2:1").replace(" 2:1", " 2:4"))
    first, second = load_model(path, n_features=4), load_model(path, n_features=4, zero_based=True)
    np.testing.assert_array_equal(np.flatnonzero(first.support_vectors_.toarray().any(axis=0)), [0, 1])
    np.testing.assert_array_equal(np.flatnonzero(second.support_vectors_.toarray().any(axis=0)), [1, 2])
    path.write_text(MODEL.replace("2:1", "0:1"))
    assert load_model(path).n_features_in_ == 4
    with pytest.raises(ValueError, match=r"feature 0\b.*zero_based"):
        load_model(path, zero_based=False)
    with pytest.raises(ValueError, match=r"feature 3\b.* 3\b"):
        load_model(path, n_features=3)
    with pytest.raises(ValueError, match=r"zero_based\b.* 2\b"):
        load_model(path, zero_based=2)


@pytest.mark.parametrize("zero_based", [False, True])
def test_a_file_for_libsvm_tells_how_many_features_there_are(zero_based, tmp_path):
    X, y = problem(2, "sparse")
    X = sparse.hstack([np.zeros((80, 1)), X, np.zeros((80, 2))], format="csr")
    model = SVC(gamma=0.3).fit(X, y)
    save_model(model, tmp_path / "model", "libsvm", zero_based=zero_based)
    loaded = load_model(tmp_path / "model")
    assert loaded.n_features_in_ == 6
    np.testing.assert_allclose(loaded.decision_function(X), model.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize("labels", [[1, -1], [-1, 1]])
def test_probabilities_of_a_model_of_libsvm_by_hand(labels, tmp_path):
    path = tmp_path / "model"
    text = MODEL.replace("label 1 -1", f"label {labels[0]} {labels[1]}\nprobA -1.5\nprobB 0.25")
    path.write_text(text)
    model = load_model(path)
    (tmp_path / "plain").write_text(MODEL)
    value = load_model(tmp_path / "plain").decision_function(ROWS)  # positive for the file's first class
    p = 1 / (1 + np.exp(-1.5 * value + 0.25))
    order = np.argsort(labels)
    np.testing.assert_allclose(model.predict_proba(ROWS), np.column_stack([p, 1 - p])[:, order], rtol=1e-12)
    for format in ("skops", "libsvm"):
        save_model(model, tmp_path / "again", format)
        again = load_model(tmp_path / "again").predict_proba(ROWS)
        np.testing.assert_allclose(again, model.predict_proba(ROWS), rtol=1e-12)
    for damage in ("probA -1.5\n", "probA -1.5 2\nprobB 1 2\n", "probA x\nprobB 1\n"):
        path.write_text(re.sub("probA.*\nprobB.*\n", damage, text))
        with pytest.raises(ValueError, match="damaged"):
            load_model(path)
    with pytest.raises(AttributeError):
        load_model(tmp_path / "plain").predict_proba(ROWS)
    # another fit is without them
    assert not hasattr(model.fit(ROWS, [0, 1]), "predict_proba")


def coupled_by_definition(r):
    """Probabilities that minimise the sum over pairs of ``(r[j, i] p[i] - r[i, j] p[j])^2``, to round-off."""
    k = len(r)
    Q = -r * r.T + np.diag((r**2).sum(axis=0))
    system = np.block([[Q, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.r_[np.zeros(k), 1])[:k]


@pytest.mark.parametrize("k", [3, 5])
def test_coupled_probabilities(k):
    rng = np.random.default_rng(k)
    A, B = -rng.uniform(0.5, 2, k * (k - 1) // 2), rng.normal(size=k * (k - 1) // 2) / 5
    values = rng.normal(size=(40, k * (k - 1) // 2))
    computed = PairwiseCoupling(A, B)(values)
    np.testing.assert_allclose(computed.sum(axis=1), 1, rtol=1e-12)
    for row, p in zip(values, computed, strict=True):
        r = np.zeros((k, k))
        r[np.triu_indices(k, 1)] = 1 / (1 + np.exp(A * row + B))
        r += np.tril(1 - r.T, -1)
        np.testing.assert_allclose(p, coupled_by_definition(r), atol=0.01)  # LIBSVM stops at 0.005 / k


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("order", [1, -1])
def test_probabilities_are_those_of_libsvm(k, order, libsvm, tmp_path):
    X, y = problem(k, "dense")
    rows = np.argsort(y, kind="stable")[::order]  # LIBSVM's classes are in the order of the rows
    for name, part in (("train", rows), ("new", np.arange(80))):
        dump_svmlight_file(X[part], y[part], str(tmp_path / name), zero_based=False)
    libsvm("svm-train", "-b", 1, "-g", 0.05, tmp_path / "train", tmp_path / "model")
    libsvm("svm-predict", "-b", 1, tmp_path / "new", tmp_path / "model", tmp_path / "out")
    head, *lines = (tmp_path / "out").read_text().splitlines()
    columns = np.array(head.split()[1:], dtype=int)
    expected = np.array([line.split()[1:] for line in lines], dtype=float)
    model = load_model(tmp_path / "model")
    computed = model.predict_proba(X)[:, [model.classes_.tolist().index(label) for label in columns]]
    np.testing.assert_allclose(computed, expected, rtol=1e-4)
    assert np.ptp(expected, axis=0).min() > 0.3
