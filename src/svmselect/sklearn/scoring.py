"""What a search judges its models by: scorers as scikit-learn has them, asked about left-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from sklearn.metrics import get_scorer

__all__ = ["Scoring"]

WANTED = "a name of sklearn.metrics.get_scorer_names(), a callable, or several of these"


class Scoring:
    """The scores of a search.

    Parameters
    ----------
    scoring : str, callable, list, tuple, set or dict
        As for scikit-learn's GridSearchCV: a name; ``scorer(estimator, X, y)``, whose result is a number or a
        dict of numbers; several names; or a dict from names to either of the first two.

    Attributes
    ----------
    names : list of str
        Of the scores.
    several : bool
        Whether they have names of their own; a single one is "score".
    needs_values : bool
        Whether a scorer asks for more than labels.

    Raises
    ------
    ValueError
        For anything else.

    Notes
    -----
    `names` and `needs_values` are known after `rehearse`.
    """

    def __init__(self, scoring):
        self.several = isinstance(scoring, Mapping | list | tuple | set | frozenset)
        if isinstance(scoring, Mapping):
            named = dict(scoring)
        elif self.several:
            named = {name: name for name in scoring if isinstance(name, str)}
            if len(named) < len(scoring):
                raise ValueError(f"scoring must hold names, each of them once, got {scoring!r}")
        else:
            named = {"score": scoring}
        if not named:
            raise ValueError(f"scoring must be {WANTED}, got {scoring!r}")
        self._scorers = {name: scorer_of(scorer) for name, scorer in named.items()}
        self._takes_weight = dict.fromkeys(named, True)
        self.names, self.needs_values = list(named), True

    def rehearse(self, left_out, y, weight):
        """Apply every scorer once, before anything is trained: what it asks for, and what it returns.

        Parameters
        ----------
        left_out : LeftOut
            With decision values that are right everywhere.
        y, weight
            As for a call.
        """
        if weight is not None:
            for name, scorer in self._scorers.items():
                try:
                    scorer(left_out, left_out.X, y, sample_weight=weight)
                except TypeError:
                    self._takes_weight[name] = False
                    warnings.warn(
                        f"scorer {name!r} takes no sample_weight: each row counts once", stacklevel=4
                    )
        self.names = list(self(left_out, y, weight))
        self.needs_values = left_out.asked_for_values
        self.several = self.several or self.names != ["score"]

    def __call__(self, left_out, y, weight):
        """The scores at some rows.

        Parameters
        ----------
        left_out : LeftOut
        y : ndarray, shape (n,)
            Labels.
        weight : ndarray, shape (n,), or None
            Weights of the rows, where the user gave some.

        Returns
        -------
        dict from str to float
        """
        scores = {}
        for name, scorer in self._scorers.items():
            options = {} if weight is None or not self._takes_weight[name] else {"sample_weight": weight}
            found = scorer(left_out, left_out.X, y, **options)
            scores |= found if isinstance(found, Mapping) else {name: found}
        for name, value in scores.items():
            if not isinstance(value, float | int | np.number):
                raise ValueError(f"the scorer {name!r} must return a number, got {value!r}")
        return {name: float(value) for name, value in scores.items()}

    def of_estimator(self, estimator, X, y, name):
        """The score of this name of a fitted estimator."""
        for own, scorer in self._scorers.items():
            if own == name or name not in self._scorers:
                found = scorer(estimator, X, y)
                if own == name:
                    return float(found)
                if name in found:
                    return float(found[name])
        raise KeyError(name)


def scorer_of(scoring):
    """A callable ``scorer(estimator, X, y)``, or a ValueError."""
    if callable(scoring):
        return scoring
    if isinstance(scoring, str):
        try:
            return get_scorer(scoring)
        except ValueError:
            pass
    raise ValueError(f"scoring must be {WANTED}, got {scoring!r}")
