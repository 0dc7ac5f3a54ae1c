"""`make fuzz`: draws new problems for so many seconds, shrinks what fails and writes it into the corpus.

The same seed draws the same problems, if there is time for as many.
"""

from __future__ import annotations

import argparse
import itertools
import secrets
import sys
import time
import zlib
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import hypothesis
import numpy as np
from fuzz.cases import CORPUS, cases
from fuzz.drawn_problems import KINDS
from fuzz.methods import METHODS
from fuzz.otherwise import WAYS
from hypothesis import HealthCheck, Phase

EXAMPLES = 20  # of one method in one round
SHRINKING = 10  # seconds, of one failure


class SmallEnough(KeyboardInterrupt):
    """Ends the shrinking of a failure: hypothesis lets no other exception through."""


class Hunt:
    """Rounds of one method after the other, until the time is over.

    Attributes
    ----------
    tried : Counter
        Problems by method; shrinking is not counted.
    found : dict
        By method, way and kind of failure: the file that tells it.
    again : int
        Further problems that failed in a way that is known.
    """

    def __init__(self, seed, seconds, methods, ways, kinds, folder):
        self.seed, self.end = seed, time.monotonic() + seconds
        self.methods, self.ways, self.kinds, self.folder = methods, ways, kinds, folder
        self.tried, self.failures, self.again = Counter(), {}, 0

    @property
    def over(self):
        return time.monotonic() >= self.end

    def run(self):
        for number in itertools.count():
            for method in self.methods:
                if self.over:
                    return
                self.round(method, number)

    def round(self, method, number):
        """One run of hypothesis; it ends with the first failure that is new, shrunk."""
        failure, shrunk_by = None, np.inf

        @hypothesis.seed(zlib.crc32(f"{self.seed} {method} {number}".encode()))
        @hypothesis.settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        @hypothesis.given(case=cases(method, self.ways, self.kinds))
        def check(case):
            nonlocal failure, shrunk_by
            if failure is None:
                if self.over:
                    return
                self.tried[method] += 1
            elif time.monotonic() > shrunk_by:
                raise SmallEnough
            try:
                case.check()
            except Exception as error:
                key = case.method, case.way, type(error).__name__
                if key in self.failures:
                    self.again += failure is None
                    return
                if failure is None:
                    shrunk_by = time.monotonic() + SHRINKING
                failure = case, key, str(error)
                raise

        try:
            check()
        except (Exception, SmallEnough):
            if failure is None:
                raise
            case, key, sentence = failure
            path = case.write(f"{key[-1]}: {sentence}", self.folder)
            self.failures[key] = path
            print(f"FAILED {case.relation}: {key[-1]}: {sentence}\n       {path}", flush=True)

    def report(self):
        """The counts, and in one line all of it."""
        for method, count in self.tried.items():
            failed = sum(key[0] == method for key in self.failures)
            print(f"{method:32}{count:8} problems{failed:4} failures")
        print(
            f"seed {self.seed}: {self.tried.total()} problems, {len(self.failures)} kinds of failures"
            + (f", {self.again} more like these" if self.again else "")
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="a new one by default")
    parser.add_argument("--method", action="append", choices=METHODS, help="only this one; may be repeated")
    parser.add_argument("--way", action="append", choices=WAYS, help="only this one; may be repeated")
    parser.add_argument("--kind", action="append", choices=KINDS, help="of rows; may be repeated")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where failures are written")
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.seconds:g} s", flush=True)
    options.corpus.mkdir(parents=True, exist_ok=True)
    hunt = Hunt(
        seed,
        options.seconds,
        options.method or list(METHODS),
        tuple(options.way or WAYS),
        tuple(options.kind or KINDS),
        options.corpus,
    )
    hunt.run()
    hunt.report()
    return 1 if hunt.failures else 0


if __name__ == "__main__":
    sys.exit(main())
