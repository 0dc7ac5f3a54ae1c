"""The command `train`."""

from __future__ import annotations

import time

import numpy as np

from svmselect.cli.kept import check_options, check_saving, kept, kept_facts, kept_rows, save
from svmselect.cli.models import described, heading, load
from svmselect.cli.report import percent, show, table

__all__ = ["train"]


def train(arguments):
    """One model, which is saved."""
    check_options(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_saving(arguments, data)
    begin = time.perf_counter()
    model = kept(arguments, C=arguments.C, gamma=arguments.gamma).fit(X, y)
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    wrong = np.count_nonzero(model.predict(X) != y)
    save(model, data, arguments)
    result = {
        **facts,
        **parameters,
        **kept_facts(model),
        "training_error": wrong / y.size,
        "support_vectors": model.support_.size,
        "model": arguments.save,
        "seconds": seconds,
    }
    rows = [
        ("training error", percent(wrong / y.size), f"{wrong} of {y.size} rows"),
        ("support vectors", str(model.support_.size), ""),
        *kept_rows(model, arguments),
        ("time", f"{seconds:.2f} s", ""),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))
