"""The scores that --scoring and --threshold name: whether they are there, and fit the labels of a file."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import get_scorer_names

from svmselect.cli.labels import name_of
from svmselect.sklearn import SVC
from svmselect.sklearn.left_out import LeftOut
from svmselect.sklearn.problem import right_values
from svmselect.sklearn.scoring import Scoring

__all__ = ["check_name", "check_score", "check_threshold"]


def check_name(option, name):
    """A ValueError, before a file is read, unless a score is one that scikit-learn knows; None is right."""
    try:
        Scoring("accuracy" if name is None else name)
    except ValueError:
        raise ValueError(
            f"{option} must be a name of sklearn.metrics.get_scorer_names(), such as balanced_accuracy, "
            f"f1 or roc_auc, got {name!r}"
        ) from None


def check_score(option, name, y):
    """The Scoring of a name, or a ValueError, before anything is trained, if it is not for these labels; None
    for None."""
    if name is None:
        return None
    classes, codes = np.unique(y, return_inverse=True)
    own = np.eye(classes.size)[codes]
    right = LeftOut(SVC(calibration="loo"), classes, own, right_values(codes, classes.size), lambda: own)
    scoring = Scoring(name)
    try:
        scoring.rehearse(right, y, None)
    except (ValueError, TypeError) as error:
        named = ", ".join(map(name_of, classes.tolist()))
        other = f"; {name}_macro is" if f"{name}_macro" in get_scorer_names() else ""
        raise ValueError(f"{option} {name} is not for the classes {named}{other}: {error}") from None
    return scoring


def check_threshold(name, y):
    """A ValueError, before anything is trained, unless a threshold of these labels can be tuned by a score of
    this name; None is right."""
    scoring = check_score("--threshold", name, y)
    if scoring is None:
        return
    if np.unique(y).size > 2:
        raise ValueError(f"--threshold is for two classes, the file has {np.unique(y).size}")
    if scoring.needs_values:
        raise ValueError(f"--threshold is tuned by a score of predicted classes, and {name} is none")
