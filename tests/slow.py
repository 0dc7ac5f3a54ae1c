"""Marks for the tests that `make test` leaves out and `make test-slow` runs."""

import pytest


def slow(*values):
    """Return parameters whose tests are slow: the same test with more problems or larger ones."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
