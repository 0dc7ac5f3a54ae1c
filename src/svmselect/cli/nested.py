"""The option --outer: the error of a whole selection, by folds that take no part in it."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedKFold

from svmselect.cli.encoding import learned

__all__ = ["outer_error"]


def outer_error(arguments, data, choose):
    """The errors of the models that are chosen without each fold, on that fold.

    What is learned from the rows is learned anew without the fold: categories, values that are filled in,
    means and deviations, the grid's scale of gamma, and the choice itself.

    Parameters
    ----------
    arguments : Namespace
    data : Table
    choose : callable
        ``choose(X, y)`` gives the chosen model, trained on all of these rows.

    Returns
    -------
    ndarray of int, shape (K,)
        Errors of each fold.
    """
    y = data.labels
    known = data.encoding
    categorical = set()
    if known.layout is not None:
        pairs = zip(known.layout.places, known.columns, strict=True)
        categorical = {j for j, column in pairs if column.categories is not None}
    folds = StratifiedKFold(arguments.outer, shuffle=True, random_state=arguments.seed)
    errors = []
    for train, held_out in folds.split(np.zeros(y.size), y):
        raw = data.raw.take(train) if known.layout is not None else data.raw[train]
        encoding = learned(raw, categorical, arguments.impute, arguments.standardise, [])
        others = data.raw.take(held_out) if known.layout is not None else data.raw[held_out]
        model = choose(encoding.applied(raw, []), y[train])
        errors.append(np.count_nonzero(model.predict(encoding.applied(others, [])) != y[held_out]))
    return np.array(errors)
