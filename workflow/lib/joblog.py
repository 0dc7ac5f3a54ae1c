"""The log file of a job."""

from __future__ import annotations

import logging
import sys
import time

__all__ = ["Progress", "start_log"]


def start_log(path):
    """Open a job's log with time stamps; an exception that ends the job is written to it too.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    logging.Logger
    """
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

    sys.excepthook = report
    return log


class Progress:
    """Called with what is done and what there is to do; says so in the log, once a minute.

    Parameters
    ----------
    log : logging.Logger
    what, units : str
        What is in progress, and what is counted.
    """

    def __init__(self, log, what, units):
        self.log, self.what, self.units, self.last = log, what, units, time.monotonic()

    def __call__(self, done, total):
        now = time.monotonic()
        if now - self.last >= 60:
            self.log.info("%s: %d of %d %s", self.what, done, total, self.units)
            self.last = now
