"""Successive halving: many models on few rows, ever fewer on ever more."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["merged", "nested_order", "rows_of_rounds"]

LEAST_OF_A_CLASS = 2  # rows that the first round has of each class, and of each class in each split


def rows_of_rounds(n_models, factor, m, least):
    """Return the number of rows of each round.

    Parameters
    ----------
    n_models : int
    factor : float
        By this factor the rows grow from one round to the next; its inverse is the share of the models that
        goes on.
    m : int
        Rows in all, which the last round has.
    least : int
        Rows that a round needs.

    Returns
    -------
    list of int
    """
    n_possible = math.floor(math.log(n_models, factor) + 1e-9)
    possible = math.floor(math.log(max(m / least, 1), factor) + 1e-9)
    n = min(n_possible, possible)
    return [round(m / factor ** (n - r)) for r in range(n + 1)]


def nested_order(codes, rng):
    """An order of the rows of which every beginning has the shares of the classes, and a few rows of each.

    Parameters
    ----------
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    rng : numpy.random.RandomState

    Returns
    -------
    ndarray of intp, shape (m,)
    """
    order = rng.permutation(codes.size)
    place = np.empty(codes.size)
    for code in np.unique(codes):
        rows_of_class = order[codes[order] == code]
        place[rows_of_class] = (np.arange(rows_of_class.size) + 0.5) / rows_of_class.size
        place[rows_of_class[:LEAST_OF_A_CLASS]] = -1
    return order[np.argsort(place[order], kind="stable")]


def merged(rounds):
    """The columns of all rounds as one table; what a round has not is NaN.

    Parameters
    ----------
    rounds : list of dict
        Columns by name.

    Returns
    -------
    dict
    """
    if len(rounds) == 1:
        return rounds[0]
    table = {}
    for name in dict.fromkeys(name for columns in rounds for name in columns):
        parts = [columns.get(name, np.full(len(columns["params"]), np.nan)) for columns in rounds]
        if name == "params":
            table[name] = [model for part in parts for model in part]
        elif isinstance(parts[0], np.ma.MaskedArray):
            table[name] = np.ma.concatenate(parts)
        else:
            table[name] = np.concatenate(parts)
    return table
