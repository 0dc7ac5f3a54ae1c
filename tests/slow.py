"""Marks for the tests that `make test` leaves out and `make test-slow` runs."""

import pytest


def slow(*values):
    """Return parameters whose tests are slow: the same test with more problems or larger ones."""
    return slow_cases(*((value,) for value in values))


def slow_cases(*cases):
    """Return the same of tests of several parameters, a tuple for each."""
    return [pytest.param(*case, marks=pytest.mark.slow) for case in cases]
