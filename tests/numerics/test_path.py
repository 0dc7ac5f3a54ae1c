"""The path driver: warm starts change the cost, not the solutions."""

import numpy as np
import pytest
from numerics.problems import kkt_gap, two_classes

from svmselect import RBF, Gram, Linear, solve_csvc, solve_path

CS, GAMMAS = [0.01, 0.1, 1.0, 10.0, 100.0], [0.05, 0.1, 0.5]


@pytest.fixture(scope="module")
def data():
    return two_classes(np.random.default_rng(5), 200, 4, gap=0.7)


@pytest.mark.parametrize("warm_start", ["none", "C", "gamma"])
@pytest.mark.parametrize("order", [1, -1])
def test_every_start_reaches_the_solution(data, warm_start, order):
    X, y = data
    gram = Gram(X, RBF(1.0))
    points = list(solve_path(gram, y, CS[::order], GAMMAS, warm_start=warm_start, tol=1e-5))
    assert [(p.gamma, p.C) for p in points] == [(g, C) for g in GAMMAS for C in CS[::order]]
    for p in points:
        K = Gram(X, RBF(p.gamma)).matrix()
        assert p.solution.converged
        assert kkt_gap(K, y, p.solution.alpha, p.solution.C) <= 1e-5 + 1e-12 * p.solution.alpha.sum()
    assert gram.kernel == RBF(GAMMAS[-1])


def test_a_path_over_C_keeps_the_kernel(data):
    X, y = data
    gram = Gram(X, Linear())
    for p in solve_path(gram, y, CS[:3]):
        assert p.gamma is None
        assert p.solution.objective == pytest.approx(solve_csvc(gram, y, p.C, tol=1e-6).objective, rel=1e-3)


def test_a_warm_start_saves_steps_where_little_changes(data):
    X, y = data
    Cs = [10.0, 10.1, 10.2, 10.3]
    steps = {
        start: sum(p.solution.n_iter for p in solve_path(Gram(X, RBF(0.1)), y, Cs, warm_start=start))
        for start in ("none", "C")
    }
    assert steps["C"] < steps["none"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"Cs": []}, "Cs must be a list of at least one number"),
        ({"Cs": 1.0}, "Cs must be a list"),
        ({"Cs": [1.0, -2.0]}, r"Cs\b.* -2.0\b"),
        ({"Cs": [1.0], "gammas": [np.nan]}, r"gammas\b.* nan\b"),
        ({"Cs": [1.0], "warm_start": "hot"}, r"warm_start\b.* 'hot'"),
        ({"Cs": [1.0], "warm_start": "gamma"}, "warm_start='gamma' needs gammas"),
    ],
)
def test_bad_input_is_named_at_the_call(data, arguments, sentence):
    X, y = data
    with pytest.raises(ValueError, match=sentence):
        solve_path(Gram(X, RBF(1.0)), y, **arguments)
