"""Model selection by the exact leave-one-out error."""

from __future__ import annotations

import time

import numpy as np

from svmselect.sklearn.calibration import blocks_of
from svmselect.sklearn.evaluate import Evaluator
from svmselect.sklearn.one_vs_one import Problem, class_weights, winners
from svmselect.sklearn.scoring import left_out_rows
from svmselect.sklearn.search import Search

__all__ = ["LOOSearchCV"]


class LOOSearchCV(Search):
    """Search by exact leave-one-out: for the least error, or for the best score of any kind.

    The models of one kernel share its Gram matrix, and each C starts at the solution of the C before; without
    a row, the solution is found from the one with it (see `svmselect.leave_one_out`). Nothing is drawn at
    random. In the project's comparison `SeededCV` chooses models that are as good or better, at less cost.

    Parameters
    ----------
    estimator : SVC or NuSVC, optional
        What the models have in common; `SVC()` by default. A NuSVC is trained anew without each row.
    param_grid : dict or list of dicts, optional
        Values of "C" (of a NuSVC "nu"), "kernel", "gamma", "degree", "coef0" and "class_weight", as for
        scikit-learn's GridSearchCV. By default ``C = 2^-3, 2^-1, ..., 2^11``, and for the kernels "rbf",
        "laplacian" and "chi2" 2^-10, 2^-8, ..., 2^4 times the gamma of "scale".
    scoring : str, callable, list, tuple, set or dict, optional
        As for scikit-learn's GridSearchCV: a name such as "balanced_accuracy" or "roc_auc", a callable
        ``scorer(estimator, X, y)``, or several of these. A scorer is applied once to the left-out labels or
        decision values of all rows together: the estimator that it gets answers for each row by the
        classifier without it. By default 1 - the leave-one-out error, in which a row counts by its sample
        weight times the weight of its class, which is that of `estimator` whatever the grid has.
    refit : bool, str or callable
        Whether to train the best model on all rows, for `predict`. With several scores the name of the one
        that chooses; or a callable that gets `cv_results_` and returns the number of the best model.
    n_candidates : int, optional
        Models that are drawn at random from `param_grid`, whose values may then be distributions of
        scipy.stats; by default all are judged.
    factor : float, optional
        Successive halving, as scikit-learn's HalvingGridSearchCV: all models are judged on a few rows, the
        best of them on `factor` times as many, and so on to all rows; each time one of `factor` models stays.
        Fewer than `factor` are left for all rows, or more where the rows are too few for so many rounds.
    stop_early : bool
        Whether to give a model up as soon as its error can no longer become the least. The same model is
        chosen; the score of one that was given up is NaN. For the default score.
    n_jobs : int, optional
        Kernels that are worked on at once, by joblib, as for GridSearchCV; each job has a Gram matrix of its
        own, and they share the budget `cache_size`. By default one process, which works on as many kernels at
        once as BLAS may use threads and the budget holds Gram matrices of.
    error_score : "raise" or float
        The score of a model that cannot be trained or scored, with a FitFailedWarning; or the error is
        raised. If no model can be, it is an error in any case.
    return_train_score : bool
        Whether to score the model of all rows at these rows, too.
    verbose : bool
        Whether to show progress on standard error: a bar, on a terminal; of several jobs joblib's messages.
    random_state : int, RandomState or None
        Seed of what `n_candidates` and `factor` draw.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `mean_test_score`, `std_test_score` (over the rows; 0 where a scorer gives
        one number for all rows), `rank_test_score`, with several scores the same with their names in the
        place of "score"; `mean_fit_time` and `mean_score_time` in wall-clock seconds, where the first model
        of a kernel pays for the kernel values that all share; `loo_error`, the share of rows that the
        classifier without them misclassifies, and `n_not_converged`, the solves that ran out of steps. With
        `stop_early` also `stopped`, whether a model was given up. With `factor` a model has a row for each of
        its rounds, whose number is `iter` and whose rows are `n_resources`; the last round ranks first.
    best_params_, best_score_, best_index_
        Of the highest `mean_test_score`, or that of the score that `refit` names; of several models, the
        first. None of them with several scores and ``refit=False``.
    best_estimator_ : SVC or NuSVC
    loo_error_ : float
        The leave-one-out error of the best model, in which each row counts once.
    scoring_ : str, callable, list, tuple, set or dict
        What the models are judged by: `scoring`, or by default "accuracy", and "weighted_accuracy" where the
        weights of the classes differ.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray
    n_rows_ : int
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import SVC, LOOSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = LOOSearchCV(SVC(), {"C": [1, 10], "gamma": [0.1, 1]}).fit(X, y)
    >>> round(search.loo_error_, 4)
    0.0267
    >>> sorted(search.best_params_)
    ['C', 'gamma']
    """

    _named_splits = False

    def __init__(
        self,
        estimator=None,
        param_grid=None,
        *,
        scoring=None,
        refit=True,
        n_candidates=None,
        factor=None,
        stop_early=False,
        n_jobs=None,
        error_score=np.nan,
        return_train_score=False,
        verbose=False,
        random_state=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.refit = refit
        self.n_candidates = n_candidates
        self.factor = factor
        self.stop_early = stop_early
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.verbose = verbose
        self.random_state = random_state

    @property
    def loo_error_(self):
        return float(self.cv_results_["loo_error"][self.best_index_])

    def _evaluator(self, data, groups, **options):
        if groups is not None:
            raise ValueError(
                "leave-one-out knows no groups: SeededCV(cv=LeaveOneGroupOut()) leaves each of them out"
            )
        return _LeaveOneOutEvaluator(data, **options)


class _LeaveOneOutEvaluator(Evaluator):
    """Scores of left-out rows: one for each row by default, a single one for all of them by a scorer."""

    n_splits = 1

    @property
    def n_scores(self):
        return self.data.codes.size if self.scoring is None else 1

    def evaluate(self, scores, gram, class_weight, values, progress):
        """Fill in the scores by leave-one-out of models with increasing C or nu."""
        data = self.data
        per_class = class_weights(class_weight, data.classes, data.codes)
        problem = Problem(data.classes, data.codes, data.weight * per_class[data.codes])
        scores.columns["loo_error"] = np.full(scores.n, np.nan)
        options = {"hopeless": self.is_hopeless_by} if self.stop_early else {}
        models = self.template.left_out_models(gram, problem, values, self.exact, progress, **options)
        for c in range(scores.n):
            begin = time.perf_counter()
            model = next(models)
            scores.fit_time[c] = time.perf_counter() - begin
            if isinstance(model, Exception):
                self.fail(scores, c, model)
                continue
            if model is None:
                self.stop(scores, c)
                continue
            scores.n_not_converged[c] = model.n_not_converged
            begin = time.perf_counter()
            right = winners(model.values, data.classes.size, self.template.break_ties) == data.codes
            scores.columns["loo_error"][c] = np.mean(~right)
            scores.put(scores.test, c, self.scores_of(scores, c, model.values, right))
            if self.stop_early:
                self.least = min(self.least, self.error_of(~right))
            scores.score_time[c] = time.perf_counter() - begin
            if self.return_train_score:
                right = winners(model.trained, data.classes.size, self.template.break_ties) == data.codes
                scores.put(scores.train, c, self.scores_of(scores, c, model.trained, right))

    def error_of(self, wrong):
        """The share of the weight of the rows."""
        return np.average(wrong, weights=self.data.error_weight)

    def is_hopeless_by(self, values):
        """Return whether the model is hopeless even if every undecided row counts as correct."""
        wrong = winners(values, self.data.classes.size) != self.data.codes
        return self.is_hopeless(self.error_of(wrong))

    def scores_of(self, scores, c, values, right):
        """Scores by name of a model with these decision values."""
        if self.scoring is None:
            return {"score": right}
        data = self.data
        blocks = blocks_of(data.codes)
        left_out = left_out_rows(
            self.template, data.classes, data.codes, data.given_X, values, data.weight, blocks
        )
        return self.scored(scores, c, 0, left_out, data.given_y, data.metadata)
