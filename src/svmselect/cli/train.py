"""The command `train`, and the options --calibration, --threshold and --save."""

import time

import numpy as np

from svmselect.cli.data import constant_class, constant_remark, described, heading, load
from svmselect.cli.models import (
    check_name,
    check_positive,
    check_threshold,
    classifier,
    score_name,
    scorer_for,
)
from svmselect.cli.output import percent, show, table
from svmselect.sklearn import save_model

__all__ = [
    "check_encoding",
    "check_groups",
    "check_options",
    "check_saving",
    "configured_model",
    "fit_saved",
    "save",
    "saved_facts",
    "saved_rows",
    "train",
]


def train(arguments):
    """Run the command `train`: one model, which is saved."""
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


def check_options(arguments):
    """Raise a ValueError, before the file is read, for options that cannot go together."""
    check_name("--threshold", arguments.threshold)
    check_positive(arguments)
    for option in ("calibration", "threshold"):
        if arguments.kernel == "sigmoid" and getattr(arguments, option):
            raise ValueError(f"--{option} goes by leave-one-out, which --kernel sigmoid does not have")
    if arguments.save and arguments.save_as == "libsvm":
        for option, value in (("--calibration", arguments.calibration), ("--threshold", arguments.threshold)):
            if value:
                raise ValueError(
                    f"{option} {value} is nothing that LIBSVM's model file can hold: save the model as json"
                )


def check_groups(arguments):
    """Raise a ValueError, before the file is read, for options that ignore --groups."""
    options = [("--by loo", arguments.by == "loo")]
    options += [(f"--{name}", getattr(arguments, name)) for name in ("calibration", "threshold")]
    for option, given in options:
        if arguments.groups and given:
            raise ValueError(
                f"{option} leaves out single rows, and the others of their group would stay: it cannot go "
                f"with --groups{', which is for --by cv' if option == '--by loo' else ''}"
            )


def check_saving(arguments, data):
    """Raise a ValueError, before anything is trained, for a threshold or a model that is impossible."""
    check_threshold(arguments.threshold, data.labels, arguments.positive)
    check_encoding(arguments, data)


def check_encoding(arguments, data):
    """Raise a ValueError, before anything is trained, if LIBSVM's format cannot hold the encoding."""
    if vars(arguments).get("save") and arguments.save_as == "libsvm" and not data.encoding.is_plain:
        raise ValueError(
            "LIBSVM's model file cannot hold categories, imputed values or standardised features: save the "
            "model as json, or encode the file itself"
        )


def configured_model(arguments, calibrated=False, **parameters):
    """Return the SVC of the options as it is saved; `calibrated` gives it probabilities in any case."""
    return classifier(
        arguments,
        calibration="loo" if calibrated or arguments.calibration else None,
        calibration_method=arguments.calibration or "sigmoid",
        threshold=arguments.threshold,
        **parameters,
    )


def fit_saved(model, arguments, X, y):
    """Train an SVC of `configured_model`, and return it.

    Its `threshold` becomes the name of the score with its class, which can be saved.
    """
    model.set_params(threshold=scorer_for(arguments.threshold, arguments.positive, y)).fit(X, y)
    return model.set_params(threshold=score_name(arguments.threshold, arguments.positive))


def saved_facts(model):
    """Return calibration and threshold of a trained model, for JSON."""
    return {
        "calibration": model.calibration_method if model.calibration else None,
        "threshold_scoring": model.threshold,
        "threshold": model.threshold_,
    }


def saved_rows(model, arguments):
    """Return calibration, threshold and file of a trained model as rows of a table."""
    rows = []
    if model.calibration:
        rows.append(("probabilities", model.calibration_method, "calibrated on left-out decision values"))
    if model.threshold:
        quantity = f"decision value with the best {model.threshold} of left-out rows"
        rows.append(("threshold", f"{model.threshold_:.6g}", quantity))
    return rows + ([("saved", arguments.save, "")] if arguments.save else [])


def save(model, data, arguments):
    """Write the model where --save says."""
    if arguments.save_as == "libsvm":
        save_model(model, arguments.save, "libsvm", zero_based=data.encoding.zero_based)
    else:
        save_model(model, arguments.save, "json", data.encoding.as_dict())
