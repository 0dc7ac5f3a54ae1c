"""The option --outer: what a whole selection is worth, by folds that take no part in it."""

from __future__ import annotations

import numpy as np

from svmselect.cli.encoding import learned
from svmselect.cli.report import percent
from svmselect.cli.scores import score_name, scorer_for
from svmselect.forks import cached_property
from svmselect.sklearn.problem import class_weights
from svmselect.sklearn.scoring import Scoring

__all__ = ["Outer"]


class Outer:
    """The models that are chosen without each fold, on that fold.

    What is learned from the rows is learned anew without the fold: categories, values that are filled in,
    means and deviations, the grid's scale of gamma, and the choice itself.

    Parameters
    ----------
    arguments : Namespace
    data : Table
    folds : list of tuple of ndarray
        The rows that are chosen and trained on, and those that are held out.
    choose : callable
        ``choose(arguments, X, y, groups)`` gives the chosen model, trained on all of these rows.
    by : str
        What `choose` judges by: "accuracy", "weighted_accuracy", or the name of a score.

    Attributes
    ----------
    wrong : ndarray of bool, shape (m,)
        The rows that the model without their fold takes for another class.
    fold : ndarray of int, shape (m,)
        The outer fold of each row.
    scores : list of float
        The score of each fold, with --scoring.
    """

    def __init__(self, arguments, data, folds, choose, by):
        y = data.labels
        self.n_folds, self.by = arguments.outer, by
        self.scoring = score_name(arguments.scoring, arguments.positive)
        self.labels, self.scores = y, []
        self.wrong, self.fold = np.zeros(y.size, dtype=bool), np.zeros(y.size, dtype=np.intp)
        scorer = scorer_for(arguments.scoring, arguments.positive, y)
        scoring = None if scorer is None else Scoring(scorer)
        for h, (train, held_out) in enumerate(folds):
            X, X_held_out = _encoded_apart(data, train, held_out, arguments)
            model = choose(arguments, X, y[train], None if data.groups is None else data.groups[train])
            self.fold[held_out] = h
            self.wrong[held_out] = model.predict(X_held_out) != y[held_out]
            if scoring is not None:
                self.scores.append(scoring.score_estimator(model, X_held_out, y[held_out], "score"))

    @cached_property
    def weighted_error(self):
        """The error in which each class counts by its weight among all rows."""
        classes, codes = np.unique(self.labels, return_inverse=True)
        return float(np.average(self.wrong, weights=class_weights("balanced", classes, codes)[codes]))

    @property
    def facts(self):
        """The errors and scores of the outer folds, for JSON."""
        return {
            "outer_folds": self.n_folds,
            "outer_error": self.wrong.mean(),
            "outer_errors": np.bincount(self.fold, weights=self.wrong).astype(int),
            **({"outer_weighted_error": self.weighted_error} if self.by == "weighted_accuracy" else {}),
            **(
                {"outer_score": float(np.mean(self.scores)), "outer_scores": self.scores}
                if self.scores
                else {}
            ),
        }

    @property
    def row(self):
        """Name and value of the measure, for people."""
        if self.scores:
            return f"{self.scoring} of the whole selection", f"{np.mean(self.scores):.6g}"
        if self.by == "weighted_accuracy":
            return "weighted error of the whole selection", percent(self.weighted_error)
        return "error of the whole selection", percent(self.wrong.mean())

    @property
    def sentence(self):
        """Name and value of the measure, and how it was counted."""
        if self.scores:
            how = f"mean of {self.n_folds} outer folds, {min(self.scores):.6g} to {max(self.scores):.6g}"
        else:
            how = f"{self.wrong.sum()} of {self.wrong.size} rows, in {self.n_folds} outer folds"
        return f"{' '.join(self.row)} ({how})"


def _encoded_apart(data, train, held_out, arguments):
    """Features of training rows, and of others by the encoding that the training rows give."""
    known = data.encoding
    if known.layout is None:
        raw, raw_held_out, categorical = data.raw[train], data.raw[held_out], set()
    else:
        raw, raw_held_out = data.raw.take(train), data.raw.take(held_out)
        pairs = zip(known.layout.places, known.columns, strict=True)
        categorical = {j for j, column in pairs if column.categories is not None}
    encoding = learned(raw, categorical, arguments.impute, arguments.standardise, [])
    return encoding.applied(raw, []), encoding.applied(raw_held_out, [])
