"""Model selection by cross-validation with seeded fits."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from sklearn.model_selection import check_cv

from svmselect.sklearn.fold_evaluators import checked_split
from svmselect.sklearn.search import Search

__all__ = ["SeededCV"]


@dataclass(eq=False, repr=False)
class SeededCV(Search):
    """Search by cross-validation, as GridSearchCV with scikit-learn's SVC.

    All models of one kernel and all splits share its Gram matrix, and within a split each C starts at the
    solution of the C before. The steps of a pipeline are fitted anew in each fold. Scores are GridSearchCV's,
    up to `tol`; without steps gamma "scale" is that of all rows. With sample weights the rows of a fold count
    by theirs, as in scikit-learn 1.9. The exact leave-one-out error of the chosen model is `loo_error_`.

    Parameters
    ----------
    estimator, param_grid, refit, n_candidates, factor, extend, time_budget, n_jobs, error_score, verbose, \
    random_state
        See `LOOSearchCV`. Steps of a pipeline may use `y`.
    stop_early : bool
        See `LOOSearchCV`; for an estimator without steps before it.
    scoring : str, callable, list, tuple, set or dict, optional
        As for GridSearchCV, and applied to each fold as there. By default the accuracy, in which a row counts
        by its sample weight times the weight of its class among all rows (``scoring="accuracy"`` leaves out
        the weights of classes, as GridSearchCV does).
    cv : int, splitter or iterable
        As for GridSearchCV; a number is that of stratified folds, of regressions that of a KFold. Splits may
        overlap, leave rows out, train on a row several times, or lack a class. `fit` has `groups`. The
        default is 3, whose models have the least regret of all estimators in the project's comparison; None
        is scikit-learn's 5.
    return_train_score : bool
        Whether to score each model at the rows that it was trained on.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `split0_test_score`, ..., `mean_test_score`, `std_test_score` (over the
        splits), `rank_test_score`, train scores if requested, `mean_fit_time`, `std_fit_time`,
        `mean_score_time` and `std_score_time` in wall-clock seconds, and `n_not_converged`, the fits that ran
        out of steps. Where one compiled call trains a whole path, its models have equal shares of the time;
        else the first one of a kernel pays for the kernel values that all share.
    n_splits_ : int
    best_params_, best_score_, best_index_, best_estimator_, loo_error_, scoring_, multimetric_, classes_, \
    n_features_in_, feature_names_in_, search_time_, refit_time_
        See `LOOSearchCV`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import SVC, SeededCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SeededCV(SVC(), {"C": [1, 10], "gamma": [0.1, 1]}).fit(X, y)
    >>> search.best_params_
    {'C': 10, 'gamma': 0.1}
    >>> round(search.loo_error_, 4)
    0.0333
    """

    _: KW_ONLY
    cv: Any = 3

    def _evaluator(self, data, groups, steps, task, scoring):
        if task.folds is None:
            raise ValueError("estimator must not be a OneClassSVM here, LOOSearchCV searches its models")
        splitter = check_cv(self.cv, data.y, classifier=task.stratified)
        given = splitter.split(data.given_X, data.given_y, groups)
        splits = [checked_split(h, *split, data.codes.size) for h, split in enumerate(given)]
        if not splits:
            raise ValueError(f"cv must give at least one split, got {self.cv!r}")
        for h, split in enumerate(splits):
            if not data.weight[split.test].any():
                raise ValueError(f"fold {h} of cv holds out rows of weight zero only")
        self.n_splits_ = len(splits)
        options = {name: getattr(self, name) for name in ("error_score", "return_train_score", "stop_early")}
        return task.folds(data, steps, scoring, splits=splits, **options)
