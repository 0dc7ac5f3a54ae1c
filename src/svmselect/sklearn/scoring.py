"""Scorers as scikit-learn has them, applied to left-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from svmselect.sklearn.routing import routing_enabled

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
        The names of the scores.
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
        self._scorers = {name: _scorer_of(scorer) for name, scorer in named.items()}
        self._takes = {name: {"sample_weight": "sample_weight"} for name in named}
        self.names, self.needs_values = list(named), True

    def get_metadata_routing(self):
        """Return the metadata that each scorer asks for; see scikit-learn's guide to metadata routing."""
        mapping = MethodMapping().add(caller="score", callee="score")
        return MetadataRouter(owner=self).add(**self._scorers, method_mapping=mapping)

    def route(self, metadata):
        """Hand every scorer what it asks for, by scikit-learn's routing, and nothing else."""
        routed = process_routing(self, "score", **metadata)
        for name in self._scorers:
            self._takes[name] = {
                parameter: next(key for key, given in metadata.items() if given is value)
                for parameter, value in routed[name].score.items()
            }

    def rehearse(self, left_out, y, metadata=None):
        """Apply every scorer once, before anything is trained: what it asks for, and what it returns.

        Parameters
        ----------
        left_out : LeftOut
            With decision values that are right everywhere.
        y, metadata
            As for a call.
        """
        metadata = metadata or {}
        if not routing_enabled() and "sample_weight" in metadata:
            for name, scorer in self._scorers.items():
                try:
                    scorer(left_out, left_out.X, y, sample_weight=metadata["sample_weight"])
                except TypeError:
                    self._takes[name] = {}
                    warnings.warn(
                        f"scorer {name!r} takes no sample_weight: each row counts once", stacklevel=4
                    )
        self.names = list(self(left_out, y, metadata))
        self.needs_values = left_out.asked_for_values
        self.several = self.several or self.names != ["score"]

    def __call__(self, left_out, y, metadata=None):
        """The scores at some rows.

        Parameters
        ----------
        left_out : LeftOut
        y : ndarray, shape (n,)
            Labels.
        metadata : dict from str to array, shape (n,), optional
            What the user gave for these rows, such as "sample_weight".

        Returns
        -------
        dict from str to float
        """
        scores = {}
        for name, scorer in self._scorers.items():
            score = scorer(left_out, left_out.X, y, **self._options(name, metadata or {}))
            scores |= score if isinstance(score, Mapping) else {name: score}
        for name, value in scores.items():
            if not isinstance(value, float | int | np.number):
                raise ValueError(f"the scorer {name!r} must return a number, got {value!r}")
        return {name: float(value) for name, value in scores.items()}

    def _options(self, name, metadata):
        return {parameter: metadata[key] for parameter, key in self._takes[name].items() if key in metadata}

    def score_estimator(self, estimator, X, y, name, metadata=None):
        """The score of this name of a fitted estimator."""
        for score_name, scorer in self._scorers.items():
            if score_name == name or name not in self._scorers:
                score = scorer(estimator, X, y, **self._options(score_name, metadata or {}))
                if score_name == name:
                    return float(score)
                if name in score:
                    return float(score[name])
        raise KeyError(name)


def _scorer_of(scoring):
    """A callable ``scorer(estimator, X, y)``, or a ValueError."""
    if callable(scoring):
        return scoring
    if isinstance(scoring, str):
        try:
            return get_scorer(scoring)
        except ValueError:
            pass
    raise ValueError(f"scoring must be {WANTED}, got {scoring!r}")
