"""A case: one problem, one way to say it, one method; how it is drawn, checked and written down."""

from __future__ import annotations

import hashlib
import json
import signal
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from fuzz.checks import check_origin, require
from fuzz.drawn_problems import KINDS, Problem, problems
from fuzz.methods import METHODS
from fuzz.otherwise import WAYS
from hypothesis import strategies as st

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 60  # of CPU time that a method may take for 60 rows
SMALL = ("leave-one-out", "cross-validation", "grid", "estimator", "spans")
SMALL_ROWS = 24  # where there is a reference for every row or fold


@contextmanager
def limited(seconds):
    """A Wrong after so many seconds of CPU time: the solvers look for signals."""

    def stop(*_):
        require(False, "no end", f"no answer after {seconds} s of CPU time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True)
class Case:
    """What one failure is about; `number` chooses options of the way and of the method."""

    problem: Problem
    way: str
    method: str
    number: int

    @property
    def relation(self):
        return f"{self.method}, {self.way}"

    def check(self):
        """A Wrong if the library's answer is."""
        said = WAYS[self.way](self.problem, self.number)
        with limited(SECONDS), warnings.catch_warnings():
            warnings.filterwarnings("error", category=RuntimeWarning, module="svmselect")
            check_origin(said)
            METHODS[self.method](said, np.random.default_rng(self.number))

    @cached_property
    def written(self):
        """As JSON holds it."""
        return {
            "method": self.method,
            "way": self.way,
            "number": self.number,
            "problem": self.problem.written(),
        }

    def write(self, happened, folder=CORPUS):
        """Write it and what happened as a small JSON file; its path."""
        text = json.dumps({"relation": self.relation, "happened": happened, **self.written}, indent=1) + "\n"
        digest = hashlib.sha256(json.dumps(self.written).encode()).hexdigest()[:8]
        name = "-".join(self.relation.replace(",", "").split())
        path = folder / f"{name}-{digest}.json"
        path.write_text(text)
        return path

    @classmethod
    def read(cls, path):
        """The case in a file that `write` made."""
        content = json.loads(Path(path).read_text())
        return cls(Problem.read(content["problem"]), content["way"], content["method"], content["number"])


def cases(method, ways=tuple(WAYS), kinds=tuple(KINDS), most=None):
    """Strategy for the cases of one method."""
    if most is None:
        most = SMALL_ROWS if method.startswith(SMALL) else 60
    return st.builds(
        Case, problems(most, kinds), st.sampled_from(ways), st.just(method), st.integers(0, 2**16)
    )
