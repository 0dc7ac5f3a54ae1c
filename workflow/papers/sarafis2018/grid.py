"""The grids of weights: the models of each experiment, in stripes."""

from itertools import product

import numpy as np

# Experiments 1, 2 and 6
CLASS_WEIGHTS, INSTANCE_WEIGHTS, SIZE = "class_weights", "instance_weights", "size"
# the paper's sigma (eq. 39)
LEAST_WEIGHT = 0.01


def stripes(experiment, axes, every=1):
    """Return the models of an experiment, cut into stripes along its last axis: a list of lists of dicts.

    The axes are ``log2_C``, and ``A`` and ``B`` for `INSTANCE_WEIGHTS`; of each, the first value
    and every `every`-th after it is taken. A model has ``C_positive`` and ``C_negative``, or ``A``, ``B``
    and ``C``, the last of them the same in a stripe; and ``at``, its places on the axes.
    """
    names = ("A", "B", "C") if experiment == INSTANCE_WEIGHTS else ("C_positive", "C_negative")
    *inner, outer = [list(enumerate(values(axes, name)))[::every] for name in names]
    return [
        [
            {"at": [i for i, _ in point], **{name: v for name, (_, v) in zip(names, point, strict=True)}}
            for point in product(*inner, [last])
        ]
        for last in outer
    ]


def values(axes, name):
    """Return the values that a parameter of the models takes."""
    return axes[name] if name in axes else [2.0**value for value in axes["log2_C"]]


def on(model, every):
    """Return whether a model is on the sub-grid of the `every`-th values of each axis; with 0 it has no
    models."""
    return every > 0 and all(i % every == 0 for i in model["at"])


def weights(model, y, score):
    """Return the bounds ``C_i`` of a model (of `stripes`): per class, or by eq. 39 of a score in [0, 1] for
    each point."""
    if score is None:
        return np.where(y > 0, model["C_positive"], model["C_negative"])
    share = 1 / (1 + np.exp(-model["A"] * (score - model["B"])))
    return np.maximum(model["C"] * share, LEAST_WEIGHT)
