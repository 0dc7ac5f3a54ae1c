"""The steps of a Pipeline before its model: what a search fits anew in each fold, or once without labels."""

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import process_routing

from svmselect.sklearn.classifier import canonical
from svmselect.sklearn.scoring import routing_enabled

__all__ = ["Steps", "numeric"]


class Steps:
    """The steps before the model of a Pipeline; of another estimator there are none.

    Attributes
    ----------
    estimator : estimator
        The whole pipeline, or the model itself.
    model : estimator
        The last step.
    prefix : str
        What the names of the model's parameters begin with, such as "svc__"; empty without a pipeline.
    """

    def __init__(self, estimator):
        self.estimator, self.model, self.prefix, self._head = estimator, estimator, "", None
        if isinstance(estimator, Pipeline):
            name, self.model = estimator.steps[-1]
            self.prefix = f"{name}__"
            if len(estimator.steps) > 1:
                self._head = estimator[:-1]

    def __bool__(self):
        return self._head is not None

    def split(self, candidate):
        """Return the parameters of a candidate that are the steps', and those that are the model's."""
        step_parameters, model_parameters = {}, {}
        for name, value in candidate.items():
            if name.startswith(self.prefix):
                model_parameters[name.removeprefix(self.prefix)] = value
            else:
                step_parameters[name] = value
        return step_parameters, model_parameters

    def groups(self, candidates):
        """Return ``(step parameters, numbers, parameters of the models)`` of candidates with equal steps."""
        groups = {}
        for number, candidate in enumerate(candidates):
            step_parameters, model_parameters = self.split(candidate)
            key = tuple((name, _key(value)) for name, value in sorted(step_parameters.items()))
            _, numbers, models = groups.setdefault(key, (step_parameters, [], []))
            numbers.append(number)
            models.append(model_parameters)
        return list(groups.values())

    def fitted(self, parameters, X, y, metadata=None):
        """Return fitted steps with these parameters, and the transformed rows X.

        Of `metadata`, arrays by name, they get what they request by scikit-learn's routing.
        """
        if not self:
            return None, X
        head = clone(self._head).set_params(**parameters)
        return head, head.fit_transform(X, y, **self._requested(metadata or {}))

    def fitted_without_y(self, parameters, X, y, metadata=None):
        """Return fitted steps that have not seen `y`, and the rows; raise a ValueError if they need it.

        Leave-one-out takes the steps of all rows for those without a row, which only holds if they do not
        know the label of the row.
        """
        try:
            return self.fitted(parameters, X, None, metadata)
        except Exception:
            head = clone(self._head).set_params(**parameters)
            for n, (name, _) in enumerate(head.steps, 1):
                if _is_fitted(head[:n], X, y) and not _is_fitted(head[:n], X, None):
                    raise ValueError(
                        f"leave-one-out fits the steps of a pipeline on all rows, without y, and step "
                        f"{name!r} uses y: SeededCV fits it anew in each fold"
                    ) from None
            raise

    def _requested(self, metadata):
        if not routing_enabled():
            return {}
        names = self._head.get_metadata_routing().consumes("fit_transform", list(metadata))
        return {name: metadata[name] for name in names}

    def weight_of(self, metadata):
        """Return the sample weights among the metadata of `fit` that the model gets, or None."""
        if self.prefix and routing_enabled():
            routed = process_routing(self.estimator, "fit", **metadata)
            return routed[self.prefix[:-2]].fit.get("sample_weight")
        return metadata.get("sample_weight")

    def trained(self, parameters, X, y, metadata, labels_for_steps=True):
        """Return the estimator with these parameters, trained on all rows.

        Its steps see `y` unless `labels_for_steps` is False; `metadata` are those of `fit`, by name.
        """
        estimator = clone(self.estimator).set_params(**parameters)
        if not self.prefix or (routing_enabled() and labels_for_steps):
            return estimator.fit(X, y, **metadata)
        weight = self.weight_of(metadata)
        if labels_for_steps or not self:
            return estimator.fit(X, y, **{f"{self.prefix}sample_weight": weight})
        head, rows = self.fitted_without_y(self.split(parameters)[0], X, y, metadata)
        estimator.steps[:-1] = head.steps
        estimator.steps[-1][1].fit(rows, y, sample_weight=weight)
        return estimator


def numeric(X):
    """Return what steps have made of rows as a float64 ndarray or canonical CSR matrix, a copy."""
    return canonical(check_array(canonical(X), accept_sparse="csr", dtype=np.float64, order="C", copy=True))


def _key(value):
    """Return what tells a value of a grid from others."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def _is_fitted(steps, X, y):
    """Return whether steps can be fitted."""
    try:
        clone(steps).fit(X, y)
    except Exception:
        return False
    return True
