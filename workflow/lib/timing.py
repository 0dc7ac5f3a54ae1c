"""The clock around an estimator."""

import fcntl
import logging
import os
import stat
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Timing:
    """The times that `timed` measured: CPU seconds of this process and, in the exclusive mode, wall-clock
    seconds."""

    mode: str
    cpu_s: float | None = None
    wall_s: float | None = None


@contextmanager
def timed(mode):
    """Measure the time of a block; the `Timing` is filled when it ends without an exception.

    The mode ``exclusive`` holds a lock of this user on this machine, so that no two timed blocks run at the
    same time; the time spent waiting is not counted. If a run in another folder holds it, a warning says so;
    if the folder of the lock is not this user's alone, a `PermissionError` does. In the ``shared`` mode
    wall-clock time would depend on the other jobs: it is not taken.
    """
    if mode not in ("shared", "exclusive"):
        raise ValueError(f"timing must be 'shared' or 'exclusive', got {mode!r}")
    timing = Timing(mode)
    with _machine_lock() if mode == "exclusive" else nullcontext():
        wall, cpu = time.perf_counter(), time.process_time()
        yield timing
        # microseconds: further digits are noise, and rows are kept
        timing.cpu_s = round(time.process_time() - cpu, 6)
        if mode == "exclusive":
            timing.wall_s = round(time.perf_counter() - wall, 6)


@contextmanager
def _machine_lock():
    folder = _private_folder()
    try:
        # Nothing is followed, truncated or created outside the folder, whatever others put into /tmp.
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        lock = os.open("timing.lock", flags, 0o600, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _wait_for(lock)
        with suppress(OSError):  # a full disk is no reason not to run
            os.ftruncate(lock, 0)
            os.pwrite(lock, os.fsencode(os.getcwd()), 0)
        yield
    finally:
        os.close(lock)  # which frees it


def _wait_for(lock):
    """Take the lock, whose file names the folder of the run that holds it."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    except BlockingIOError:
        holder = os.fsdecode(os.pread(lock, 4096, 0))
    if holder != os.getcwd():
        sentence = (
            f"waiting: the run in {holder or 'another folder'} takes times, which no two runs do at once"
        )
        logging.getLogger("svmselect.workflow").warning(sentence)
        print(sentence, file=sys.stderr, flush=True)
    fcntl.flock(lock, fcntl.LOCK_EX)


def _private_folder():
    """Return the descriptor of a folder for temporary files that this user owns and nobody else can enter."""
    path = Path(tempfile.gettempdir()) / f"svmselect-{os.getuid()}"
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise PermissionError(_refusal(path, f"it cannot be opened ({error.strerror})")) from error
    status = os.fstat(folder)
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid != os.getuid() or mode & 0o077:
        os.close(folder)
        raise PermissionError(_refusal(path, f"it belongs to user {status.st_uid} and has mode {mode:o}"))
    return folder


def _refusal(path, why):
    return (
        f"the lock of timed runs needs {path} to be a folder of this user with mode 700, and {why}: remove "
        "it, or set TMPDIR to another folder"
    )
