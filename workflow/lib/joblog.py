"""The log file of a job."""

from __future__ import annotations

import logging
import sys

__all__ = ["start_log"]


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
