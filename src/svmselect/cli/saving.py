"""The options --calibration, --threshold and --save: a trained model with all that it decides by."""

from __future__ import annotations

from svmselect.cli.models import classifier
from svmselect.cli.scores import check_name, check_positive, check_threshold, score_name, scorer_for
from svmselect.sklearn import save_model

__all__ = [
    "check_groups",
    "check_options",
    "check_saving",
    "configured_model",
    "fit_saved",
    "save",
    "saved_facts",
    "saved_rows",
]


def check_options(arguments):
    """A ValueError, before the file is read, for options that cannot go together."""
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
    """A ValueError, before the file is read, where --groups would not be heeded."""
    options = [("--by loo", arguments.by == "loo")]
    options += [(f"--{name}", getattr(arguments, name)) for name in ("calibration", "threshold")]
    for option, given in options:
        if arguments.groups and given:
            raise ValueError(
                f"{option} leaves out single rows, and the others of their group would stay: it cannot go "
                f"with --groups{', which is for --by cv' if option == '--by loo' else ''}"
            )


def check_saving(arguments, data):
    """A ValueError, before anything is trained, where a threshold cannot be tuned, or the format cannot hold
    the encoding."""
    check_threshold(arguments.threshold, data.labels, arguments.positive)
    if arguments.save and arguments.save_as == "libsvm" and not data.encoding.is_plain:
        raise ValueError(
            "LIBSVM's model file cannot hold categories, imputed values or standardised features: save the "
            "model as json, or encode the file itself"
        )


def configured_model(arguments, calibrated=False, **parameters):
    """The SVC of the options as it is kept; `calibrated` gives it probabilities in any case."""
    return classifier(
        arguments,
        calibration="loo" if calibrated or arguments.calibration else None,
        calibration_method=arguments.calibration or "sigmoid",
        threshold=arguments.threshold,
        **parameters,
    )


def fit_saved(model, arguments, X, y):
    """Train an SVC of `configured_model`, and return it.

    Its `threshold` becomes the score's name, which says of which class the score is and can be saved.
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
