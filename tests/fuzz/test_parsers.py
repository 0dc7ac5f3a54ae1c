"""The readers on their seeds, and on every input that one has failed on before.

`make fuzz-parsers` looks for new ones; `make test-memory` runs these on the build with the sanitizers, too.
"""

import pytest
from fuzz.cases import CORPUS
from fuzz.parsers import PARSERS
from fuzz.run_parsers import NAMES

FOUND = [path for name in PARSERS for path in sorted((CORPUS / name).glob("*"))]


@pytest.mark.parametrize("name", PARSERS)
def test_seeds(name):
    for seed in PARSERS[name].seeds:
        PARSERS[name].check(seed)
        for cut in range(0, len(seed), max(len(seed) // 16, 1)):
            PARSERS[name].check(seed[:cut])


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_once_failed(path):
    PARSERS[path.parent.name].check(path.read_bytes())


def test_every_parser_is_fuzzed():
    assert set(NAMES) == set(PARSERS)
