"""Model selection by cross-validation with seeded fits."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import check_cv

from svmselect.cv import cross_validate_grid
from svmselect.cv.folds import check_folds
from svmselect.path import moved_along_C
from svmselect.sklearn.problem import Problem, class_weights
from svmselect.sklearn.search import Search
from svmselect.sklearn.votes import most_votes
from svmselect.svm import solve_csvc

__all__ = ["SeededCV"]


class SeededCV(Search):
    """Search over C and gamma by k-fold cross-validation, as GridSearchCV with scikit-learn's SVC.

    All models of one kernel and all folds share its Gram matrix, and within a fold each C starts at the
    solution of the C before. Scores are GridSearchCV's, up to `tol`, where gamma is a number: "scale" is that
    of all rows. With weights the rows of a fold count by theirs, as in scikit-learn 1.9.

    Parameters
    ----------
    estimator, param_grid, refit, verbose
        See `LOOSearchCV`.
    cv : int, splitter or iterable
        As for GridSearchCV, a number being that of stratified folds; every row has to be held out once.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `split0_test_score`, ..., `mean_test_score`, `std_test_score` (over the
        folds), `rank_test_score`, and `n_not_converged`, the fits that ran out of steps.
    n_splits_ : int
        Number of folds.
    best_params_, best_score_, best_index_, best_estimator_, classes_, n_features_in_, feature_names_in_,
    search_time_, refit_time_
        See `LOOSearchCV`.
    """

    def __init__(self, estimator=None, param_grid=None, *, cv=5, refit=True, verbose=False):
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.refit = refit
        self.verbose = verbose

    def _scorer(self, estimator, X, classes, codes, weight, options):
        folds = folds_of(self.cv, X, classes[codes])
        sizes = np.bincount(folds)
        self.n_splits_ = sizes.size
        if classes.size == 2 and estimator.class_weight is None and (weight == 1).all():
            y = np.where(codes == 1, 1.0, -1.0)
            check_folds(folds, y)

            def score(gram, Cs, progress):
                grid = cross_validate_grid(gram, y, Cs, folds=folds, **options)
                progress(1)
                return 1 - grid.errors[0] / sizes, np.count_nonzero(~grid.converged[0], axis=1)

            return score

        problems = []
        empty = np.flatnonzero(np.bincount(folds, weights=weight) == 0)
        if empty.size:
            raise ValueError(f"fold {empty[0]} of cv holds out rows of weight zero only")
        for h in range(sizes.size):
            train = folds != h
            per_class = class_weights(estimator.class_weight, classes, codes[train])
            problems.append(Problem(classes, codes, np.where(train, weight * per_class[codes], 0)))

        def score_by_fold(gram, Cs, progress):
            scores, n_not_converged = np.empty((len(Cs), sizes.size)), np.zeros(len(Cs), dtype=np.intp)
            for h, problem in enumerate(problems):
                rows = np.flatnonzero(folds == h)
                predicted, n_failed = held_out(gram, problem, Cs, rows, options)
                scores[:, h] = np.average(predicted == codes[rows], axis=1, weights=weight[rows])
                n_not_converged += n_failed
                progress((h + 1) / sizes.size)
            return scores, n_not_converged

        return score_by_fold


def held_out(gram, problem, Cs, rows, options):
    """Predictions at rows of weight 0, shape (n_Cs, n), and how many fits ran out of steps, shape (n_Cs,)."""
    second_wins = np.empty((len(Cs), rows.size, len(problem.pairs)), dtype=bool)
    n_failed = np.zeros(len(Cs), dtype=np.intp)
    for p, pair in enumerate(problem.pairs):
        y = np.where(problem.codes == pair.second, 1.0, -1.0)
        weight = np.zeros(gram.m)
        weight[pair.rows] = problem.weight[pair.rows]
        solution = None
        for c, C in enumerate(Cs):
            bound = C * weight
            start = None if solution is None else moved_along_C(y, solution, bound) * y
            solution = solve_csvc(gram, y, bound, start=start, **options)
            second_wins[c, :, p] = solution.decision[rows] >= 0
            n_failed[c] += not solution.converged
    return most_votes(second_wins, problem.classes.size), n_failed


def folds_of(cv, X, y):
    """The fold of each row, or a ValueError unless every row is held out once."""
    folds, times = np.full(len(y), -1), np.zeros(len(y), dtype=np.intp)
    for h, (train, test) in enumerate(check_cv(cv, y, classifier=True).split(X, y)):
        folds[test] = h
        times[test] += 1
        if np.asarray(train).size + np.asarray(test).size != len(y):
            raise ValueError(
                f"cv must train each fold on all rows that it does not hold out, fold {h} does not"
            )
    wrong = np.flatnonzero(times != 1)
    if wrong.size:
        raise ValueError(
            f"cv must hold every row out once, row {wrong[0]} is held out {times[wrong[0]]} times"
        )
    return folds
