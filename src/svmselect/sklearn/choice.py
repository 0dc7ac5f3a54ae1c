"""Which model of a search is the best."""

from __future__ import annotations

import numbers

import numpy as np

__all__ = ["Choice"]


class Choice:
    """The choice of a model from what was found of all, or a ValueError for a bad `refit`.

    Parameters
    ----------
    refit : bool, str or callable
        See the searches.
    scoring : Scoring or None

    Attributes
    ----------
    by : str, callable or None
        The score that chooses, what chooses from `cv_results_`, or None: no model is the best.
    """

    def __init__(self, refit, scoring):
        several = scoring is not None and scoring.several
        on_or_off = isinstance(refit, bool | np.bool_)
        if not (callable(refit) or several or on_or_off):
            raise ValueError(f"refit must be a bool or a callable with one score, got {refit!r}")
        if callable(refit):
            self.by = refit
        elif not several:
            self.by = "score"
        elif on_or_off and not refit:
            self.by = None
        elif isinstance(refit, str) and refit in scoring.names:
            self.by = refit
        else:
            raise ValueError(
                f"refit must name the score that chooses, one of {', '.join(scoring.names)}, or be a "
                f"callable or False, got {refit!r}"
            )

    def applied_to(self, results):
        """Return the best model and its score as attributes of the search.

        Parameters
        ----------
        results : dict
            The columns of `cv_results_`.

        Returns
        -------
        dict
        """
        if self.by is None:
            return {}
        models = results["params"]
        if not callable(self.by):
            index = int(results[f"rank_test_{self.by}"].argmin())
            score = float(results[f"mean_test_{self.by}"][index])
            return {"best_index_": index, "best_params_": models[index], "best_score_": score}
        index = self.by(results)
        if not isinstance(index, numbers.Integral) or not 0 <= index < len(models):
            raise ValueError(
                f"refit must return the number of a model, from 0 to {len(models) - 1}, got {index!r}"
            )
        return {"best_index_": int(index), "best_params_": models[int(index)]}
