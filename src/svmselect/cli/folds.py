"""The options --folds, --outer and --groups: which rows are held out together."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from svmselect.cli.labels import name_of

__all__ = ["folds_of"]


def folds_of(k, y, groups, arguments, option):
    """Folds in which the classes have about their shares, or a ValueError.

    Parameters
    ----------
    k : int
        Number of folds.
    y : ndarray, shape (m,)
        Labels.
    groups : ndarray of str, shape (m,), or None
        Rows of one group are held out together.
    arguments : Namespace
        The arguments of the command. Its --seed and --scoring count, since most scores need rows of every
        class.
    option : str
        What asks for them, for errors.

    Returns
    -------
    list of tuple of ndarray
        The rows that are trained on and those that are held out, of each fold.
    """
    labels, counts = np.unique(y, return_counts=True)
    rarest = name_of(labels[counts.argmin()])
    if not 2 <= k <= counts.min():
        instead = "; --by loo needs no folds" if option == "--folds" and arguments.command == "select" else ""
        if counts.min() == 1:
            raise ValueError(f"{option} needs two rows of each class, and class {rarest} has one{instead}")
        raise ValueError(
            f"{option} must be from 2 to the {counts.min()} rows of class {rarest}, got {k}{instead}"
        )
    if groups is None:
        return list(StratifiedKFold(k, shuffle=True, random_state=arguments.seed).split(y, y))
    n_groups = np.unique(groups).size
    if k > n_groups:
        raise ValueError(f"{option} must be from 2 to the {n_groups} groups of --groups, got {k}")
    folds = list(StratifiedGroupKFold(k, shuffle=True, random_state=arguments.seed).split(y, y, groups))
    for h, (train, held_out) in enumerate(folds, 1):
        absent, unseen = np.setdiff1d(labels, y[train]), np.setdiff1d(labels, y[held_out])
        lack = "no row" if not held_out.size else None
        if absent.size:
            lack = f"no row of class {name_of(absent[0])} to train on"
        elif unseen.size and arguments.scoring not in (None, "accuracy"):
            lack = f"no row of class {name_of(unseen[0])} to score {arguments.scoring} by"
        if lack:
            raise ValueError(
                f"{option} {k} with --groups leaves {lack} in fold {h}: take fewer folds, or smaller groups"
            )
    return folds
