"""The vector passes, built for each instruction set of this machine and plain, against NumPy."""

import ctypes
import platform
import subprocess
from pathlib import Path

import numpy as np
import pytest

SOURCES = Path(__file__).parents[2] / "src" / "svmselect" / "solver"
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
    "widest": [],
    "AVX2": ["-DSVMSELECT_NO_AVX512"],
    "dispatched": ["-DSVMSELECT_NO_SIMD"],
    "plain": ["-DSVMSELECT_NO_SIMD", "-DSVMSELECT_NO_CLONES"],
    "AVX-512 emulated": ["-include", str(Path(__file__).with_name("avx512_emulated.h")), "-Wno-psabi"],
}


def emulated(folder):
    """A copy of the sources that always takes the AVX-512 passes, for a machine with AVX2."""
    for source in SOURCES.glob("_vec*.[ch]"):
        text = source.read_text()
        text = text.replace('target("avx512f,avx512dq")', 'target("avx2,fma")')
        text = text.replace('(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))', "1")
        (folder / source.name).write_text(text)
    assert "#define HAS_AVX512 1" in (folder / "_vec.c").read_text()
    assert "avx512f" not in (folder / "_vec_avx512.h").read_text()
    return folder


class Pair(ctypes.Structure):
    _fields_ = [
        ("i", ctypes.c_ssize_t),
        ("j", ctypes.c_ssize_t),
        ("f_i", ctypes.c_double),
        ("f_j", ctypes.c_double),
    ]


@pytest.fixture(scope="module", params=BUILDS)
def vec(request, tmp_path_factory, compiler):
    """The passes as functions, built one way."""
    folder = tmp_path_factory.mktemp("vec")
    sources, library = SOURCES, folder / "vec.so"
    if request.param == "AVX-512 emulated":
        if platform.machine() != "x86_64":
            pytest.skip("the passes for AVX-512 are built on x86-64 only")
        sources = emulated(folder)
    command = [*compiler, "-O3", "-shared", "-fPIC", *FLAGS, *BUILDS[request.param]]
    subprocess.run([*command, str(sources / "_vec.c"), "-o", str(library)], check=True)
    functions = ctypes.CDLL(str(library))
    for name in ("hinge", "dot", "at"):
        getattr(functions, f"vec_{name}").restype = ctypes.c_double
    for name in ("second_order", "update_gain"):
        getattr(functions, f"vec_{name}").restype = ctypes.c_ssize_t
    functions.vec_update_pair.restype = Pair
    return functions


@pytest.fixture(params=[np.float32, np.float64])
def state(request):
    """Random columns, gradient and index sets; the last five points are padding."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(3, N)).astype(request.param)
    K[:, -5:] = 0
    f = rng.normal(size=N)
    up, low = rng.random((2, N)) < 0.4
    up[-5:] = low[-5:] = False
    return K, f, up, low, rng


def bits(members):
    """An index set as the passes want it: bit t % 64 of word t / 64."""
    return np.packbits(members, bitorder="little").view(np.uint64)


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
    pair = call(vec.vec_update_pair, single(K), N, f, 0.3, K[0], -0.7, K[1], bits(up), bits(low))
    np.testing.assert_allclose(f, expected, rtol=1e-12, atol=1e-14)
    assert (pair.i, pair.j) == (np.where(up, f, OUT).argmin(), np.where(low, f, -OUT).argmax())
    assert (pair.f_i, pair.f_j) == (f[pair.i], f[pair.j])


def test_update_pair_of_empty_sets(vec, state):
    K, f, up, low, _ = state
    up[:] = low[:] = False
    pair = call(vec.vec_update_pair, single(K), N, f, 0.0, K[0], 0.0, K[1], bits(up), bits(low))
    assert (pair.i, pair.j, pair.f_i, pair.f_j) == (-1, -1, OUT, -OUT)


@pytest.mark.parametrize("point", [0, 63, 64, N - 6])
def test_update_pair_finds_the_extremes_anywhere(vec, state, point):
    K, f, up, low, _ = state
    up[point] = low[point] = True
    for value in (-50.0, 50.0):
        f[point] = value
        pair = call(vec.vec_update_pair, single(K), N, f, 0.0, K[0], 0.0, K[1], bits(up), bits(low))
        assert (pair.i if value < 0 else pair.j) == point


def test_second_order(vec, state):
    K, f, _, low, _ = state
    diagonal = np.full(N, 3.0)
    f_i, f_j = float(np.quantile(f, 0.3)), float(f[low].max())
    j = call(vec.vec_second_order, single(K), N, f, f_i, f_j, 3.0, K[0], diagonal, 1e-12, bits(low))
    eta = np.maximum(6.0 - 2 * K[0].astype(float), 1e-12)
    gain = np.where(low & (f > f_i), (f - f_i) ** 2 / eta, 0)
    assert j == np.argmax(gain)
    nobody = np.zeros(N, dtype=bool)
    assert (
        call(vec.vec_second_order, single(K), N, f, f_i, f_j, 3.0, K[0], diagonal, 1e-12, bits(nobody)) == -1
    )


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30])
def test_second_order_at_any_scale_of_f(vec, state, scale):
    K, f, _, low, _ = state
    diagonal = np.full(N, 3.0)
    f_i, f_j = float(np.quantile(f, 0.3)), float(f[low].max())
    expected = call(vec.vec_second_order, single(K), N, f, f_i, f_j, 3.0, K[0], diagonal, 1e-12, bits(low))
    j = call(
        vec.vec_second_order,
        single(K),
        N,
        f * scale,
        f_i * scale,
        f_j * scale,
        3.0,
        K[0],
        diagonal,
        1e-12,
        bits(low),
    )
    assert j == expected


@pytest.mark.parametrize("scale", [2.0**-80, 2.0**-40, 2.0**40])
def test_second_order_at_any_scale_of_the_kernel(vec, state, scale):
    K, f, _, low, _ = state
    diagonal = np.full(N, 3.0)
    f_i, f_j = float(np.quantile(f, 0.3)), float(f[low].max())

    def chosen(s):
        column = (K[0] * s).astype(K.dtype)
        kernel = 3.0 * s, column, diagonal * s, 1e-12 * s
        return call(vec.vec_second_order, single(K), N, f, f_i, f_j, *kernel, bits(low))

    assert chosen(scale) == chosen(1.0)


def test_second_order_takes_the_first_of_equals(vec, state):
    K, f, _, low, _ = state
    K[:], f[:], low[:] = 0, 0, False
    low[[3, 70, 71, 200]] = True
    f[[70, 71, 200]] = 1.0
    assert (
        call(vec.vec_second_order, single(K), N, f, -1.0, 1.0, 1.0, K[0], np.ones(N), 1e-12, bits(low)) == 70
    )


def test_update_gain(vec, state):
    K, f, up, low, rng = state
    weight = rng.uniform(0.1, 2, size=N)
    expected = f + 0.4 * (K[0].astype(float) - K[2].astype(float))
    t = call(vec.vec_update_gain, single(K), N, f, 0.4, K[0], K[2], 0.2, weight, bits(up), bits(low))
    np.testing.assert_allclose(f, expected, rtol=1e-12, atol=1e-14)
    may_move = (up & (f < 0.2)) | (low & (f > 0.2))
    assert t == np.argmax(np.where(may_move, (f - 0.2) ** 2 * weight, 0))
    up[:] = low[:] = False
    assert call(vec.vec_update_gain, single(K), N, f, 0.0, K[0], K[2], 0.2, weight, bits(up), bits(low)) == -1


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
