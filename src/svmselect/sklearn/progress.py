"""A bar that shows how much of something is done."""

from __future__ import annotations

import sys

from tqdm import tqdm

__all__ = ["progress_bar"]


class progress_bar:
    """A bar on standard error, on a terminal only; `report` takes how much of the total is done."""

    def __init__(self, total, visible):
        self.bar = tqdm(
            total=total,
            disable=None if visible else True,
            file=sys.stderr,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar}| {elapsed} < {remaining}",
        )

    def __enter__(self):
        return self.report

    def report(self, done):
        self.bar.update(done - self.bar.n)

    def __exit__(self, *error):
        self.bar.close()
