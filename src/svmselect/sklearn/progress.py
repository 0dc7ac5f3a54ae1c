"""The progress of a search or a command: a bar, its clock, the best model so far, and the end of the time."""

import sys
import threading
import time
from contextlib import contextmanager

__all__ = ["OutOfTime", "Watch", "progress_bar"]

TICK = 1.0  # seconds between two looks at the clock


class OutOfTime(Exception):
    """The time of a search is over."""


class _Bar:
    """A bar of tqdm, or none: called with how much of the total is done; `say` writes beside it."""

    def __init__(self, bar=None):
        self._bar = bar

    def __call__(self, done):
        if self._bar is not None:
            self._bar.update(done - self._bar.n)

    def say(self, text):
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)


@contextmanager
def progress_bar(total, visible):
    """Show a bar on standard error, on a terminal or in a notebook; yield a function of how much is done.

    A thread moves the clock of the bar while one piece of work takes long.
    """
    if not visible:
        yield _Bar()
        return
    from tqdm.auto import tqdm

    bar = tqdm(
        total=total,
        # standard error of a notebook is no terminal
        disable=False if "ipykernel" in sys.modules else None,
        file=sys.stderr,
        leave=False,
        bar_format="{percentage:3.0f}%|{bar}| {elapsed} < {remaining}{postfix}",
    )
    ended = threading.Event()

    def tick():
        while not ended.wait(TICK):
            bar.refresh()

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        with bar:
            yield _Bar(bar)
            bar.refresh()
    finally:
        ended.set()
        clock.join()


class Watch:
    """The state of a search that works: models that are done, the best of them, and the time.

    Parameters
    ----------
    n_models : int
        How many models are evaluated.
    bar : _Bar, optional
        See `progress_bar`.
    deadline : float, optional
        When the search ends, on the clock of `time.time`.
    """

    def __init__(self, n_models, bar=None, deadline=None):
        self._n_models, self._bar, self.deadline = n_models, bar or _Bar(), deadline
        self._lock, self._work, self._scores = threading.Lock(), 0.0, {}

    def check(self):
        """Raise an OutOfTime if the time is over."""
        if self.deadline is not None and time.time() > self.deadline:
            raise OutOfTime

    def worked(self, models):
        """Count work, as a number of models that may be a fraction."""
        with self._lock:
            self._work += models
            self._bar(min(self._work, self._n_models))

    def finished(self, number, parameters, score):
        """Count a model by its number, with its score, and show the best."""
        with self._lock:
            self._scores[number] = (score, parameters)
            best, words = max(
                (pair for pair in self._scores.values() if pair[0] == pair[0]),
                key=lambda pair: pair[0],
                default=(None, {}),
            )
            text = f"{len(self._scores)} of {self._n_models} models"
            if best is not None:
                shown = ", ".join(f"{name} {_short(value)}" for name, value in words.items())
                text += f", best {best:.4g} ({shown})"
            self._bar.say(text)


def _short(value):
    """Return the value of a parameter in a few letters."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
