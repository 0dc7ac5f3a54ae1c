"""Kernels: their values against direct evaluation, and what is computed from them against scikit-learn."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC

from svmselect import (
    RBF,
    AnisotropicRBF,
    ChiSquared,
    Custom,
    Gram,
    Laplacian,
    Linear,
    Polynomial,
    Sigmoid,
    cross_validate,
    cross_validate_grid,
    decision_function,
    leave_one_out,
    radius_margin,
    solve_csvc,
    span_rule,
    stratified_folds,
    xi_alpha,
)
from svmselect.kernels import Product, Sum
from svmselect.kernels.panels import BLOCK_ROWS

GAMMAS = (0.5, 0.0, 2.0, 0.1)


def histogram_kernel(X, Z):
    """A user's function: how much two histograms have in common, of dense or sparse rows."""
    X, Z = (rows.toarray() if sparse.issparse(rows) else rows for rows in (X, Z))
    return np.minimum(X[:, None], Z[None]).sum(axis=2)


# kernels, and their values from two rows in long double
KERNELS = {
    "linear": (Linear(), lambda x, z: x @ z),
    "rbf": (RBF(0.7), lambda x, z: np.exp(-0.7 * ((x - z) ** 2).sum())),
    "polynomial": (Polynomial(3, 0.5, 1.0), lambda x, z: (0.5 * (x @ z) + 1) ** 3),
    "quadratic": (Polynomial(2), lambda x, z: (x @ z) ** 2),
    "seventh power": (Polynomial(7, 0.3, 0.2), lambda x, z: (0.3 * (x @ z) + 0.2) ** 7),
    "sigmoid": (Sigmoid(0.2, 0.1), lambda x, z: np.tanh(0.2 * (x @ z) + 0.1)),
    "laplacian": (Laplacian(0.4), lambda x, z: np.exp(-0.4 * abs(x - z).sum())),
    "chi-squared": (
        ChiSquared(0.6),
        lambda x, z: np.exp(-0.6 * sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b)),
    ),
    "a width per feature": (
        AnisotropicRBF(GAMMAS),
        lambda x, z: np.exp(-(np.array(GAMMAS) * (x - z) ** 2).sum()),
    ),
    "sum": (
        2 * RBF(0.7) + Linear() + Laplacian(0.1),
        lambda x, z: 2 * np.exp(-0.7 * ((x - z) ** 2).sum()) + x @ z + np.exp(-0.1 * abs(x - z).sum()),
    ),
    "product": (
        RBF(0.7) * Polynomial(2, 1.0, 1.0),
        lambda x, z: np.exp(-0.7 * ((x - z) ** 2).sum()) * (x @ z + 1) ** 2,
    ),
    "function": (Custom(histogram_kernel), lambda x, z: np.minimum(x, z).sum()),
}
DEFINITE = [name for name, (kernel, _) in KERNELS.items() if kernel.definite]


def make_rows(m, seed=0, d=4):
    """Histograms: values from 0 up, some of them 0, and labels that depend on two features."""
    rng = np.random.default_rng(seed)
    X = rng.random((m, d)) * (rng.random((m, d)) > 0.3)
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(m) > 0, 1.0, -1.0)
    return X, y


def direct(value, X, Z):
    X, Z = X.astype(np.longdouble), Z.astype(np.longdouble)
    return np.array([[value(x, z) for z in Z] for x in X], dtype=np.longdouble)


@pytest.mark.parametrize("sparse_rows", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-14), ("float32", 1e-5)])
@pytest.mark.parametrize("name", KERNELS)
def test_values(name, dtype, most, sparse_rows):
    kernel, value = KERNELS[name]
    X, _ = make_rows(40)
    X[7] = X[3]
    X[9] = 0
    expected = direct(value, X, X)
    rows = sparse.csr_array(X) if sparse_rows else X
    gram = Gram(rows, kernel, dtype=dtype)
    scale = float(abs(expected).max())
    assert np.abs(gram.matrix() - expected).max() <= most * scale
    assert np.abs(gram.diagonal - np.diag(expected)).max() <= most * scale
    assert (gram.matrix() == gram.matrix().T).all()
    new, _ = make_rows(11, seed=1)
    if dtype == "float64":
        result = gram.cross(sparse.csr_array(new) if sparse_rows else new, np.arange(5, 20))
        assert np.abs(result - direct(value, new, X[5:20])).max() <= most * scale
    lazily = Gram(rows, kernel, dtype=dtype)
    assert (
        np.abs(lazily.product([3, 30], [1.0, -2.0]) - expected[:, [3, 30]] @ [1, -2]).max()
        <= 4 * most * scale
    )
    part = gram.restricted([1, 5, 8])
    assert (part.matrix() == gram.matrix()[np.ix_([1, 5, 8], [1, 5, 8])]).all()


