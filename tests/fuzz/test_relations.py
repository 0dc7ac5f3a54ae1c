"""Each method on a few problems, said in all ways, and every problem on which one has failed before.

`make fuzz` draws new ones for as long as one likes.
"""

import pytest
from fuzz.cases import CORPUS, Case, cases
from fuzz.methods import METHODS
from hypothesis import HealthCheck, Phase, given, settings


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_drawn(method):
    @settings(
        max_examples=8,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],  # make fuzz shrinks
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(method))
    def check(case):
        case.check()

    check()


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.stem)
def test_once_failed(path):
    Case.read(path).check()
