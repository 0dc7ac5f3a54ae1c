"""The vector passes, built for AVX2, dispatched and plain, against NumPy."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).parents[2] / "src" / "svmselect"
OUT = 1e300
N = 320
FLAGS = [
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-signed-zeros",
    "-fassociative-math",
    "-ffinite-math-only",
]
BUILDS = {
    "as installed": [],
    "dispatched": ["-DSVMSELECT_NO_AVX2"],
    "plain": ["-DSVMSELECT_NO_AVX2", "-DSVMSELECT_NO_CLONES"],
}


class Pair(ctypes.Structure):
    _fields_ = [
        ("i", ctypes.c_ssize_t),
        ("j", ctypes.c_ssize_t),
        ("f_i", ctypes.c_double),
        ("f_j", ctypes.c_double),
    ]


@pytest.fixture(scope="module", params=BUILDS)
def vec(request, tmp_path_factory):
    """The passes as functions, built one way."""
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc to build the vector passes with")
    library = tmp_path_factory.mktemp("vec") / "vec.so"
    command = [compiler, "-O3", "-shared", "-fPIC", *FLAGS, *BUILDS[request.param]]
    subprocess.run([*command, str(SOURCES / "_vec.c"), "-o", str(library)], check=True)
    functions = ctypes.CDLL(str(library))
    for name in ("hinge", "dot", "at"):
        getattr(functions, f"vec_{name}").restype = ctypes.c_double
    for name in ("second_order", "update_gain"):
        getattr(functions, f"vec_{name}").restype = ctypes.c_ssize_t
    functions.vec_update_pair.restype = Pair
    return functions


@pytest.fixture(params=[np.float32, np.float64])
def state(request):
    """Random columns, gradient, index sets and boxes; the last five points are padding."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(3, N)).astype(request.param)
    K[:, -5:] = 0
    f = rng.normal(size=N)
    up, low = (np.where(rng.random(N) < 0.4, 0.0, sign * OUT) for sign in (1, -1))
    up[-5:], low[-5:] = OUT, -OUT
    return K, f, up, low, rng


def call(function, *arguments):
    def pass_on(value):
        if isinstance(value, np.ndarray):
            return ctypes.c_void_p(value.ctypes.data)
        return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_ssize_t(value)

    return function(*map(pass_on, arguments))


def single(K):
    return int(K.dtype == np.float32)


def test_update_pair(vec, state):
    K, f, up, low, _ = state
    expected = f + 0.3 * K[0].astype(float) - 0.7 * K[1].astype(float)
    pair = call(vec.vec_update_pair, single(K), N, f, 0.3, K[0], -0.7, K[1], up, low)
    np.testing.assert_allclose(f, expected, rtol=1e-12, atol=1e-14)
    assert (pair.i, pair.j) == (np.argmin(f + up), np.argmax(f + low))
    assert (pair.f_i, pair.f_j) == (f[pair.i], f[pair.j])


def test_update_pair_of_empty_sets(vec, state):
    K, f, up, low, _ = state
    up[:], low[:] = OUT, -OUT
    pair = call(vec.vec_update_pair, single(K), N, f, 0.0, K[0], 0.0, K[1], up, low)
    assert (pair.i, pair.j, pair.f_i, pair.f_j) == (-1, -1, OUT, -OUT)


@pytest.mark.parametrize("point", [0, 63, 64, N - 6])
def test_update_pair_finds_the_extremes_anywhere(vec, state, point):
    K, f, up, low, _ = state
    up[point] = low[point] = 0
    for value in (-50.0, 50.0):
        f[point] = value
        pair = call(vec.vec_update_pair, single(K), N, f, 0.0, K[0], 0.0, K[1], up, low)
        assert (pair.i if value < 0 else pair.j) == point


def test_second_order(vec, state):
    K, f, _, low, _ = state
    diagonal = np.full(N, 3.0)
    f_i = float(np.quantile(f, 0.3))
    j = call(vec.vec_second_order, single(K), N, f, f_i, 3.0, K[0], diagonal, low)
    eta = np.maximum(6.0 - 2 * K[0].astype(float), 1e-12)
    gain = np.where((low == 0) & (f > f_i), (f - f_i) ** 2 / eta, 0)
    assert j == np.argmax(gain)
    assert call(vec.vec_second_order, single(K), N, f, 100.0, 3.0, K[0], diagonal, low) == -1


def test_update_gain(vec, state):
    K, f, up, low, rng = state
    weight = rng.uniform(0.1, 2, size=N)
    expected = f + 0.4 * (K[0].astype(float) - K[2].astype(float))
    t = call(vec.vec_update_gain, single(K), N, f, 0.4, K[0], K[2], 0.2, weight, up, low)
    np.testing.assert_allclose(f, expected, rtol=1e-12, atol=1e-14)
    may_move = ((up == 0) & (f < 0.2)) | ((low == 0) & (f > 0.2))
    assert t == np.argmax(np.where(may_move, (f - 0.2) ** 2 * weight, 0))
    up[:], low[:] = OUT, -OUT
    assert call(vec.vec_update_gain, single(K), N, f, 0.0, K[0], K[2], 0.2, weight, up, low) == -1


def test_axpy_and_curvature(vec, state):
    K, f, _, _, _ = state
    expected = f - 1.7 * K[1].astype(float)
    call(vec.vec_axpy, single(K), N, f, -1.7, K[1])
    np.testing.assert_allclose(f, expected, rtol=1e-12, atol=1e-14)
    weight = np.empty(N)
    call(vec.vec_pair_curvature, single(K), N, weight, 1.0, K[1], np.ones(N), 1e-12)
    np.testing.assert_allclose(weight, 1 / np.maximum(2 - 2 * K[1].astype(float), 1e-12), rtol=1e-9)


def test_hinge_and_dot(vec, state):
    _, f, _, _, rng = state
    y = np.where(rng.random(N) < 0.5, 1.0, -1.0)
    C = rng.uniform(0, 2, size=N)
    lo, hi = np.where(y > 0, 0, -C), np.where(y > 0, C, 0)
    slope = np.empty(1)
    value = call(vec.vec_hinge, N, f, lo, hi, 0.25, slope)
    violating = y * (f + 0.25) < 0
    assert value == pytest.approx((C * np.maximum(0, -y * (f + 0.25))).sum())
    assert slope[0] == pytest.approx(-(C * y)[violating].sum())
    assert call(vec.vec_dot, N, f, C) == pytest.approx(f @ C)
