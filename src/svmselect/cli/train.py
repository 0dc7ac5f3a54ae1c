"""The command `train`."""

from __future__ import annotations

import time

import numpy as np

from svmselect.cli.models import constant_class, constant_remark, described, heading, load
from svmselect.cli.report import percent, show, table
from svmselect.cli.saving import (
    check_options,
    check_saving,
    configured_model,
    fit_saved,
    save,
    saved_facts,
    saved_rows,
)

__all__ = ["train"]


def train(arguments):
    """One model, which is saved."""
    check_options(arguments)
    X, data, facts = load(arguments)
    y = data.labels
    check_saving(arguments, data)
    begin = time.perf_counter()
    model = fit_saved(configured_model(arguments, C=arguments.C, gamma=arguments.gamma), arguments, X, y)
    seconds = time.perf_counter() - begin
    parameters, line = described(model, X)
    predicted = model.predict(X)
    wrong = np.count_nonzero(predicted != y)
    save(model, data, arguments)
    result = {
        **facts,
        **parameters,
        **saved_facts(model),
        "training_error": wrong / y.size,
        "constant": constant_class(predicted),
        "support_vectors": model.support_.size,
        "model": arguments.save,
        "seconds": seconds,
    }
    rows = [
        ("training error", percent(wrong / y.size), f"{wrong} of {y.size} rows"),
        ("support vectors", str(model.support_.size), ""),
        *saved_rows(model, arguments),
        ("time", f"{seconds:.2f} s", ""),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows) + constant_remark(predicted))
