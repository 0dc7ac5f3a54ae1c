"""Leave-one-out of many rows by the columns that its paths need, beside that with the whole matrix."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, nasty, two_classes

from svmselect import RBF, Gram, Laplacian, Linear, leave_one_out, solve_csvc

# the package has a function of this name
module = importlib.import_module("svmselect.loo.leave_one_out")


def both(monkeypatch, X, y, C, kernel, **options):
    """Leave-one-out with the columns that are needed and with the whole matrix, and their Gram matrices."""
    grams = [Gram(X, kernel) for _ in range(2)]
    with monkeypatch.context() as patch:
        patch.setattr(module, "LARGE", 2)
        needed = leave_one_out(grams[0], y, C, **options)
    return needed, leave_one_out(grams[1], y, C, **options), grams


def stored(gram):
    """The share of columns that are stored."""
    return gram.columns.holds(slice(None)).mean()


@pytest.mark.parametrize("decision_values", [False, True])
@pytest.mark.parametrize("few_svs", [0.0, 0.5, 1.0])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS), C=st.sampled_from([0.1, 1.0, 100.0]))
def test_nasty_rows_have_the_same_errors(few_svs, decision_values, seed, kind, C):
    rng = np.random.default_rng(seed)
    X, y = nasty(rng, kind, 40, 2)
    kernel = Linear() if seed % 2 else RBF(0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_SVS", few_svs)
        needed, whole, _ = both(patch, X, y, C, kernel, decision_values=decision_values)
    if decision_values:
        np.testing.assert_allclose(needed.decision, whole.decision, atol=1e-5)
    sure = np.abs(whole.decision) > 1e-6
    np.testing.assert_array_equal(needed.errors[sure], whole.errors[sure])
    assert needed.solution.objective == pytest.approx(whole.solution.objective, rel=1e-8)
    assert needed.solution.kkt_gap <= 1e-8


@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()])
@pytest.mark.parametrize("copies", [1, 2])
def test_few_columns_are_stored_where_few_rows_are_svs(copies, kernel):
    X, y = two_classes(np.random.default_rng(1), module.LARGE, 3, gap=3.0)
    # copies of a point are one point, in a matrix that is kept
    gram = Gram(np.repeat(X, copies, axis=0), kernel)
    loo = leave_one_out(gram, np.repeat(y, copies), 1.0 / copies)
    part = gram if copies == 1 else gram.restricted(np.arange(0, gram.m, 2), keep=True)
    assert 0 < stored(part) < 0.4
    assert copies == 1 or stored(gram) == 0
    assert loo.solution.kkt_gap <= 1e-8
    radius_values = 0 if kernel.radius is not None else gram.m**2
    assert loo.kernel_values - radius_values < y.size**2


def test_the_whole_matrix_is_stored_where_it_is_needed_or_there():
    X, y = two_classes(np.random.default_rng(2), 200, 3, gap=3.0)

    def share(gram, **options):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "LARGE", 2)
            leave_one_out(gram, y, 1.0, **options)
        return stored(gram)

    # by retraining, after another use, and with many SVs
    assert share(Gram(X, RBF(0.3)), method="retrain") == 1
    assert share(Gram(X, RBF(0.3)), method="certified") == 1
    used = Gram(X, RBF(0.3))
    used.columns.fetch([0])
    assert share(used) == 1
    assert share(Gram(X, RBF(100.0))) == 1


def test_a_start_and_its_steps_count(monkeypatch):
    X, y = two_classes(np.random.default_rng(3), 300, 3)
    start = solve_csvc(Gram(X, Laplacian(0.3)), y, 1.0, 1e-2).alpha
    needed, whole, _ = both(monkeypatch, X, y, 1.0, Laplacian(0.3), start=start)
    cold, _, _ = both(monkeypatch, X, y, 1.0, Laplacian(0.3))
    np.testing.assert_array_equal(needed.errors, whole.errors)
    np.testing.assert_array_equal(needed.errors, cold.errors)
    assert 0 < needed.solution.n_iter < cold.solution.n_iter
    assert needed.n_iter >= needed.solution.n_iter
