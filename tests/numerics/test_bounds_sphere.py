"""The smallest enclosing sphere and the radius-margin bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numerics.problems import KINDS, features, minimise, nasty, two_classes

from svmselect import RBF, Gram, Linear, solve_csvc
from svmselect.bounds import radius_margin, rescaled_radius_margin, smallest_enclosing_sphere, span_bound


def enclosed(gram, sphere):
    """Squared distances of all rows from the centre."""
    rows = features(gram)
    return np.sum((rows - sphere.weight @ rows) ** 2, axis=1)


@given(
    # an interior-point solver gives up on near duplicates
    kind=st.sampled_from([kind for kind in KINDS if kind != "near duplicates"]),
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(2, 40),
    d=st.integers(1, 5),
    kernel=st.sampled_from([Linear(), RBF(0.001), RBF(0.5), RBF(20.0)]),
)
@settings(deadline=None, max_examples=60)
def test_it_is_that_of_an_independent_solver(kind, seed, m, d, kernel):
    rng = np.random.default_rng(seed)
    X, _ = nasty(rng, kind, m, d)
    gram = Gram(X, kernel)
    sphere = smallest_enclosing_sphere(gram)
    K, scale = gram.matrix(), max(gram.diagonal.max(), 1e-300)
    assert sphere.converged and (sphere.weight >= 0).all()
    assert sphere.weight.sum() == pytest.approx(1)
    weight = minimise(
        2 * K / scale, K.diagonal() / scale, np.zeros(m), np.ones(m), np.ones((1, m)), np.ones(1)
    )
    least = weight @ K.diagonal() - weight @ K @ weight
    assert sphere.squared_radius == pytest.approx(least, rel=1e-5, abs=1e-8 * scale)
    assert sphere.squared_radius <= least * (1 + 1.1e-6) + 1e-8 * scale
    assert sphere.excess <= 1e-6 * sphere.squared_radius + 1e-13 * scale
    assert enclosed(gram, sphere).max() <= sphere.squared_radius + 1e-7 * scale


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.5)])
def test_a_loose_tolerance_is_the_largest_excess(kernel):
    most = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        gram = Gram(rng.normal(size=(rng.integers(3, 40), rng.integers(1, 5))), kernel)
        smallest = smallest_enclosing_sphere(gram, tol=1e-9).squared_radius
        for tol in (0.25, 0.5):
            sphere = smallest_enclosing_sphere(gram, tol=tol)
            excess = sphere.squared_radius - smallest
            assert -1e-9 * smallest <= excess <= sphere.excess + 1e-8 * smallest
            assert sphere.excess <= tol * smallest
            most = max(most, sphere.excess / smallest)
    assert most > 0.1  # looser is what stops the solver


def test_spheres_of_geometry():
    angles = 2 * np.pi * np.arange(7) / 7
    polygon = smallest_enclosing_sphere(Gram(3 * np.c_[np.cos(angles), np.sin(angles)] + 100, Linear()))
    assert polygon.squared_radius == pytest.approx(9, rel=1e-5)
    # an obtuse triangle: the longest side is a diameter
    triangle = smallest_enclosing_sphere(Gram([[0.0, 0.0], [4.0, 0.0], [1.0, 0.5]], Linear()))
    assert triangle.diameter == pytest.approx(4)
    np.testing.assert_allclose(triangle.weight, [0.5, 0.5, 0], atol=1e-6)
    one = smallest_enclosing_sphere(Gram([[2.0, 3.0]], Linear()))
    assert one.squared_radius == 0 and one.weight == [1.0]
    same = smallest_enclosing_sphere(Gram(np.ones((5, 2)), RBF(0.3)))
    assert same.squared_radius <= 1e-15 and same.converged
    # far apart, points are orthogonal: the centre is their mean
    orthogonal = smallest_enclosing_sphere(Gram(10.0 * np.arange(6)[:, None], RBF(5.0)))
    assert orthogonal.squared_radius == pytest.approx(1 - 1 / 6)


def test_a_sphere_of_some_points():
    X, _ = two_classes(np.random.default_rng(0), 200, 3)
    points = np.arange(0, 200, 3)
    some = smallest_enclosing_sphere(Gram(X, RBF(0.3)), points)
    alone = smallest_enclosing_sphere(Gram(X[points], RBF(0.3)))
    assert some.squared_radius == pytest.approx(alone.squared_radius, rel=1e-5)
    assert some.weight.sum() == pytest.approx(1) and some.weight[points].sum() == pytest.approx(1)


def test_a_sphere_out_of_steps_still_encloses():
    X, y = two_classes(np.random.default_rng(1), 150, 8)
    gram = Gram(X, RBF(0.1))
    short = smallest_enclosing_sphere(gram, max_iter=2)
    exact = smallest_enclosing_sphere(gram, tol=1e-9)
    assert not short.converged and exact.converged
    assert short.excess >= short.squared_radius - exact.squared_radius > 0
    assert enclosed(gram, short).max() <= short.squared_radius + 1e-9
    solution = solve_csvc(gram, y, 1.0)
    assert radius_margin(gram, y, solution, short).n_not_converged == 1
    assert span_bound(gram, y, solution, short).n_not_converged == 1


def test_beyond_the_memory_budget():
    X, _ = two_classes(np.random.default_rng(2), 300, 3)
    few = smallest_enclosing_sphere(Gram(X, RBF(0.3), memory_mb=8 * 320 * 8 / 2**20))
    whole = smallest_enclosing_sphere(Gram(X, RBF(0.3)))
    assert few.squared_radius == pytest.approx(whole.squared_radius, rel=2e-6)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.2)])
def test_radius_margin_is_its_formula(kernel):
    X, y = two_classes(np.random.default_rng(3), 50, 3)
    C = np.where(np.arange(50) % 5, 2.0, 0.0)
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C, tol=1e-6)
    bound = radius_margin(gram, y, solution)
    theta = y * solution.alpha
    assert bound.squared_norm == pytest.approx(theta @ gram.matrix() @ theta)
    part = smallest_enclosing_sphere(Gram(X[C > 0], kernel))
    assert bound.squared_radius == pytest.approx(part.squared_radius, rel=1e-5)
    assert bound.bound == pytest.approx(bound.squared_radius * bound.squared_norm / 40)
    given_sphere = smallest_enclosing_sphere(gram, np.flatnonzero(C))
    assert radius_margin(gram, y, solution, given_sphere).bound == pytest.approx(bound.bound)


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.2), RBF(5.0)])
def test_rescaled_radius_margin_is_that_of_the_box_around_centred_rows(kernel):
    """Section 4 of the paper with explicit features: sides of the smallest box along the principal axes."""
    X, y = two_classes(np.random.default_rng(4), 40, 3)
    X[30:] = X[:10]
    C = np.where(np.arange(40) % 5, 5.0, 0.0)
    gram = Gram(X, kernel)
    solution = solve_csvc(gram, y, C, tol=1e-8)
    rows, theta = features(gram)[C > 0], (y * solution.alpha)[C > 0]
    w = theta @ rows
    centred = rows - rows.mean(axis=0)
    _, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[lengths > 1e-6 * lengths[0]]
    expected = np.sum(np.abs(centred @ axes.T).max(axis=0) ** 2 * (axes @ w) ** 2)
    rescaled = rescaled_radius_margin(gram, y, solution)
    assert rescaled.rescaled == pytest.approx(expected, rel=1e-5)
    assert rescaled.bound == pytest.approx(expected / 32, rel=1e-5)
    assert rescaled.rank == (3 if isinstance(kernel, Linear) else len(np.unique(X[C > 0], axis=0)) - 1)


def test_identical_points_have_no_box():
    y = np.array([1.0, -1.0, 1.0])
    gram = Gram(np.ones((3, 2)), Linear())
    rescaled = rescaled_radius_margin(gram, y, solve_csvc(gram, y, 1.0))
    assert rescaled.bound == 0 and rescaled.rank == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(points=[]), "points must be row numbers, at least one"),
        (dict(points=[0.5]), r"points\b.* float64\b"),
        (dict(points=[0, 4]), r"points\b.* 4\b"),
        (dict(points=[-1]), r"points\b.* -1\b"),
        (dict(tol=0), r"tol\b.* 0\b"),
        (dict(max_iter=-1), r"max_iter\b.* -1\b"),
    ],
)
def test_bad_input_is_named(arguments, sentence):
    gram = Gram([[0.0], [1.0], [2.0], [3.0]], Linear())
    with pytest.raises(ValueError, match=sentence):
        smallest_enclosing_sphere(gram, **arguments)