@pytest.mark.parametrize("kernel", [Laplacian(0.4), ChiSquared(0.6), RBF(1.0) + Polynomial(2)], ids=repr)
def test_blocks_of_many_panels(kernel):
    X, _ = make_rows(BLOCK_ROWS + 90, d=3)
    whole = Gram(X, kernel).matrix()
    by_columns = Gram(X, kernel, memory_mb=0.1)
    assert not by_columns.full
    theta = np.zeros(len(X))
    theta[[0, 5, 600]] = 1, -2, 0.5
    support = np.flatnonzero(theta)
    assert np.allclose(by_columns.product(support, theta[support]), whole @ theta, rtol=0, atol=1e-12)
    assert by_columns.squared_radius() == pytest.approx(Gram(X, kernel).squared_radius(), abs=1e-12)


@pytest.mark.parametrize("name", DEFINITE)
def test_squared_radius(name):
    kernel, value = KERNELS[name]
    X, _ = make_rows(60)
    K = direct(value, X, X)
    most = float((np.diag(K)[:, None] - K).max())
    assert Gram(X, kernel).squared_radius() >= most - 1e-12
    if kernel.radius is None:
        assert Gram(X, kernel).squared_radius() == pytest.approx(most)


@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("name", KERNELS)
def test_fit_as_libsvm(name, C):
    kernel, value = KERNELS[name]
    X, y = make_rows(80)
    K = direct(value, X, X).astype(np.float64)
    reference = SVC(C=C, kernel="precomputed", tol=1e-10).fit(K, y)
    solution = solve_csvc(Gram(X, kernel), y, C, tol=1e-8)
    assert solution.converged
    expected = reference.decision_function(K)
    if np.ptp(expected - solution.decision) > 1e-4:  # an indefinite kernel has several stationary points
        assert not kernel.definite
    alpha = np.zeros(len(y))
    alpha[reference.support_] = np.abs(reference.dual_coef_[0])
    theta = y * alpha
    if kernel.definite:
        assert solution.objective == pytest.approx(theta @ K @ theta / 2 - alpha.sum(), abs=1e-6 * C)
    assert np.abs(K @ (y * solution.alpha) + solution.b - solution.decision).max() < 1e-9 * max(C, 1)


@pytest.mark.parametrize("method", ["unlearn", "certified", "retrain"])
@pytest.mark.parametrize("name", DEFINITE)
def test_leave_one_out_as_brute_force(name, method):
    kernel, value = KERNELS[name]
    X, y = make_rows(50, seed=3)
    K, C = direct(value, X, X).astype(np.float64), 5.0
    wrong = np.zeros(len(y), dtype=bool)
    for r in range(len(y)):
        rest = np.delete(np.arange(len(y)), r)
        model = SVC(C=C, kernel="precomputed", tol=1e-8).fit(K[np.ix_(rest, rest)], y[rest])
        wrong[r] = model.predict(K[r : r + 1, rest])[0] != y[r]
    loo = leave_one_out(Gram(X, kernel), y, C, method=method, tol=1e-6)
    assert (loo.errors == wrong).all()
    assert loo.n_not_converged == 0


def test_folds_and_estimates_of_any_kernel():
    X, y = make_rows(60)
    gram = Gram(X, Laplacian(0.5) + Polynomial(2))
    folds = stratified_folds(y, 5)
    colds = cross_validate(gram, y, 2.0, folds, "cold", tol=1e-6)
    assert cross_validate(gram, y, 2.0, folds, "top", tol=1e-6).error == colds.error
    solution = solve_csvc(gram, y, 2.0, tol=1e-8)
    loo = leave_one_out(gram, y, 2.0)
    assert xi_alpha(gram, y, solution).error >= loo.error
    assert abs(span_rule(gram, y, solution).error - loo.error) < 0.1
    assert radius_margin(gram, y, solution).bound > 0
    new, _ = make_rows(9, seed=2)
    values = direct(lambda x, z: np.exp(-0.5 * abs(x - z).sum()) + (x @ z) ** 2, new, X)
    result = decision_function(gram, y, solution, new)
    assert np.allclose(result, (values @ (y * solution.alpha) + solution.b).astype(float), atol=1e-9)


def test_an_indefinite_kernel_has_no_estimates():
    X, y = make_rows(40)
    for kernel in (Sigmoid(0.5), Sigmoid(0.5) + Linear(), Sigmoid(0.5) * RBF(1.0)):
        gram = Gram(X, kernel)
        solution = solve_csvc(gram, y, 1.0)
        assert solution.converged
        with pytest.raises(ValueError, match=r"semi-definite.*Sigmoid"):
            leave_one_out(gram, y, 1.0)
        with pytest.raises(ValueError, match="semi-definite"):
            span_rule(gram, y, solution)
        with pytest.raises(ValueError, match="semi-definite"):
            cross_validate(gram, y, 1.0, 5, "unlearn")
        with pytest.raises(ValueError, match="semi-definite"):
            cross_validate_grid(gram, y, [1.0], folds=12, seeding="unlearn")
        # by default many folds are unlearned, but not these
        folds = np.arange(40) % 25
        assert cross_validate(gram, y, 1.0, folds).error < 0.5
        assert cross_validate_grid(gram, y, [1.0], folds=folds).error < 0.5
        assert 0 <= cross_validate(gram, y, 1.0, 5, "cold").error < 0.5


