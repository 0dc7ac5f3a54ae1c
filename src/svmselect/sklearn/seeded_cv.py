"""Model selection by cross-validation with seeded fits."""

import time
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from svmselect.cv import cross_validate_grid
from svmselect.path import moved_along_C
from svmselect.sklearn.calibration import Calibration, blocks_of, left_out_probabilities
from svmselect.sklearn.classifier import step_limit
from svmselect.sklearn.evaluate import Evaluator
from svmselect.sklearn.one_vs_one import Problem, class_weights, decisions, winners
from svmselect.sklearn.scoring import LeftOut
from svmselect.sklearn.search import Search
from svmselect.sklearn.svc import SVC
from svmselect.sklearn.svr import LeftOutRegression
from svmselect.svm import InfeasibleNu, solve_csvc, solve_nusvc

__all__ = ["FoldEvaluator", "SeededCV"]


@dataclass(eq=False, repr=False)
class SeededCV(Search):
    """Search by cross-validation, as GridSearchCV with scikit-learn's SVC.

    All models of one kernel and all splits share its Gram matrix, and within a split each C starts at the
    solution of the C before. Scores are GridSearchCV's, up to `tol`, where gamma is a number: "scale" is that
    of all rows. With sample weights the rows of a fold count by theirs, as in scikit-learn 1.9. The exact
    leave-one-out error of the chosen model is ``best_estimator_.loo_error_``.

    Parameters
    ----------
    estimator, param_grid, refit, n_candidates, factor, stop_early, n_jobs, error_score, verbose, random_state
        See `LOOSearchCV`. A number of splits of regressions is that of a KFold.
    scoring : str, callable, list, tuple, set or dict, optional
        As for GridSearchCV, and applied to each fold as there. By default the accuracy, in which a row counts
        by its sample weight times the weight of its class among all rows (``scoring="accuracy"`` leaves out
        the weights of classes, as GridSearchCV does).
    cv : int, splitter or iterable
        As for GridSearchCV; a number is that of stratified folds. Splits may overlap, leave rows out,
        train on a row several times, or lack a class. `fit` has `groups`. The default is 3, whose models have
        the least regret of all estimators in the project's comparison; None is scikit-learn's 5.
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
    best_params_, best_score_, best_index_, best_estimator_, scoring_, multimetric_, classes_, \
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
    """

    _: KW_ONLY
    cv: Any = 3

    def _evaluator(self, data, groups, template, scoring):
        if self._is_one_class():
            raise ValueError("estimator must not be a OneClassSVM here, LOOSearchCV searches its models")
        splitter = check_cv(self.cv, data.y, classifier=not self._is_regression())
        given = splitter.split(data.given_X, data.given_y, groups)
        splits = [_checked_split(h, *split, data.codes.size) for h, split in enumerate(given)]
        if not splits:
            raise ValueError(f"cv must give at least one split, got {self.cv!r}")
        for h, split in enumerate(splits):
            if not data.weight[split.test].any():
                raise ValueError(f"fold {h} of cv holds out rows of weight zero only")
        self.n_splits_ = len(splits)
        kind = _RegressionFolds if self._is_regression() else FoldEvaluator
        return kind(splits, data, template, scoring, **self._options())


class _Split(NamedTuple):
    """Numbers of the rows to train on, where one may come several times, and of the rows held out."""

    train: np.ndarray
    test: np.ndarray


class _SplitFit(NamedTuple):
    """The fit of a model on a split: decision values of the pairs at its rows, or an error."""

    classes: np.ndarray | None = None  # numbers of the classes that it was trained on
    test: np.ndarray | None = None  # shape (n_rows, k (k - 1) / 2)
    train: np.ndarray | None = None
    seconds: float = 0.0  # wall-clock time
    n_not_converged: int = 0  # solves that ran out of steps
    error: Exception | None = None


def _fits_along_C(gram, y, weight, Cs, tol, max_iter):
    """Yield the Solution of two classes for each C, in increasing order, each from the one before."""
    start = solution = None
    for C in Cs:
        bound = C * weight
        if solution is not None:
            start = moved_along_C(y, solution, bound) * y
        solution = solve_csvc(gram, y, bound, tol=tol, max_iter=max_iter, working_set="wss2", start=start)
        yield solution


def _fits_of_nus(gram, y, weight, nus, tol, max_iter):
    """Yield the Solution of two classes for each nu, or the error of one that is infeasible."""
    for nu in nus:
        try:
            yield solve_nusvc(gram, y, nu, weight=weight, tol=tol, max_iter=max_iter)
        except InfeasibleNu as error:
            yield error


FITS = {"C": _fits_along_C, "nu": _fits_of_nus}


