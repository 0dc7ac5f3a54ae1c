"""Model selection by the exact leave-one-out error."""

from dataclasses import KW_ONLY, dataclass

from svmselect.sklearn.loo_evaluators import CRITERIA
from svmselect.sklearn.search import Search

__all__ = ["LOOSearchCV"]


@dataclass(eq=False, repr=False)
class LOOSearchCV(Search):
    """Search by exact leave-one-out: for the least error, or for the best score of any kind.

    The models of one kernel share its Gram matrix, and each C starts at the solution of the C before. The
    solution without a row is computed from the one with it (see `svmselect.leave_one_out`). Nothing is drawn
    at random. In the project's comparison `SeededCV` chooses models that are as good or better, at less cost,
    and it has the exact leave-one-out error of the chosen model, too: `loo_error_`.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR or OneClassSVM, or a Pipeline that ends in one, optional
        The parameters that all models share; `SVC()` by default. A NuSVC or NuSVR is trained anew without
        each row. The steps of a pipeline are fitted once on all rows, without `y`; one that needs `y` is a
        ValueError.
    param_grid : dict or list of dicts, optional
        Values of "C" (of a NuSVC "nu"), "kernel", "gamma", "degree", "coef0" and "class_weight", as for
        scikit-learn's GridSearchCV; of a pipeline "svc__C" and the like, and parameters of its steps. By
        default ``C = 2^-3, 2^-1, ..., 2^11``, and for the kernels "rbf", "laplacian" and "chi2" 2^-10, 2^-8,
        ..., 2^4 times the gamma of "scale". Regressions have "epsilon" (a NuSVR "C") in the place of
        "class_weight". A OneClassSVM has "nu" and the kernel; by default nu is that of `estimator`.
    scoring : str, callable, list, tuple, set or dict, optional
        As for scikit-learn's GridSearchCV: a name such as "balanced_accuracy" or "roc_auc", a callable
        ``scorer(estimator, X, y)``, or several of these. A scorer is applied once to the left-out labels or
        decision values of all rows together: the estimator that it gets answers for each row by the
        classifier without it. By default 1 - the leave-one-out error, in which a row counts by its sample
        weight times the weight of its class in `estimator`, whatever the grid has; of regressions "r2"; of
        one class consistency, which needs no labels: see Notes.
    criterion : {"exact", "span", "opper_winther", "xi_alpha", "radius_margin"}
        What a model is chosen by: the exact leave-one-out error, or an estimate of it from one fit. These
        are for the default score; "radius_margin" is for a C-SVC of one C and a hard margin, and "span" alone
        is for an SVR. The score of a model is 1 - its estimate, and of an SVR minus its estimate of the mean
        absolute residual.
    refit : bool, str or callable
        Whether to train the best model on all rows, for `predict`. "middle" trains the model in the middle of
        all models within half a standard error of the best, by the logarithms of C, gamma and the like;
        "one_standard_error" the best one of the least C (the largest nu) within a standard error. With
        several scores the name of the one that chooses; or a callable that gets `cv_results_` and returns the
        number of the best model.
    n_candidates : int, optional
        Models that are drawn at random from `param_grid`, whose values may then be distributions of
        scipy.stats; by default all are evaluated.
    factor : float, optional
        Successive halving, as scikit-learn's HalvingGridSearchCV: all models are evaluated on a few rows, the
        best of them on `factor` times as many, and so on to all rows. Each time one of `factor` models stays.
        Fewer than `factor` are left for all rows, or more where the rows are too few for so many rounds.
    stop_early : bool
        For the default score: whether to give a model up as soon as its error can no longer become the least.
        The same model is chosen; the score of a model that was given up is NaN.
    extend : bool
        Whether to add the next value to a list of the grid, up to eight times, while the best model is at its
        end. Without it that is an EndOfListWarning.
    time_budget : float, optional
        Seconds after which the search ends with the best model so far. Ctrl-C then does the same;
        ``float("inf")`` is for Ctrl-C alone. The scores of models without time are NaN.
    n_jobs : int, optional
        Kernels that are evaluated at once, by joblib, as for GridSearchCV; each job has a Gram matrix of its
        own, and they share the budget `cache_size`. By default one process, which evaluates as many kernels
        at once as BLAS may use threads, and as the budget holds Gram matrices.
    error_score : "raise" or float
        The score of a model that cannot be trained or scored, with a FitFailedWarning; or its error is
        raised. If no model has a score, that is an error in any case.
    return_train_score : bool
        Whether to score the model of all rows at these rows, too.
    verbose : bool
        Whether to show progress on standard error: a bar on a terminal or in a notebook, with the models that
        are done, the best so far and a clock, or joblib's messages of several jobs.
    random_state : int, RandomState or None
        Seed of the draws for `n_candidates` and `factor`.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `mean_test_score`, `std_test_score` (over the rows; 0 where a scorer gives
        one number for all rows), `rank_test_score`, with several scores the same with their names in the
        place of "score"; `mean_fit_time` and `mean_score_time` in wall-clock seconds, where the first model
        of a kernel pays for the kernel values that all share; `loo_error`, the share of rows that the
        classifier without them misclassifies, and `n_not_converged`, the solves that ran out of steps. With
        `stop_early` or `time_budget` also `stopped`, whether a model was given up. With `factor` a model has
        a row for each of its rounds, whose number is `iter` and whose rows are `n_resources`; the last round
        ranks first.
    best_params_, best_score_, best_index_
        Of the model with the highest `mean_test_score`, or the highest mean of the score that `refit` names;
        of several models, the first. None of them with several scores and ``refit=False``.
    best_estimator_ : SVC, NuSVC, SVR, NuSVR, OneClassSVM or Pipeline
        Results of the model, such as `loo_predictions_`, are results of the search, too.
    loo_error_ : float
        The leave-one-out error of the best model, in which each row counts once; of classifiers.
    scoring_ : str, callable, list, tuple, set or dict
        The score of the models: `scoring`, or by default "accuracy", and "weighted_accuracy" where the
        weights of the classes differ; or another criterion.
    multimetric_ : bool
        Whether there are several scores.
    classes_ : ndarray
    n_rows_ : int
    n_features_in_, feature_names_in_
    search_time_, refit_time_ : float
        Wall-clock seconds.

    Notes
    -----
    gamma "scale", "balanced" class weights and the steps of a pipeline are those of all rows. With "balanced"
    class weights the default score is the balanced accuracy. Sample weights are handed to a scorer that takes
    them, those of classes are not. Scorers of probabilities need an estimator with ``calibration="loo"``;
    each row then has the probability that a calibration by other rows gives it. Left-out labels have the
    threshold 0, whatever `threshold` the estimator tunes.

    *One class.* Without labels, a model is consistent if its left-out rejection rate exceeds nu by at most
    two standard errors ``sqrt(nu (1 - nu) / m)``, and the consistent model with the largest gamma is chosen
    (Tax and Mueller 2004). The score is gamma, or 1 for a kernel without one; of a model that is not
    consistent, minus the standard errors by which the rate exceeds nu. `cv_results_` has `loo_rejection_rate`
    and `consistent`. Consistency cannot know which share of the rows are outliers, which is nu, nor where
    outliers lie. With labels of a few, 1 for rows to accept and -1 for outliers, any scorer compares models.

    `fit` calls `_rounds`, ``evaluate_candidates``, ``evaluate_kernel`` and ``evaluate`` of its evaluator,
    ``loo_path``, `svmselect.leave_one_out`, ``unlearn_points`` and, compiled, ``PointPaths.walk``.

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

    _: KW_ONLY
    criterion: str = "exact"

    _named_splits = _labels_for_steps = False

    @property
    def loo_error_(self):
        """The leave-one-out error of the best model, in which each row counts once."""
        if "loo_error" in self.cv_results_:
            return float(self.cv_results_["loo_error"][self.best_index_])
        return self._model().loo_error_

    def _evaluator(self, data, groups, steps, task, scoring):
        if groups is not None:
            raise ValueError(
                "leave-one-out knows no groups: SeededCV(cv=LeaveOneGroupOut()) leaves each of them out"
            )
        options = {"error_score": self.error_score, "return_train_score": self.return_train_score}
        if self.criterion == "exact":
            return task.loo(data, steps, scoring, stop_early=self.stop_early, **options)
        estimates = task.estimates(self.criterion, steps.model)
        return estimates(data, steps, None, **options)

    def _score_name(self, task, data):
        return task.default_score(data) if self.criterion == "exact" else self.criterion

    def _check_options(self, steps):
        super()._check_options(steps)
        if self.criterion not in ("exact", *CRITERIA):
            names = ", ".join(map(repr, ("exact", *CRITERIA)))
            raise ValueError(f"criterion must be one of {names}, got {self.criterion!r}")
        for name, value in (("scoring", self.scoring), ("stop_early", self.stop_early or None)):
            if self.criterion != "exact" and value is not None:
                raise ValueError(f"{name} is for criterion='exact', got {value!r} with {self.criterion!r}")
