"""Damaged files: each is named in one sentence and set aside, so that the next run makes it again."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path


class DamagedError(ValueError):
    """A file that cannot be what was written; it has another name now."""


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
        why = " ".join(str(error).split()) or type(error).__name__
        aside = Path(path).with_name(f"{Path(path).name}.damaged")
        if aside.is_dir():
            shutil.rmtree(aside)  # a folder does not replace another one
        os.replace(path, aside)
        raise DamagedError(
            f"{path} is damaged ({why}): it is kept as {aside.name}, and what it held is made again by the "
            "next run that needs it"
        ) from error