class FoldEvaluator(Evaluator):
    """Evaluation on splits; for other arguments see `Evaluator`."""

    def __init__(self, splits, *args, **options):
        super().__init__(*args, **options)
        self.splits, self.n_splits, self.n_scores = splits, len(splits), len(splits)

    def evaluate(self, gram, class_weight, values, progress):
        """Yield the _ModelScores of each C or nu, in increasing order, by the splits."""
        folds, given_up = self.folds_of_a_grid(class_weight), np.zeros(len(values), dtype=bool)
        if folds is not None:
            models = self.by_grid(gram, folds, values)
        else:
            models, given_up = self.by_split(gram, class_weight, values, progress)
        yield from map(self.model_scores, models, given_up)

    def folds_of_a_grid(self, class_weight):
        """Return the fold of each row where `cross_validate_grid` trains these models, else None.

        It does for two classes without weights, and every row held out once by a model of all others.
        """
        data, train = self.data, np.concatenate([split.train for split in self.splits])
        folds = np.full(data.y.size, -1)
        for h, split in enumerate(self.splits):
            folds[split.test] = h
        if (
            isinstance(self.template, SVC)
            and not (self.return_train_score or self.stop_early)
            and class_weight is None
            and data.classes.size == 2
            and (data.weight == 1).all()
            and sum(split.test.size for split in self.splits) == folds.size
            and (folds >= 0).all()
            and (np.bincount(train, minlength=folds.size) == self.n_splits - 1).all()
            and all((folds[split.train] != h).all() for h, split in enumerate(self.splits))
            and all(np.unique(data.codes[split.train]).size == 2 for split in self.splits)
        ):
            return folds
        return None

    def by_grid(self, gram, folds, Cs):
        """Return the _SplitFit of each model on each split, by one call for all of them."""
        begin = time.perf_counter()
        y, limit = np.where(self.data.codes == 1, 1.0, -1.0), step_limit(self.template.max_iter)
        options = {"tol": self.template.tol, "max_iter": limit, "decision_values": True}
        grid = cross_validate_grid(gram, y, Cs, folds=folds, **options)
        seconds = (time.perf_counter() - begin) / (len(Cs) * self.n_splits)
        both = np.arange(2)
        return [
            [
                _SplitFit(both, values[split.test, None], None, seconds, int(not reached))
                for split, reached in zip(self.splits, converged, strict=True)
            ]
            for values, converged in zip(grid.decision[0], grid.converged[0], strict=True)
        ]

    def by_split(self, gram, class_weight, values, progress):
        """Return the _SplitFit of each model, split by split, and whether each model was given up."""
        models, errors = [[] for _ in values], np.zeros(len(values))
        given_up = np.zeros(len(values), dtype=bool)
        for h in range(self.n_splits):
            left = np.flatnonzero(~given_up)
            try:
                fits = self.fit_split(gram, class_weight, [values[c] for c in left], h)
            except Exception as error:
                fits = [_SplitFit(error=error)] * left.size
            for c, fit in zip(left, fits, strict=True):
                models[c].append(fit)
                if fit.error is not None:
                    self.check_failure(fit.error)
                    errors[c] = np.nan  # its score may be any
                elif self.stop_early:
                    errors[c] += 1 - self.scores_of(h, models[c], "test")[0]["score"]
            if self.stop_early:
                given_up[left] = self.is_hopeless(errors[left] / self.n_splits)
            if progress is not None:
                progress((h + 1) / self.n_splits)
        if self.stop_early:
            self.least = np.nanmin([self.least, *errors[~given_up] / self.n_splits])
        return models, given_up

    def fit_split(self, gram, class_weight, values, h):
        """Return the _SplitFit of each C or nu on split h."""
        data, split, n = self.data, self.splits[h], len(values)
        # the problem of each pair of the classes that the split trains on
        classes = np.unique(data.codes[split.train])
        if classes.size < 2:
            label = data.classes[classes].tolist()
            raise ValueError(f"split {h} of cv leaves one class only to train on: {label[0]!r}")
        codes = np.minimum(np.searchsorted(classes, data.codes), classes.size - 1)
        per_class = class_weights(class_weight, data.classes[classes], codes[split.train])
        times = np.bincount(split.train, minlength=codes.size)
        problem = Problem(data.classes[classes], codes, times * data.weight * per_class[codes])
        # decision values of each model, pair by pair
        rows = split.train if self.return_train_score else split.train[:0]
        test = [problem.empty_values(split.test.size) for _ in values]
        train = [problem.empty_values(rows.size) for _ in values]
        seconds, n_not_converged, errors = np.zeros(n), np.zeros(n, dtype=np.intp), [None] * n
        limit = step_limit(self.template.max_iter)
        for pair in problem.pairs:
            y = np.where(codes == pair.second, 1.0, -1.0)
            weight = np.zeros(codes.size)
            weight[pair.rows] = problem.weight[pair.rows]
            fits = FITS[self.template._formulation](gram, y, weight, values, self.template.tol, limit)
            for c in range(n):
                begin = time.perf_counter()
                solution = next(fits)
                seconds[c] += time.perf_counter() - begin
                if isinstance(solution, Exception):
                    errors[c] = solution
                elif errors[c] is None:
                    test[c][:, pair.number] = solution.decision[split.test]
                    train[c][:, pair.number] = solution.decision[rows]
                    n_not_converged[c] += not solution.converged
        return [
            _SplitFit(classes, *fit)
            for fit in zip(test, train, seconds, n_not_converged, errors, strict=True)
        ]

    def model_scores(self, fits, given_up):
        """Return the _ModelScores of a model from its _SplitFit on each split that it was trained on."""
        scores = self.stopped() if given_up else self.unscored(np.nan, {})
        scores.fit_time[: len(fits)] = [fit.seconds for fit in fits]
        scores.n_not_converged = sum(fit.n_not_converged for fit in fits)
        scores.failures = {h: fit.error for h, fit in enumerate(fits) if fit.error is not None}
        if given_up:
            return scores
        for part, table in (("test", scores.test), ("train", scores.train)):
            if part == "train" and not self.return_train_score:
                continue
            for h, fit in enumerate(fits):
                begin = time.perf_counter()
                if fit.error is None:
                    split_scores, error = self.scores_of(h, fits, part)
                    if error is not None:
                        scores.failures[h] = error
                else:
                    split_scores = dict.fromkeys(self.names, self.error_score)
                for name in self.names:
                    table[name][h] = split_scores[name]
                if part == "test":
                    scores.score_time[h] = time.perf_counter() - begin
        return scores

    def scores_of(self, h, fits, part):
        """Return scores by name at rows that split h holds out or trains on, and the error of a scorer."""
        data, fit = self.data, fits[h]
        rows, values = getattr(self.splits[h], part), getattr(fit, part)
        if self.scoring is None:
            predicted = winners(values, fit.classes.size, self.template.break_ties)
            right = fit.classes[predicted] == data.codes[rows]
            return {"score": np.average(right, weights=data.error_weight[rows])}, None
        X, y = data.given(rows)
        left_out = LeftOut(
            self.template, data.classes[fit.classes], X, values, lambda: self.probabilities(h, fits, part)
        )
        return self.scored(left_out, y, data.metadata_of(rows))

    def probabilities(self, h, fits, part):
        """Return probabilities of the rows of split h.

        They are calibrated on the rows that only other splits hold out, or on parts of its own rows where
        there are none.
        """
        data, fit, k = self.data, fits[h], self.data.classes.size
        if fit.classes.size < k:
            raise ValueError(f"probabilities need all {k} classes in every split, split {h} lacks one")
        values, rows = decisions(getattr(fit, part), k, "ovr"), getattr(self.splits[h], part)
        in_test = np.zeros(data.codes.size, dtype=bool)
        in_test[self.splits[h].test] = True
        seen, decision_blocks = [], []
        for other, split in zip(fits, self.splits, strict=True):
            if other.error is None and other.classes.size == k:
                unseen = ~in_test[split.test]
                seen.append(split.test[unseen])
                decision_blocks.append(decisions(other.test[unseen], k, "ovr"))
        seen = np.concatenate(seen)
        method = self.template.calibration_method
        if np.unique(data.codes[seen]).size == k:
            held_out = np.concatenate(decision_blocks)
            return Calibration(held_out, data.codes[seen], k, data.weight[seen], method)(values)
        codes = data.codes[rows]
        return left_out_probabilities(values, codes, k, data.weight[rows], method, blocks_of(codes))


