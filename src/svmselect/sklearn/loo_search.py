"""Model selection by the exact leave-one-out error."""

from __future__ import annotations

import numpy as np

from svmselect.loo.unlearn import GAP
from svmselect.sklearn.calibration import blocks_of
from svmselect.sklearn.leave_one_out import loo_path
from svmselect.sklearn.problem import Problem
from svmselect.sklearn.search import Search
from svmselect.sklearn.votes import most_votes

__all__ = ["LOOSearchCV"]


class LOOSearchCV(Search):
    """Search over C and gamma by exact leave-one-out: for the least error, or for the best score of any kind.

    The models of one kernel share its Gram matrix, and each C starts at the solution of the C before; without
    a row, the solution is found from the one with it (see `svmselect.leave_one_out`).

    Parameters
    ----------
    estimator : SVC, optional
        What the models have in common; `SVC()` by default.
    param_grid : dict or list of dicts, optional
        Values of "C", "kernel", "gamma", "degree" and "coef0", as for scikit-learn's GridSearchCV. By default
        ``C = 2^-3, 2^-1, ..., 2^11``, and for the kernels "rbf", "laplacian" and "chi2" 2^-10, 2^-8, ..., 2^4
        times the gamma of "scale".
    scoring : str, callable, list, tuple, set or dict, optional
        As for scikit-learn's GridSearchCV: a name such as "balanced_accuracy" or "roc_auc", a callable
        ``scorer(estimator, X, y)``, or several of these. A scorer is applied once to the left-out labels or
        decision values of all rows together: the estimator that it gets answers for each row by the
        classifier without it. By default 1 - the leave-one-out error, in which a row counts by its sample
        weight times the weight of its class.
    refit : bool, str or callable
        Whether to train the best model on all rows, for `predict`. With several scores the name of the one
        that chooses; or a callable that gets `cv_results_` and returns the number of the best model.
    verbose : bool
        Whether to show progress, on a terminal.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `mean_test_score`, `std_test_score` (over the rows; 0 where a scorer gives
        one number for all rows), `rank_test_score`, with several scores the same with their names in the
        place of "score"; `loo_error`, the share of rows that the classifier without them misclassifies, and
        `n_not_converged`, the solves that ran out of steps.
    best_params_, best_score_, best_index_
        Of the highest `mean_test_score`, or that of the score that `refit` names; of several models, the
        first. None of them with several scores and ``refit=False``.
    best_estimator_ : SVC
    loo_error_ : float
        The leave-one-out error of the best model, in which each row counts once.
    scoring_ : str, callable, list, tuple, set or dict
        What the models are judged by: `scoring`, or by default "accuracy", and "weighted_accuracy" where the
        weights of the classes differ.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray
    n_features_in_, feature_names_in_
    search_time_, refit_time_ : float
        Wall-clock seconds.

    Notes
    -----
    gamma "scale", "balanced" class weights and whatever scaled the rows before are those of all rows: in a
    Pipeline, the search is the last step. With "balanced" class weights the default score is the balanced
    accuracy. Sample weights are handed to a scorer that takes them, those of classes are not. Scorers of
    probabilities need an estimator with ``calibration="loo"``; each row then has the probability that a
    calibration by other rows gives it. Left-out labels have the threshold 0, whatever `threshold` the
    estimator tunes.
    """

    _named_splits = False

    def __init__(self, estimator=None, param_grid=None, *, scoring=None, refit=True, verbose=False):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.refit = refit
        self.verbose = verbose

    @property
    def loo_error_(self):
        return float(self.cv_results_["loo_error"][self.best_index_])

    def _tol_of(self, template, scoring):
        exact = scoring is not None and scoring.needs_values
        return min(template.tol, GAP) if exact else template.tol

    def _judge(self, data, estimator, scoring, options):
        problem = Problem(data.classes, data.codes, data.error_weight)
        y = data.classes[data.codes]
        exact = scoring is not None and scoring.needs_values
        blocks = blocks_of(data.codes)

        def judge(gram, Cs, progress):
            values, n_failed = loo_path(
                gram, problem, Cs, progress=progress, decision_values=exact, **options
            )
            right = most_votes(values >= 0, data.classes.size) == data.codes
            columns = {"loo_error": (~right).mean(axis=1), "n_not_converged": n_failed}
            if scoring is None:
                return {"score": right.astype(np.float64)}, columns
            scores = [scoring(data.left_out(of_C, blocks)(), y, data.sample_weight) for of_C in values]
            return {name: np.array([[s[name]] for s in scores]) for name in scoring.names}, columns

        return judge
