"""The scores of a search's models as the columns of `cv_results_`."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from svmselect.sklearn.candidates import parameters
from svmselect.sklearn.halving import merged

__all__ = ["columns_of", "ranked", "ranks", "warn_failed"]


def columns_of(scores, candidates, named_splits, weight=None):
    """Columns of some models.

    Parameters
    ----------
    scores : CandidateScores
    candidates : list of dict
    named_splits : bool
        Whether each split has columns of its own.
    weight : ndarray, optional
        What each of a model's scores counts in their mean; the same by default.

    Returns
    -------
    dict
    """
    columns = parameters(candidates) | _times(scores)
    for kind, tables in (("test", scores.test), ("train", scores.train)):
        for name, table in tables.items():
            if named_splits:
                columns |= {f"split{h}_{kind}_{name}": table[:, h] for h in range(scores.n_splits)}
            columns |= _means(table, kind, name, weight)
    return columns | scores.columns | {"n_not_converged": scores.n_not_converged}


def ranked(rounds):
    """Return the columns of all rounds as one table, with the ranks of the models by each score."""
    table = merged(rounds)
    for name in [name for name in table if name.startswith("mean_test_")]:
        table[name.replace("mean", "rank", 1)] = ranks(table[name], table.get("iter"))
    return table


def warn_failed(scores, error_score):
    """A ValueError if no model has scores, a FitFailedWarning if some have not on some split."""
    if not scores.failures:
        return
    failed = {model for model, _ in scores.failures}
    reason = next(iter(scores.failures.values()))
    message = f"{type(reason).__name__}: {reason}"
    if len(scores.failures) == scores.n * scores.n_splits:
        raise ValueError(f"no model could be trained and scored: {message}") from reason
    warnings.warn(
        f"{len(failed)} of {scores.n} models could not be trained and scored on some split, where their "
        f"score is {error_score}; the first because of {message}",
        FitFailedWarning,
        stacklevel=3,
    )


def _times(scores):
    """Columns of mean seconds over the splits, and their deviations."""
    columns = {}
    for name in ("fit_time", "score_time"):
        seconds = getattr(scores, name)
        columns |= {f"mean_{name}": seconds.mean(axis=1), f"std_{name}": seconds.std(axis=1)}
    return columns


def _means(scores, kind, name, weight=None):
    """Columns of mean scores over the splits, and their deviations."""
    mean = np.average(scores, axis=1, weights=weight)
    deviation = np.sqrt(np.average((scores - mean[:, None]) ** 2, axis=1, weights=weight))
    return {f"mean_{kind}_{name}": mean, f"std_{kind}_{name}": deviation}


def ranks(mean, rounds=None):
    """Ranks of mean scores from 1, of later rounds before those of earlier ones; no number is the worst."""
    rounds = np.zeros(mean.size) if rounds is None else rounds
    # means that differ by round-off alone are one rank
    worst_last = np.where(np.isnan(mean), np.inf, -np.round(mean, 12))
    ranks = np.empty(mean.size, dtype=np.int32)
    for number in np.unique(rounds):
        in_round = rounds == number
        ranks[in_round] = rankdata(worst_last[in_round], method="min") + np.count_nonzero(rounds > number)
    return ranks
