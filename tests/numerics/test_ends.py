"""What is checked at the ends of unlearning's paths: by plain definitions, and with ends that are wrong."""

import numpy as np
import pytest
from numerics.problems import two_classes
from svmselect.solver._smo import Dual
from svmselect.unlearning._certify import continued, round_off
from svmselect.unlearning._paths import Outcome

from svmselect import RBF, Gram
from svmselect.solver import _active_set
from svmselect.unlearning.points import PointStart
from svmselect.unlearning.tableau import Tableau


def solved(m=30, C=2.0, seed=0):
    """A solution that points are unlearned from, its matrix in the tableau's order, and the support
    vectors there."""
    X, y = two_classes(np.random.default_rng(seed), m, 2)
    gram = Gram(X, RBF(0.5))
    full = Dual(gram, y)
    full.boxes(y, np.broadcast_to(C, m))
    assert _active_set.solve(full, "wss2", 1e-11, 10**6)
    theta, f, lo, hi = full.arrays()
    tableau = Tableau(gram, np.flatnonzero((lo < theta) & (theta < hi)))
    start = PointStart(tableau, y, theta, f + full.state()[2], lo, hi, full.gap_now())
    return start, gram.matrix()[np.ix_(tableau.order, tableau.order)], np.flatnonzero(start.theta)


def made_up(start, K, rng, n):
    """Fill n ends with steps that go anywhere, and g and its rate as they then are."""
    ends, m = start.ends, len(K)
    steps = rng.normal(size=(2, n, m)) * (rng.random((2, n, m)) < 0.3)
    ends.theta[:n], ends.direction[:n] = start.theta + steps[0], steps[1]
    ends.g[:n] = start.g + steps[0] @ K + rng.normal(size=(n, 1))
    ends.rate[:n] = steps[1] @ K + rng.normal(size=(n, 1))
    ends.reach[:n] = rng.uniform(0.5, 2, size=n)
    ends.moved[:] = (steps != 0).any(axis=(0, 1))


def test_a_path_that_lost_its_way_is_noticed():
    start, K, _ = solved()
    m = len(K)
    rng = np.random.default_rng(1)
    made_up(start, K, rng, 6)
    ends = start.ends
    ends.reach[4:6] = 0
    ends.direction[4:6] = ends.rate[4:6] = np.nan
    off, unbalanced = start.strayed(6)
    assert (off < 1e-12).all()
    total = (ends.theta[:6] - start.theta).sum(axis=1)
    np.testing.assert_allclose(unbalanced, np.abs(total) / np.abs(ends.theta[:6]).max(axis=1))
    for array, seen in (("g", range(6)), ("theta", range(6)), ("rate", range(4)), ("direction", range(4))):
        values = getattr(ends, array)
        for k in seen:
            t = rng.integers(m)
            retained = values[k, t]
            values[k, t] += 1e-3
            ends.moved[t] = True
            again, _ = start.strayed(6)
            # of its size, and of no other end
            assert 2e-4 < again[k] < 1e-2 and (np.delete(again, k) < 1e-12).all(), (array, k)
            values[k, t] = retained
    ends.g[2, 3] = np.nan
    assert np.isnan(start.strayed(6)[0][2])


def by_definition(start, r, retained, theta, g, left):
    """The KKT gap with its widest round-off, the threshold, and the widths of in-bound points."""
    y = start.y
    lo, hi, matters = start.lo.copy(), start.hi.copy(), np.ones(y.size, dtype=bool)
    if left == 0 and retained > 0:
        lo[r], hi[r] = (0, retained) if y[r] > 0 else (-retained, 0)
    else:
        matters[r] = False
    slack = 10 * np.asarray(start.paths.theta_slack)
    up, low = matters & (theta < hi - slack), matters & (theta > lo + slack)
    both = up & low
    noise = round_off(theta, start.tableau.diagonal, start.unit)
    gap = g[low].max() - g[up].min()
    widest = (g + noise)[low].max() - (g - noise)[up].min()
    if left > 0:
        b = -g[up].min() if y[r] > 0 else -g[low].max()
    elif both.any():
        b = -g[both].mean()
    else:
        b = -(g[up].min() + g[low].max()) / 2
    return gap, widest - gap, b, np.minimum(hi - lo, 2 * np.abs(theta).max())[both].sum()


