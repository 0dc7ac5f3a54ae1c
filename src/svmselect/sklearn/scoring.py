"""scikit-learn's scorers applied to left-out rows, and a threshold tuned by one of them."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _num_features

from svmselect.sklearn.calibration import left_out_probabilities
from svmselect.sklearn.fitting import warn
from svmselect.sklearn.one_vs_one import checked_weight, decisions, winners

__all__ = [
    "LeftOut",
    "LeftOutRows",
    "Scoring",
    "best_threshold",
    "left_out_rows",
    "left_out_score",
    "routing_enabled",
]

ALLOWED = "a name of sklearn.metrics.get_scorer_names(), a callable, or several of these"


class Scoring:
    """The scores of a search, as for scikit-learn's GridSearchCV; raise a ValueError for anything else.

    `scoring` is a name; ``scorer(estimator, X, y)``, whose result is a number or a dict of numbers; several
    names; or a dict from names to either of the first two. A single score has the name "score". The `names`,
    and whether scorers need more than labels, `needs_values`, are known after `rehearse`.
    """

    def __init__(self, scoring):
        self._scoring = scoring
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
            raise ValueError(f"scoring must be {ALLOWED}, got {scoring!r}")
        self._scorers = {name: _scorer_of(scorer) for name, scorer in named.items()}
        self._takes = {name: {"sample_weight": "sample_weight"} for name in named}
        self.names, self.needs_values = list(named), True

    def __getstate__(self):
        # names are saved, and not the functions that they stand for
        return {key: value for key, value in vars(self).items() if key != "_scorers"}

    def __setstate__(self, state):
        self.__init__(state["_scoring"])
        vars(self).update(state)

    def get_metadata_routing(self):
        """Return the metadata that each scorer asks for; see scikit-learn's guide to metadata routing."""
        mapping = MethodMapping().add(caller="score", callee="score")
        return MetadataRouter(owner=self).add(**self._scorers, method_mapping=mapping)

    def route(self, metadata):
        """Give every scorer the metadata that it requests, by scikit-learn's routing, and nothing else."""
        routed = process_routing(self, "score", **metadata)
        for name in self._scorers:
            self._takes[name] = {
                parameter: next(key for key, given in metadata.items() if given is value)
                for parameter, value in routed[name].score.items()
            }

    def rehearse(self, left_out, y, metadata=None):
        """Apply every scorer once, before anything is trained, to learn what it requests and returns.

        The decision values of `left_out` are right everywhere; for other arguments see `__call__`.
        """
        metadata = metadata or {}
        if not routing_enabled() and "sample_weight" in metadata:
            for name, scorer in self._scorers.items():
                try:
                    scorer(left_out, left_out.X, y, sample_weight=metadata["sample_weight"])
                except TypeError:
                    self._takes[name] = {}
                    warn(f"scorer {name!r} takes no sample_weight: each row counts once")
        self.names = list(self(left_out, y, metadata))
        self.needs_values = left_out.values_needed
        self.several = self.several or self.names != ["score"]

    def __call__(self, left_out, y, metadata=None):
        """Return the scores by name of a LeftOut, whose rows have the labels `y`.

        `metadata` holds arrays that the user gave for these rows, by name, such as "sample_weight".
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

    def score_estimator(self, estimator, X, y, name, metadata):
        """Return the score of this name of a fitted estimator; raise a TypeError if it cannot weigh rows."""
        for score_name, scorer in self._scorers.items():
            if score_name == name or name not in self._scorers:
                options = self._options(score_name, metadata) if routing_enabled() else metadata
                try:
                    score = scorer(estimator, X, y, **options)
                except TypeError as error:
                    if options and not routing_enabled():
                        raise TypeError(f"scorer {score_name!r} takes no sample_weight") from error
                    raise
                if score_name == name:
                    return float(score)
                if name in score:
                    return float(score[name])
        raise KeyError(name)


def _scorer_of(scoring):
    """Return a callable ``scorer(estimator, X, y)``; raise a ValueError for anything else."""
    if callable(scoring):
        return scoring
    if isinstance(scoring, str):
        try:
            return get_scorer(scoring)
        except ValueError:
            pass
    raise ValueError(f"scoring must be {ALLOWED}, got {scoring!r}")


def left_out_rows(estimator, classes, codes, X, values, weight, folds):
    """Return the LeftOut of all rows of a model.

    `codes` are the numbers of the rows' classes. The probabilities of each fold's rows are calibrated by the
    rows of other folds, which count by `weight`. For other arguments see `LeftOut`.
    """

    @cache
    def probabilities():
        by_class, k = decisions(values, classes.size, "ovr"), classes.size
        return left_out_probabilities(by_class, codes, k, weight, estimator.calibration_method, folds)

    return LeftOut(estimator, classes, X, values, probabilities)


class LeftOutRows(BaseEstimator):
    """A fitted estimator as scorers see it, each of whose answers is by the model without that row.

    Scorers may ask about the rows X, all at once. `values_needed` says whether a scorer has called for more
    than labels.
    """

    values_needed = False

    def __init__(self, X, values):
        self.X, self.values = X, values
        self.n_features_in_ = _num_features(X)

    def __sklearn_is_fitted__(self):
        return True

    def values_of(self, X):
        """Return the values of the rows that the scorer was given."""
        if X is not self.X:
            raise ValueError("a scorer of a search may ask about the rows that it is given, all at once")
        return self.values


class LeftOut(ClassifierMixin, LeftOutRows):
    """A fitted classifier as scorers see it; see `LeftOutRows`.

    `values` are decision values of the pairs, and `probabilities` is called for those of the classes, shape
    (n, k).
    """

    def __init__(self, estimator, classes, X, values, probabilities=None):
        super().__init__(X, values)
        self.estimator, self.classes, self.probabilities = estimator, classes, probabilities
        self.classes_ = classes

    def predict(self, X):
        """Return the labels, shape (n,)."""
        values = self.values_of(X)
        return self.classes_[winners(values, self.classes_.size, self.estimator.break_ties)]

    def decision_function(self, X):
        """Return the decision values; see `SVC.decision_function`."""
        self.values_needed = True
        return decisions(self.values_of(X), self.classes_.size, self.estimator.decision_function_shape)

    def predict_proba(self, X):
        """Return probabilities of the classes, shape (n, k), by the calibration of the estimator."""
        self.values_of(X)
        self.values_needed = True
        if getattr(self.estimator, "calibration", None) is None:
            raise ValueError("scoring asks for probabilities, which the estimator has with calibration='loo'")
        return self.probabilities()


def left_out_score(scoring, view, right, values, y, sample_weight):
    """Return the score, or several by name, of the view of ``values()``, rehearsed with right ones."""
    scoring, given = Scoring(scoring), {}
    if sample_weight is not None:
        given["sample_weight"] = checked_weight(sample_weight, len(y))
    scoring.rehearse(view(right), y, given)
    scores = scoring(view(values()), y, given)
    return scores if scoring.several else scores["score"]


def best_threshold(estimator, classes, X, y, values, codes, metadata, scoring):
    """Return the threshold of the decision values at which a score of the left-out rows is largest.

    `values` are left-out decision values of two classes, shape (m,); X, y, `codes` and `metadata` are those
    of the rows, and `scoring` is one score, of labels. If several thresholds are equally good, it is the
    nearest to 0.

    Notes
    -----
    The candidates are the middles between neighbouring values that have a row of the first class below and
    one of the second above, and both ends. From anywhere else the threshold can move so that more rows are
    right and no other row is wrong: a score that never falls by that is not larger there.
    """
    distinct, place = np.unique(values, return_inverse=True)
    has = [np.bincount(place[codes == c], minlength=distinct.size) > 0 for c in (0, 1)]
    between = np.flatnonzero(has[0][:-1] & has[1][1:])
    reach = max(1.0, float(np.abs(distinct).max()))
    candidates = np.concatenate(
        [[distinct[0] - reach], (distinct[between] + distinct[between + 1]) / 2, [distinct[-1] + reach]]
    )
    scores = np.array(
        [
            scoring(LeftOut(estimator, classes, X, values[:, None] - t), y, metadata)["score"]
            for t in candidates
        ]
    )
    if np.isnan(scores).all():
        raise ValueError("threshold is tuned by a score that is a number, got none for any threshold")
    best = np.flatnonzero(scores >= np.nanmax(scores) - 1e-12)
    return float(candidates[best[np.abs(candidates[best]).argmin()]])


def routing_enabled():
    """Return whether ``sklearn.set_config(enable_metadata_routing=True)`` holds."""
    return get_config()["enable_metadata_routing"]
