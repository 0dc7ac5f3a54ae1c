"""Margins of rows, and misclassified rows, by classifiers that were trained without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from svmselect.sklearn.votes import margins

__all__ = ["LeftOutRows", "held_out_rows", "left_out_rows"]


@dataclass(frozen=True)
class LeftOutRows:
    """Rows and how a classifier decides that was trained without them.

    Attributes
    ----------
    predicted : ndarray, shape (m,)
        Labels.
    margins : ndarray, shape (m,)
        With two classes, the decision value less the threshold, with the sign that makes it positive where
        the row is right. With more classes, the score of the row's class less the largest of the others.
    wrong : ndarray of bool, shape (m,)
    method : str
        What was left out, for people.
    without : str
        The same after "the classifier that was trained without".
    """

    predicted: np.ndarray
    margins: np.ndarray
    wrong: np.ndarray
    method: str
    without: str

    @property
    def error(self):
        """The share of rows that are misclassified."""
        return float(self.wrong.mean())


def left_out_rows(model, y):
    """The LeftOutRows of a trained SVC, each by the classifier without it alone."""
    return _rows(model, model.loo_decision_, model.loo_predictions_, y, "leave-one-out", "them")


def held_out_rows(model, X, y, folds):
    """Return margins and misclassified rows by the classifiers trained without each row's fold."""
    plain = clone(model).set_params(calibration=None, threshold=None)
    values = cross_val_predict(plain, X, y, cv=folds, method="decision_function")
    predicted = None if values.ndim == 1 else cross_val_predict(plain, X, y, cv=folds)
    return _rows(model, values, predicted, y, f"{len(folds)}-fold", "their fold")


def _rows(model, values, predicted, y, method, without):
    codes = np.searchsorted(model.classes_, y)
    if values.ndim == 1:
        values = values - model.threshold_
        predicted = model.classes_[(values >= 0).astype(np.intp)]
    return LeftOutRows(predicted, margins(values, codes), predicted != y, method, without)
