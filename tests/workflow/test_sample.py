"""Totals from samples: intervals cover what the obvious full computation gives."""

import numpy as np
import pytest
from lib.sample import half_width, total, variance_of_total


@pytest.mark.parametrize(("units", "n"), [(100, 10), (10, 3), (5, 2)])
def test_intervals_cover_the_whole_as_often_as_they_say(units, n):
    """A whole that is a draw itself is measured in full, and by samples of it over many seeds."""
    rng, covered, values = np.random.default_rng(1), 0, []
    for _ in range(4000):
        whole = rng.normal(10, 3, units)
        value, variance = total(rng.permutation(whole)[:n], units)
        values.append(value / whole.sum())
        covered += abs(value - whole.sum()) <= half_width(value, (value, variance))
    assert 0.93 < covered / 4000 < 0.97
    assert np.mean(values) == pytest.approx(1, abs=0.01)


def test_of_one_unit_the_spread_comes_from_elsewhere():
    rng, covered = np.random.default_rng(2), 0
    for _ in range(4000):
        whole = 7 * rng.normal(1, 0.2, 5)
        value, variance = total(whole[:1], 5, relative_spread=0.2)
        covered += abs(value - whole.sum()) <= half_width(value, (value, variance))
    assert 0.9 < covered / 4000 < 0.97
    assert np.isnan(variance_of_total(0.0, 1, 5)) and np.isnan(total([3.0], 5)[1])


def test_what_is_whole_is_known():
    assert total([1.0, 2.0], 2) == (3.0, 0.0) and variance_of_total(3.0, 4, 4) == 0
    np.testing.assert_array_equal(variance_of_total(np.ones(2), np.array([0, 2]), np.array([0, 2])), [0, 0])
    assert np.isnan(half_width(2.0, (2.0, 0.0), (1.0, 0.0)))
