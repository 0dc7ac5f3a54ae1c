"""Model selection by the exact leave-one-out error."""

from __future__ import annotations

import numpy as np

from svmselect.sklearn.leave_one_out import loo_path
from svmselect.sklearn.problem import Problem, class_weights
from svmselect.sklearn.search import Search
from svmselect.sklearn.votes import most_votes

__all__ = ["LOOSearchCV"]


class LOOSearchCV(Search):
    """Search over C and gamma for the least leave-one-out error, which is exact.

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
    refit : bool
        Whether to train the best model on all rows, for `predict`.
    verbose : bool
        Whether to show progress, on a terminal.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `mean_test_score` (1 - leave-one-out error), `std_test_score`,
        `rank_test_score`, and `n_not_converged`, the solves that ran out of steps.
    best_params_, best_score_, best_index_
        Of the highest `mean_test_score`; of several, the first.
    best_estimator_ : SVC
    loo_error_ : float
        Its leave-one-out error, ``1 - best_score_``.
    classes_ : ndarray
    n_features_in_, feature_names_in_
    search_time_, refit_time_ : float
        Wall-clock seconds.

    Notes
    -----
    gamma "scale", "balanced" class weights and whatever scaled the rows before are those of all rows: in a
    Pipeline, the search is the last step. Weights count in training; in the error, each row counts once.
    """

    _named_splits = False

    def __init__(self, estimator=None, param_grid=None, *, refit=True, verbose=False):
        self.estimator = estimator
        self.param_grid = param_grid
        self.refit = refit
        self.verbose = verbose

    @property
    def loo_error_(self):
        return 1 - self.best_score_

    def _scorer(self, estimator, X, classes, codes, weight, options):
        per_class = class_weights(estimator.class_weight, classes, codes)
        problem = Problem(classes, codes, weight * per_class[codes])

        def score(gram, Cs, progress):
            values, n_not_converged = loo_path(gram, problem, Cs, progress=progress, **options)
            return (most_votes(values >= 0, classes.size) == codes).astype(np.float64), n_not_converged

        return score
