"""The log file of a job, and how its failure is told."""

import errno
import logging
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def start_log(path):
    """Open a job's log with time stamps; an exception that ends the job is written to it too."""
    log = logging.getLogger("svmselect.workflow")
    log.setLevel(logging.INFO)
    handler = logging.FileHandler(path, mode="w")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handler)

    def report(kind, error, trace):
        log.error("the job failed", exc_info=(kind, error, trace))
        sys.__excepthook__(kind, error, trace)
        if (sentence := explanation(error)) is not None:
            log.error(sentence)
            print(sentence, file=sys.stderr)

    sys.excepthook = report
    return log


def newest_line(folder):
    """Return the path of the newest log below a folder and its last line, as text."""
    logs = {path.stat().st_mtime: path for path in Path(folder).rglob("*.log") if path.stat().st_size}
    if not logs:
        return "no job has begun"
    path = logs[max(logs)]
    last = path.read_text(errors="replace").rstrip().rpartition("\n")[2]
    return f"{path}: {last}"


def say_every_minute(folder, seconds=60):
    """Print the newest line of the logs below a folder, again and again, from a thread.

    A job of minutes writes to its log alone: where no bar of progress is drawn, these lines show that a run
    is alive.
    """

    def say():
        while True:
            time.sleep(seconds)
            # a job that begins replaces its log
            with suppress(OSError):
                print(time.strftime("%H:%M:%S"), newest_line(folder), file=sys.stderr, flush=True)

    threading.Thread(target=say, daemon=True).start()


def explanation(error):
    """Return a sentence that says what to do about an exception, or None if the exception says so itself."""
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return (
            f"Cannot write {error.filename or 'a file'}: {error.strerror}. Make room or mend the permissions,"
            " and call the same command again: finished cells are not computed again."
        )
    if isinstance(error, MemoryError):
        where = "".join(f" {note}" for note in getattr(error, "__notes__", ()))
        return (
            f"The machine has too little memory{where}: run fewer jobs beside this one "
            "(--resources mem_mb=N), or take the data set out of the configuration."
        )
    return None


class Progress:
    """A callable that writes to the log, at most once a minute, how many of the units of a task are done."""

    def __init__(self, log, task, units):
        self.log, self.task, self.units, self.last = log, task, units, time.monotonic()

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self.last >= 60:
            self.log.info("%s: %d of %d %s", self.task, done, total, self.units)
            self.last = now
