"""The log file of a job, and how its failure is told."""

import errno
import logging
import sys
import time

import __main__
from lib.memory import limit_memory, needed_mb

UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM}


def start_log(path):
    """Open a job's log with time stamps; an exception that ends the job is written to it too. The job is
    held to the memory that its rule states (``mem_mb``)."""
    log = logging.getLogger("svmselect.workflow")
    log.setLevel(logging.INFO)
    handler = logging.FileHandler(path, mode="w")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(handler)
    job = getattr(__main__, "snakemake", None)  # what Snakemake puts into a script
    budget = None if job is None else job.resources.get("mem_mb")

    def report(kind, error, trace):
        log.error("the job failed", exc_info=(kind, error, trace))
        sys.__excepthook__(kind, error, trace)
        if (sentence := explanation(error, job, budget)) is not None:
            log.error(sentence)
            print(sentence, file=sys.stderr)

    sys.excepthook = report
    if budget is not None:
        limit_memory(budget)
    return log


def explanation(error, job, budget):
    """Return a sentence that says what to do about an exception, or None if the exception says so itself."""
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        return (
            f"Cannot write {error.filename or 'a file'}: {error.strerror}. Make room or mend the permissions,"
            " and call the same command again: what is finished is kept."
        )
    # the library's own sentences are of a budget within the job's
    explained = error.args and not hasattr(error, "shape")
    if job is None or not isinstance(error, MemoryError) or explained:
        return None
    cells = job.params.get("cells", [])
    dataset = cells[0]["dataset"] if cells else job.wildcards.get("dataset")
    subject = ", ".join([job.rule, *(f"cell {cell['cell']}" for cell in cells)])
    if dataset is not None:
        subject = f"Data set {dataset!r} ({subject})"
    needed = needed_mb(error, budget)
    needs = "more memory" if needed is None else f"at least {needed:.0f} MB of memory"
    if budget is None:
        return f"{subject} needs {needs}, which this machine does not have."
    return (
        f"{subject} needs {needs}, and its budget is mem_mb={budget}; give it more with "
        f"--set-resources {job.rule}:mem_mb=N, or take it out of the configuration."
    )


class Progress:
    """A callable that writes to the log, at most once a minute, how many of the units of a task are done."""

    def __init__(self, log, task, units):
        self.log, self.task, self.units, self.last = log, task, units, time.monotonic()

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self.last >= 60:
            self.log.info("%s: %d of %d %s", self.task, done, total, self.units)
            self.last = now
