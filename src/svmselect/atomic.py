"""Files that appear complete or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a temporary file beside `path`, which replaces it when the block ends without an error.

    A symbolic link at `path` is replaced by the file: nothing outside the named folder is written. The mode
    of the file is that of a new one under the umask. A `ValueError` is raised, before anything is written,
    for a folder, a device or a pipe.
    """
    if (path.exists() and not path.is_file()) or _leads_to_open_file(path):
        raise ValueError(f"{path} is a folder, a device or a pipe, not a file that can be replaced")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Nobody can guess the name, "x" neither follows a link nor opens an existing file, and the name's length
    # does not depend on the target's. Files of tempfile are readable by their owner only.
    temporary = path.with_name(f".svmselect-{secrets.token_hex(8)}")
    try:
        with open(temporary, "xb") as file:
            try:
                yield file
                file.close()  # the last buffer may not fit the disk
                os.replace(temporary, path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(path)  # the error of a full disk has no file name
        raise


def _leads_to_open_file(path: Path) -> bool:
    """Return whether `path` is a link to a file that a process has open, such as /dev/stdout."""
    return path.is_symlink() and path.readlink().is_relative_to("/proc")
