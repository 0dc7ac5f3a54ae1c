"""A threshold tuned on left-out decision values, without another fit."""

from __future__ import annotations

import numpy as np

from svmselect.sklearn.left_out import LeftOut

__all__ = ["best_threshold"]


def best_threshold(estimator, classes, X, y, values, codes, metadata, scoring):
    """The threshold of the decision values of two classes at which a score of the left-out rows is largest.

    Parameters
    ----------
    estimator : SVC
    classes : ndarray, shape (2,)
    X : array_like, DataFrame or CSR matrix, shape (m, d)
    y : array_like or Series, shape (m,)
        Rows and labels as scorers get them.
    values : ndarray, shape (m,)
        Left-out decision values.
    codes : ndarray of intp, shape (m,)
    metadata : dict from str to array
        What the score needs of the rows, such as "sample_weight".
    scoring : Scoring
        One score, of labels.

    Returns
    -------
    float
        If several are equally good, the nearest to 0.

    Notes
    -----
    Tried are the middles between neighbouring values that have a row of the first class below and one of the
    second above, and both ends. Anywhere else the threshold can move so that more rows are right and no other
    row is wrong: a score that never falls by that is not larger there.
    """
    distinct, place = np.unique(values, return_inverse=True)
    has = [np.bincount(place[codes == c], minlength=distinct.size) > 0 for c in (0, 1)]
    between = np.flatnonzero(has[0][:-1] & has[1][1:])
    reach = max(1.0, float(np.abs(distinct).max()))
    tried = np.concatenate(
        [[distinct[0] - reach], (distinct[between] + distinct[between + 1]) / 2, [distinct[-1] + reach]]
    )
    scores = np.array(
        [scoring(LeftOut(estimator, classes, X, values[:, None] - t), y, metadata)["score"] for t in tried]
    )
    if np.isnan(scores).all():
        raise ValueError("threshold is tuned by a score that is a number, got none for any threshold")
    best = np.flatnonzero(scores >= np.nanmax(scores) - 1e-12)
    return float(tried[best[np.abs(tried[best]).argmin()]])
