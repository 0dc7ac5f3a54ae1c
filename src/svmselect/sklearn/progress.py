"""The progress bar of searches and commands."""

import sys
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total, visible):
    """Show a bar on standard error, on a terminal only; yield a function of how much of the total is done."""
    if not visible:
        yield lambda done: None
        return
    from tqdm import tqdm

    bar = tqdm(
        total=total,
        disable=None,
        file=sys.stderr,
        leave=False,
        bar_format="{percentage:3.0f}%|{bar}| {elapsed} < {remaining}",
    )
    with bar:
        yield lambda done: bar.update(done - bar.n)
