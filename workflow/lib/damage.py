"""Damaged files: each is named in one sentence. A file that a run makes is set aside, so that the next run
makes it again."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path


class DamagedError(ValueError):
    """A file that cannot be what was written; ``why`` says how that is known."""

    def __init__(self, path, why, then=""):
        super().__init__(f"{path} is damaged ({why}){then}")
        self.why = why


@contextmanager
def set_aside_if_damaged(path):
    """Rename a file or folder to ``<name>.damaged`` if the block, which reads it, fails; then raise a
    `DamagedError`. A shortage of memory and what the system says of reading are no damage."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # damage has no one kind of error
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise set_aside(path, " ".join(str(error).split()) or type(error).__name__) from error


def set_aside(path, why):
    """Rename a damaged file or folder to ``<name>.damaged``, and return a `DamagedError` that says so."""
    aside = Path(path).with_name(f"{Path(path).name}.damaged")
    if aside.is_dir():
        shutil.rmtree(aside)  # a folder does not replace another one
    os.replace(path, aside)
    then = f": it is kept as {aside.name}, and what it held is made again by the next run that needs it"
    return DamagedError(path, why, then)
