"""The benchmarks' modules."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))


@pytest.fixture(scope="session")
def benchmarks():
    return BENCHMARKS
