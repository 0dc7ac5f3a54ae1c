"""The command `train`."""

from __future__ import annotations

import time

import numpy as np

from svmselect.cli.kept import check_options, check_saving, fit_kept, kept, kept_facts, kept_rows, save
from svmselect.cli.models import constant_class, constant_remark, described, heading, load
from svmselect.cli.report import percent, show, table

__all__ = ["train"]


def train(arguments):
    """One model, which is saved."""
    check_options(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_saving(arguments, data)
    begin = time.perf_counter()
    model = fit_kept(kept(arguments, C=arguments.C, gamma=arguments.gamma), arguments, X, y)
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    predicted = model.predict(X)
    wrong = np.count_nonzero(predicted != y)
    save(model, data, arguments)
    result = {
        **facts,
        **parameters,
        **kept_facts(model),
        "training_error": wrong / y.size,
        "constant": constant_class(predicted),
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
    show(result, arguments.json, heading(facts, line) + table(rows) + constant_remark(predicted))
