"""The scores that --scoring and --threshold name, and the class that --positive names for them."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    f1_score,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    recall_score,
)

from svmselect.cli.labels import name_of
from svmselect.cli.number import is_number
from svmselect.sklearn import SVC
from svmselect.sklearn.left_out import LeftOut
from svmselect.sklearn.problem import right_values
from svmselect.sklearn.scoring import Scoring

__all__ = ["check_name", "check_positive", "check_score", "check_threshold", "score_name", "scorer_for"]

# scores of one of two classes: the metric, and what it is given of a classifier
OF_ONE_CLASS = {
    "average_precision": (average_precision_score, ("decision_function", "predict_proba")),
    "f1": (f1_score, "predict"),
    "jaccard": (jaccard_score, "predict"),
    "precision": (precision_score, "predict"),
    "recall": (recall_score, "predict"),
}


def check_name(option, name):
    """A ValueError, before a file is read, unless a score is one that scikit-learn knows; None is right."""
    try:
        Scoring("accuracy" if name is None else name)
    except ValueError:
        raise ValueError(
            f"{option} must be a name of sklearn.metrics.get_scorer_names(), such as balanced_accuracy, "
            f"f1 or roc_auc, got {name!r}"
        ) from None


def check_positive(arguments):
    """Raise a ValueError, before a file is read, if no score of the options is that of one class."""
    names = {vars(arguments).get(option) for option in ("scoring", "threshold")}
    if arguments.positive is not None and not names & {*OF_ONE_CLASS}:
        raise ValueError(
            f"--positive {arguments.positive} is for scores of one class, {', '.join(OF_ONE_CLASS)}: name "
            "one by --scoring or --threshold"
        )


def score_name(name, positive):
    """Return the name of a score for people, with the class that it is of."""
    return name if positive is None or name not in OF_ONE_CLASS else f"{name} of {positive}"


def scorer_for(name, positive, y):
    """Return a score as `Scoring` takes it.

    Parameters
    ----------
    name : str or None
        None for None.
    positive : str or None
        The class that the score is of; by default scikit-learn's, which is called 1.
    y : ndarray, shape (m,)
        Labels.

    Returns
    -------
    str, callable or None

    Raises
    ------
    ValueError
        No label is called `positive`.
    """
    if positive is None or name not in OF_ONE_CLASS:
        return name
    metric, response = OF_ONE_CLASS[name]
    classes = np.unique(y).tolist()
    for label in classes:
        if name_of(label) == positive or (
            isinstance(label, float) and is_number(positive) and float(positive) == label
        ):
            return make_scorer(metric, response_method=response, pos_label=label)
    raise ValueError(f"--positive {positive} is none of the classes {', '.join(map(name_of, classes))}")


def check_score(option, name, y, positive=None):
    """Return the Scoring of a name, or None for None.

    Raises a ValueError, before anything is trained, if the score is not for these labels.
    """
    if name is None:
        return None
    classes, codes = np.unique(y, return_inverse=True)
    is_class = np.eye(classes.size)[codes]
    values = right_values(codes, classes.size)
    right = LeftOut(SVC(calibration="loo"), classes, is_class, values, lambda: is_class)
    scoring = Scoring(scorer_for(name, positive, y))
    try:
        scoring.rehearse(right, y, None)
    except (ValueError, TypeError) as error:
        named = ", ".join(map(name_of, classes.tolist()))
        fitting = [f"{name}_macro"] if f"{name}_macro" in get_scorer_names() else []
        if classes.size == 2 and name in OF_ONE_CLASS and positive is None:
            fitting.append(f"{name} with --positive {name_of(classes[1])}")
        other = f"; {' or '.join(fitting)} is" if fitting else ""
        raise ValueError(f"{option} {name} is not for the classes {named}{other}: {error}") from None
    return scoring


def check_threshold(name, y, positive=None):
    """A ValueError, before anything is trained, unless a threshold of these labels can be tuned by a score of
    this name; None is right."""
    scoring = check_score("--threshold", name, y, positive)
    if scoring is None:
        return
    if np.unique(y).size > 2:
        raise ValueError(f"--threshold is for two classes, the file has {np.unique(y).size}")
    if scoring.needs_values:
        raise ValueError(f"--threshold is tuned by a score of predicted classes, and {name} is none")