class _RegressionFolds(FoldEvaluator):
    """Evaluation of regressions on splits."""

    def fit_split(self, gram, shared, values, h):
        """Return the _SplitFit of each C or nu on split h, from one value to the next."""
        data, split, fits, solution = self.data, self.splits[h], [], None
        weight = np.bincount(split.train, minlength=data.codes.size) * data.weight
        if not weight.any():
            raise ValueError(f"split {h} of cv trains on rows of weight zero only")
        for value in values:
            begin = time.perf_counter()
            solution = self.template.set_of(shared, value).solution_on(gram, data.y, weight, solution)
            test, train = solution.prediction[split.test], solution.prediction[split.train]
            seconds = time.perf_counter() - begin
            fits.append(_SplitFit(None, test, train, seconds, int(not solution.converged)))
        return fits

    def scores_of(self, h, fits, part):
        """Return scores by name at rows that split h holds out or trains on, and the error of a scorer."""
        rows, values = getattr(self.splits[h], part), getattr(fits[h], part)
        X, y = self.data.given(rows)
        return self.scored(LeftOutRegression(X, values), y, self.data.metadata_of(rows))


def _checked_split(h, train, test, m):
    """Return split h of m rows by row numbers; raise a ValueError for a bad one.

    A splitter chooses rows as NumPy's indexing does: by numbers, negative ones counted from the end, or by a
    mask.
    """
    parts = []
    for verb, rows in (("trains on", train), ("holds out", test)):
        rows = np.asarray(rows)
        if rows.size and rows.dtype.kind not in "iub":
            raise ValueError(f"split {h} of cv {verb} row {rows.flat[0]}, which is no whole number")
        try:
            numbers = np.arange(m)[rows if rows.dtype == bool else rows.astype(np.intp)]
        except IndexError as error:
            raise ValueError(f"split {h} of cv {verb} rows that X does not have: {error}") from None
        if numbers.size == 0:
            raise ValueError(f"split {h} of cv {verb} no row")
        parts.append(numbers)
    return _Split(*parts)
