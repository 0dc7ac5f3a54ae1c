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
    of all rows. With sample weights the rows of a fold count by theirs, as in scikit-learn 1.9.

    Parameters
    ----------
    estimator, param_grid, refit, verbose
        See `LOOSearchCV`.
    scoring : str, callable, list, tuple, set or dict, optional
        As for GridSearchCV, and applied to each fold as there. By default the accuracy, in which a row counts
        by its sample weight times the weight of its class among all rows (``scoring="accuracy"`` leaves out
        the weights of classes, as GridSearchCV does).
    cv : int, splitter or iterable
        As for GridSearchCV, a number being that of stratified folds; every row has to be held out once.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `split0_test_score`, ..., `mean_test_score`, `std_test_score` (over the
        folds), `rank_test_score`, and `n_not_converged`, the fits that ran out of steps.
    n_splits_ : int
        Number of folds.
    best_params_, best_score_, best_index_, best_estimator_, scoring_, multimetric_, classes_, \
    n_features_in_, feature_names_in_, search_time_, refit_time_
        See `LOOSearchCV`.
    """

    def __init__(self, estimator=None, param_grid=None, *, scoring=None, cv=5, refit=True, verbose=False):
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.verbose = verbose

    def _judge(self, data, estimator, scoring, options):
        folds = folds_of(self.cv, data.X, data.classes[data.codes])
        k, y = folds.max() + 1, data.classes[data.codes]
        self.n_splits_ = int(k)
        empty = np.flatnonzero(np.bincount(folds, weights=data.weight) == 0)
        if empty.size:
            raise ValueError(f"fold {empty[0]} of cv holds out rows of weight zero only")
        members = [np.flatnonzero(folds == h) for h in range(k)]
        values_of = self._values(data, estimator, folds, members, options)

        def judge(gram, Cs, progress):
            values, n_failed = values_of(gram, Cs, progress)
            columns = {"n_not_converged": n_failed}
            if scoring is None:
                right = most_votes(values >= 0, data.classes.size) == data.codes
                scores = [np.average(right[:, at], axis=1, weights=data.error_weight[at]) for at in members]
                return {"score": np.column_stack(scores)}, columns
            tables = {name: np.empty((len(Cs), k)) for name in scoring.names}
            for c in range(len(Cs)):
                left_out = data.left_out(values[c], folds)
                for h, at in enumerate(members):
                    weight = None if data.sample_weight is None else data.sample_weight[at]
                    for name, score in scoring(left_out(at), y[at], weight).items():
                        tables[name][c, h] = score
            return tables, columns

        return judge

    def _values(self, data, estimator, folds, members, options):
        """A function of a Gram matrix, values of C and progress: held-out decision values of the pairs, shape
        (n_Cs, m, n_pairs), and how many fits ran out of steps, shape (n_Cs,)."""
        classes, codes, weight = data.classes, data.codes, data.weight
        if classes.size == 2 and estimator.class_weight is None and (weight == 1).all():
            y = np.where(codes == 1, 1.0, -1.0)
            check_folds(folds, y)

            def of_two_classes(gram, Cs, progress):
                grid = cross_validate_grid(gram, y, Cs, folds=folds, decision_values=True, **options)
                progress(1)
                return grid.decision[0][:, :, None], np.count_nonzero(~grid.converged[0], axis=1)

            return of_two_classes

        problems = []
        for h in range(len(members)):
            train = folds != h
            per_class = class_weights(estimator.class_weight, classes, codes[train])
            problems.append(Problem(classes, codes, np.where(train, weight * per_class[codes], 0)))

        def by_fold(gram, Cs, progress):
            values = np.empty((len(Cs), gram.m, len(problems[0].pairs)))
            n_not_converged = np.zeros(len(Cs), dtype=np.intp)
            for h, problem in enumerate(problems):
                values[:, members[h]], n_failed = held_out(gram, problem, Cs, members[h], options)
                n_not_converged += n_failed
                progress((h + 1) / len(problems))
            return values, n_not_converged

        return by_fold


def held_out(gram, problem, Cs, rows, options):
    """Decision values of the pairs at rows of weight 0, shape (n_Cs, n, n_pairs), and how many fits of each C
    ran out of steps."""
    values = np.empty((len(Cs), rows.size, len(problem.pairs)))
    n_failed = np.zeros(len(Cs), dtype=np.intp)
    for p, pair in enumerate(problem.pairs):
        y = np.where(problem.codes == pair.second, 1.0, -1.0)
        weight = np.zeros(gram.m)
        weight[pair.rows] = problem.weight[pair.rows]
        solution = None
        for c, C in enumerate(Cs):
            bound = C * weight
            start = None if solution is None else moved_along_C(y, solution, bound) * y
            solution = solve_csvc(gram, y, bound, working_set="wss2", start=start, **options)
            values[c, :, p] = solution.decision[rows]
            n_failed[c] += not solution.converged
    return values, n_failed


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