def test_other_kernel_on_the_same_rows():
    """Rows far from 0 are moved for kernels that allow it, and only for these."""
    X, _ = make_rows(30)
    far = np.round(X * 2**20) / 2**20 + 2.0**12
    for first, second in [
        (RBF(0.5), Polynomial(2, 1e-6)),
        (Polynomial(2, 1e-6), RBF(0.5)),
        (Linear(), Laplacian(1.0)),
    ]:
        gram = Gram(far, first)
        gram.compute()
        gram.set_kernel(second)
        fresh = Gram(far, second)
        assert (gram.matrix() == fresh.matrix()).all()
        assert (gram.origin is None) == (fresh.origin is None) == (not second.moves)
    gram = Gram(far, RBF(0.5))
    before = gram.matrix().copy()
    with pytest.raises(ValueError, match=r"X\b.* 4 .* 1 "):
        gram.set_kernel(AnisotropicRBF((1.0,)) * Linear())
    assert (gram.matrix() == before).all()
    assert gram.kernel == RBF(0.5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Polynomial(0), r"degree\b.* 0\b"),
        (lambda: Polynomial(2.5), r"degree\b.* 2.5\b"),
        (lambda: Polynomial(2, coef0=-1), "coef0 must not be negative"),
        (lambda: Polynomial(2, gamma=0), r"gamma\b.* 0\b"),
        (lambda: Sigmoid(coef0=np.nan), r"coef0\b.* nan\b"),
        (lambda: Laplacian(-1), r"gamma\b.* -1\b"),
        (lambda: ChiSquared(np.inf), r"gamma\b.* inf\b"),
        (lambda: AnisotropicRBF(()), "gammas must be numbers >= 0"),
        (lambda: AnisotropicRBF((1, -1)), "gammas must be numbers >= 0"),
        (lambda: 0 * RBF(1.0), r"weight\b.* 0\b"),
        (lambda: Sum((RBF(1.0),), (1.0, 2.0)), "weights must be 1 numbers"),
        (lambda: Product(()), "one at least"),
        (lambda: Sum(("rbf",)), r"'rbf'"),
        (lambda: Custom(3), r"callable.* 3\b"),
        (lambda: Gram([[1.0]], "rbf"), "kernel must be one of svmselect.kernels"),
        (lambda: Gram([[1.0]], RBF), "kernel must be one of svmselect.kernels"),
        (
            lambda: Gram([[1.0, -1.0]], ChiSquared(1.0)),
            r"chi-squared.* -1\b",
        ),
        (lambda: Gram([[1.0, -1.0]], AnisotropicRBF((1.0,))), "X has 2 features, and the kernel 1 gammas"),
        (lambda: Gram([[1e200]], Polynomial(3)), "too large"),
        (lambda: Gram([[1e80]], Polynomial(5)), "X is too large for float64 values of Polynomial"),
        (lambda: Gram([[1.0], [2.0]], lambda X, Z: X @ Z.T + X), "kernel function must be symmetric"),
        (
            lambda: Gram([[1.0], [2.0]], lambda X, Z: X),
            r"\(2, 1\)",
        ),
        (lambda: Gram([[1.0], [2.0]], lambda X, Z: X @ Z.T * np.nan), "must return finite numbers"),
        (lambda: Gram([[1.0, 2.0]], Polynomial(2), origin=[1.0, 0.0]), "origin must be 0 for Polynomial"),
    ],
)
def test_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_kernels_are_values():
    assert RBF(1.0) + Linear() == RBF(1.0) + Linear()
    assert hash(Polynomial(2) * RBF(1.0)) == hash(Polynomial(2) * RBF(1.0))
    assert (RBF(1.0) + (Linear() + Laplacian(2.0))).parts == (RBF(1.0), Linear(), Laplacian(2.0))
    assert (RBF(1.0) * (Linear() * Laplacian(2.0))).parts == (RBF(1.0), Linear(), Laplacian(2.0))
    assert (3 * (RBF(1.0) + Linear())).parts == (RBF(1.0) + Linear(),)
    for kernel, _ in KERNELS.values():
        assert pickle.loads(pickle.dumps(kernel)) == kernel
    with pytest.raises(TypeError):
        RBF(1.0) + 3


def test_rows_alike_have_the_value_of_one_row():
    """Exactly, or points that coincide would have a distance."""
    X, _ = make_rows(20)
    X[11] = X[4]
    for kernel in (Laplacian(3.0), ChiSquared(3.0), AnisotropicRBF((1e3, 2.0, 1e-3, 5.0))):
        for dtype in ("float32", "float64"):
            K = Gram(X, kernel, dtype=dtype).matrix()
            assert K[4, 11] == K[4, 4] == 1