@pytest.mark.parametrize("C", [2.0, 1e3])
@pytest.mark.parametrize("share_inbound", [0.0, 0.5])
def test_the_judgement_is_its_definition(share_inbound, C):
    start, K, _ = solved(C=C)
    rng, m, n = np.random.default_rng(3), len(K), 40
    bound = np.where(rng.random((n, m)) < 0.5, start.lo, start.hi)
    inside = rng.random((n, m)) < share_inbound
    start.ends.theta[:n] = np.where(inside, rng.uniform(0.1, 0.9, size=(n, m)) * (start.lo + start.hi), bound)
    start.ends.theta[: n // 2] *= 0.01  # in wide boxes
    start.ends.g[:n] = rng.normal(size=(n, m))
    start.ends.remaining[:n] = rng.choice([0.0, 0.3], size=n)
    points = rng.integers(m, size=n)
    retained = rng.choice([0.0, 0.25 * C], size=n)
    result = start.conditions(points, retained)
    for k in range(n):
        args = points[k], retained[k], start.ends.theta[k], start.ends.g[k], start.ends.remaining[k]
        expected = by_definition(start, *args)
        np.testing.assert_allclose(result[[0, 2, 3], k], [expected[i] for i in (0, 2, 3)], rtol=1e-13)
        assert result[1, k] == pytest.approx(expected[1], rel=0.1, abs=1e-15)


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_threshold_where_one_side_is_empty(sign):
    """Where every variable is at its lower, or upper, bound, the other end of the interval is infinite."""
    start, K, _ = solved()
    bound = start.lo if sign > 0 else start.hi
    start.ends.theta[0], start.ends.g[0], start.ends.remaining[0] = bound, np.arange(float(len(K))), 0
    b = start.conditions(np.array([0]), np.zeros(1))[2]
    assert b == (-1 if sign > 0 else 1 - len(K))


def test_how_variables_go_on_by_dense_products():
    start, K, _ = solved()
    rng, m, n = np.random.default_rng(4), len(K), 20
    made_up(start, K, rng, n)
    ends, slack = start.ends, np.asarray(start.paths.theta_slack)
    points, b = rng.integers(m, size=n), rng.normal(size=n)
    # every second end has the room that one variable leaves, and for every fourth the sum does not stay
    for k in range(n):
        r, d = points[k], ends.direction[k]
        d[(r + 1) % m] += 1 if d[r] == 0 else 0
        d[r] = 0
        d[r] = -d.sum() * (1 if k % 4 else 1.01)
        if d[r] == 0:
            d[r] = 1
        ends.theta[k] = np.clip(start.theta, 0.9 * start.lo, 0.9 * start.hi)
        rest = np.flatnonzero((d != 0) & (np.arange(m) != r))
        to_bound = np.where(d > 0, start.hi + slack - ends.theta[k], ends.theta[k] - start.lo + slack)
        ends.reach[k] = (to_bound[rest] / np.abs(d[rest])).min() * (1 + (-1) ** k * 1e-3)
    going = np.array([0, 1, 2, 3, 7, 12, 19])
    curvature, slope, within = continued(points, going, start.lo, start.hi, slack, ends, b)
    d, rest = ends.direction[going], np.arange(m) != points[going, None]
    np.testing.assert_allclose(curvature, (d * ends.rate[going]).sum(axis=1), rtol=1e-12)
    expected = (d * (ends.g[going] + b[going, None]) * rest).sum(axis=1)
    np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(within, (going % 2 == 1) & (going % 4 > 0))


def walked(start, points, stop=True):
    """The outcome of some paths, whose ends are kept."""
    return start.paths.walk(points, np.zeros(points.size), start.y, stop, start.ends)


@pytest.mark.parametrize("stop", [True, False])
def test_the_ends_of_paths_are_borne_out_and_wrong_ones_are_not(stop):
    start, K, points = solved()
    ends, n = start.ends, points.size
    retained = np.zeros(n)
    outcome = walked(start, points, stop)
    assert (outcome != Outcome.UNDECIDED).all() and (stop or (outcome == Outcome.REACHED).all())
    going = np.flatnonzero(ends.reach[:n] > 0)
    assert going.size > 5 if stop else going.size == 0
    decision, bears_out = start.check_ends(points, retained)
    assert bears_out.all()

    def again():
        ends.theta[:n], ends.g[:n], ends.direction[:n], ends.rate[:n], ends.reach[:n], ends.remaining[:n] = (
            array.copy() for array in true
        )
        ends.moved[:] = True

    true = [a[:n].copy() for a in (ends.theta, ends.g, ends.direction, ends.rate, ends.reach, ends.remaining)]
    # a g, or rate, that is not that of the variables is computed again
    rng = np.random.default_rng(5)
    for array in (ends.g, ends.rate):
        again()
        array[:n] += rng.normal(size=(n, len(K)))
        result, borne = start.check_ends(points, retained)
        np.testing.assert_allclose(result, decision, atol=1e-9)
        assert borne.all()
    # variables that are not optimal
    again()
    ends.theta[:n, :2] += [1e-3, -1e-3]
    assert not start.check_ends(points, retained)[1][points >= 2].any()
    # a sum that is another
    again()
    strayed = start.strayed
    start.strayed = lambda n: (strayed(n)[0], np.full(n, 1e-6))
    assert not start.check_ends(points, retained)[1].any()
    start.strayed = strayed
    if stop:
        # what the value may lack of the optimum counts against the margin: just so much, and just too much
        again()
        gap, noise, b, width = start.conditions(points, retained)
        c, slope, _ = continued(points, going, start.lo, start.hi, start.paths.theta_slack, ends, b)
        room, left = ends.reach[going], ends.remaining[going]
        margin = (start.y[points] * decision)[going]
        most = (margin * (room - left) - 0.5 * c * room**2 - np.abs(slope) * room) / width[going]
        start.largest_gap, conditions = 1e6, start.conditions
        for share in (0.999, 1.001):
            gap[going] = share * most
            start.conditions = lambda *_: (gap, 0 * noise, b, width)
            assert (start.check_ends(points, retained)[1][going] == (share < 1)).all()
        start.largest_gap, start.conditions = 0.0, conditions
        # a claim that goes further than the boxes, or than the margin lasts
        again()
        ends.reach[going] *= 1e3
        assert not start.check_ends(points, retained)[1][going].any()
        again()
        ends.remaining[going] = ends.reach[going]
        assert not start.check_ends(points, retained)[1][going].any()
        # no claim, but something left of alpha_r
        again()
        ends.reach[going] = 0
        assert not start.check_ends(points, retained)[1][going].any()
