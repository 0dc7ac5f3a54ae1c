"""Model selection by cross-validation with seeded fits."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from svmselect.cv import cross_validate_grid
from svmselect.sklearn.calibration import Calibration, blocks_of, left_out_probabilities
from svmselect.sklearn.classifier import step_limit
from svmselect.sklearn.evaluate import Evaluator
from svmselect.sklearn.one_vs_one import Problem, class_weights, decisions, winners
from svmselect.sklearn.scoring import LeftOut
from svmselect.sklearn.search import Search
from svmselect.sklearn.svc import SVC

__all__ = ["FoldEvaluator", "SeededCV"]


class SeededCV(Search):
    """Search by cross-validation, as GridSearchCV with scikit-learn's SVC.

    All models of one kernel and all splits share its Gram matrix, and within a split each C starts at the
    solution of the C before. Scores are GridSearchCV's, up to `tol`, where gamma is a number: "scale" is that
    of all rows. With sample weights the rows of a fold count by theirs, as in scikit-learn 1.9. How good the
    chosen model is, ``best_estimator_.loo_error_`` says exactly.

    Parameters
    ----------
    estimator, param_grid, refit, n_candidates, factor, stop_early, n_jobs, error_score, verbose, random_state
        See `LOOSearchCV`.
    scoring : str, callable, list, tuple, set or dict, optional
        As for GridSearchCV, and applied to each fold as there. By default the accuracy, in which a row counts
        by its sample weight times the weight of its class among all rows (``scoring="accuracy"`` leaves out
        the weights of classes, as GridSearchCV does).
    cv : int, splitter or iterable
        As for GridSearchCV, a number being that of stratified folds. Splits may overlap, leave rows out,
        train on a row several times, or lack a class. `fit` has `groups`. The default is 3, whose models have
        the least regret of all estimators in the project's comparison; None is scikit-learn's 5.
    return_train_score : bool
        Whether to score each model at the rows that it was trained on.

    Attributes
    ----------
    cv_results_ : dict of arrays, shape (n_models,)
        `params`, `param_C`, ..., `split0_test_score`, ..., `mean_test_score`, `std_test_score` (over the
        splits), `rank_test_score`, the same with "train" if asked for, `mean_fit_time`, `std_fit_time`,
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

    def __init__(
        self,
        estimator=None,
        param_grid=None,
        *,
        scoring=None,
        cv=3,
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
        self.cv = cv
        self.refit = refit
        self.n_candidates = n_candidates
        self.factor = factor
        self.stop_early = stop_early
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.verbose = verbose
        self.random_state = random_state

    def _evaluator(self, data, groups, **options):
        splitter = check_cv(self.cv, data.y, classifier=True)
        given = splitter.split(data.given_X, data.given_y, groups)
        splits = [_checked_split(h, *split, data.codes.size) for h, split in enumerate(given)]
        if not splits:
            raise ValueError(f"cv must give at least one split, got {self.cv!r}")
        for h, split in enumerate(splits):
            if not data.weight[split.test].any():
                raise ValueError(f"fold {h} of cv holds out rows of weight zero only")
        self.n_splits_ = len(splits)
        return FoldEvaluator(splits, data=data, **options)


class _Split(NamedTuple):
    """Numbers of the rows to train on, where one may come several times, and of the rows held out."""

    train: np.ndarray
    test: np.ndarray


class _SplitValues(NamedTuple):
    """Decision values of the pairs by a model of a split.

    Attributes
    ----------
    classes : ndarray of intp, shape (k,)
        Numbers of the classes that it was trained on.
    test, train : ndarray, shape (n_rows, k (k - 1) / 2)
        At the rows of the split.
    """

    classes: np.ndarray
    test: np.ndarray
    train: np.ndarray | None


class FoldEvaluator(Evaluator):
    """Scores on splits.

    Parameters
    ----------
    splits : list of _Split
    **options
        Arguments of `Evaluator`.
    """

    def __init__(self, splits, **options):
        super().__init__(**options)
        self.splits, self.n_splits, self.n_scores = splits, len(splits), len(splits)

    def evaluate(self, scores, gram, class_weight, values, progress):
        """Fill in the scores by folds of models with increasing C or nu."""
        folds = self.folds_of_a_grid(class_weight)
        if folds is not None:
            models = self.by_grid(scores, gram, folds, values)
        else:
            models = self.by_split(scores, gram, class_weight, values, progress)
        for c, split_models in enumerate(models):
            if not scores.done[c]:
                self.score(scores, c, split_models)

    def folds_of_a_grid(self, class_weight):
        """The fold of each row where `cross_validate_grid` trains these models, else None: two classes, no
        weights, and every row held out once by a model of all others."""
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

    def by_grid(self, scores, gram, folds, Cs):
        """Return the _SplitValues of each model on each split, by one call for all of them."""
        begin = time.perf_counter()
        grid = cross_validate_grid(
            gram,
            np.where(self.data.codes == 1, 1.0, -1.0),
            Cs,
            folds=folds,
            tol=self.template.tol,
            max_iter=step_limit(self.template.max_iter),
            decision_values=True,
        )
        scores.fit_time[:] = (time.perf_counter() - begin) / scores.fit_time.size
        scores.n_not_converged[:] = np.count_nonzero(~grid.converged[0], axis=1)
        both = np.arange(2)
        return [
            [_SplitValues(both, values[split.test, None], None) for split in self.splits]
            for values in grid.decision[0]
        ]

    def by_split(self, scores, gram, class_weight, values, progress):
        """Return the _SplitValues of each model, split by split; None if it failed or was given up."""
        models = [[None] * self.n_splits for _ in values]
        # The models that are not given up, and the sums of their errors.
        left, errors = np.arange(len(values)), np.zeros(len(values))
        for h, split in enumerate(self.splits):
            try:
                trained = self.trained(scores, gram, class_weight, values, h, split, left)
            except Exception as error:
                trained = [error] * left.size
            for c, one in zip(left, trained, strict=True):
                if isinstance(one, Exception):
                    self.fail_on(scores, c, h, one)
                    errors[c] = np.nan  # its score may be any
                else:
                    models[c][h] = one
                    if self.stop_early:
                        errors[c] += 1 - self.scores_of(scores, c, h, models[c], "test")["score"]
            if self.stop_early:
                hopeless = self.is_hopeless(errors[left] / self.n_splits)
                for c in left[hopeless]:
                    self.stop(scores, c)
                left = left[~hopeless]
            if progress is not None:
                progress((h + 1) / self.n_splits)
        if self.stop_early:
            self.least = np.nanmin([self.least, *errors[left] / self.n_splits])
        return models

    def trained(self, scores, gram, class_weight, values, h, split, left):
        """Return the _SplitValues of each remaining model on a split, or the error that its fit raised."""
        data = self.data
        classes = np.unique(data.codes[split.train])
        if classes.size < 2:
            label = data.classes[classes].tolist()
            raise ValueError(f"split {h} of cv leaves one class only to train on: {label[0]!r}")
        codes = np.minimum(np.searchsorted(classes, data.codes), classes.size - 1)
        per_class = class_weights(class_weight, data.classes[classes], codes[split.train])
        times = np.bincount(split.train, minlength=codes.size)
        problem = Problem(data.classes[classes], codes, times * data.weight * per_class[codes])
        rows = split.train if self.return_train_score else split.train[:0]
        models = [
            _SplitValues(classes, problem.empty_values(split.test.size), problem.empty_values(rows.size))
            for _ in left
        ]
        for pair in problem.pairs:
            y = np.where(codes == pair.second, 1.0, -1.0)
            weight = np.zeros(codes.size)
            weight[pair.rows] = problem.weight[pair.rows]
            fits = self.template.fits(gram, y, weight, [values[c] for c in left])
            for n, c in enumerate(left):
                begin = time.perf_counter()
                solution = next(fits)
                scores.fit_time[c, h] += time.perf_counter() - begin
                if isinstance(solution, Exception):
                    models[n] = solution
                elif not isinstance(models[n], Exception):
                    models[n].test[:, pair.number] = solution.decision[split.test]
                    models[n].train[:, pair.number] = solution.decision[rows]
                    scores.n_not_converged[c] += not solution.converged
        return models

    def score(self, scores, c, models):
        """Find the scores of a model from its _SplitValues on each split."""
        for table, part in ((scores.test, "test"), (scores.train, "train")):
            if part == "train" and not self.return_train_score:
                continue
            by_name = {name: np.full(self.n_splits, np.nan) for name in self.names}
            for h, held in enumerate(models):
                begin = time.perf_counter()
                part_scores = self.scores_of(scores, c, h, models, part) if held is not None else None
                for name in self.names:
                    by_name[name][h] = self.error_score if part_scores is None else part_scores[name]
                if part == "test":
                    scores.score_time[c, h] = time.perf_counter() - begin
            scores.put(table, c, by_name)

    def scores_of(self, scores, c, h, models, part):
        """Return scores by name at the rows that a split holds out, or trains on."""
        data, held = self.data, models[h]
        rows, values = getattr(self.splits[h], part), getattr(held, part)
        if self.scoring is None:
            predicted = winners(values, held.classes.size, self.template.break_ties)
            right = held.classes[predicted] == data.codes[rows]
            return {"score": np.average(right, weights=data.error_weight[rows])}
        X, y = data.given(rows)
        left_out = LeftOut(
            self.template,
            data.classes[held.classes],
            X,
            values,
            lambda: self.probabilities(h, models, part),
        )
        return self.scored(scores, c, h, left_out, y, data.metadata_of(rows))

    def probabilities(self, h, models, part):
        """Return probabilities of a split's rows, calibrated on the rows that only other splits hold out, or
        on parts of its own rows where there are none."""
        data, held, k = self.data, models[h], self.data.classes.size
        if held.classes.size < k:
            raise ValueError(f"probabilities need all {k} classes in every split, split {h} lacks one")
        values, rows = decisions(getattr(held, part), k, "ovr"), getattr(self.splits[h], part)
        in_training = np.zeros(data.codes.size, dtype=bool)
        in_training[self.splits[h].test] = True
        seen, decision_blocks = [], []
        for other, split in zip(models, self.splits, strict=True):
            if other is not None and other.classes.size == k:
                unseen = ~in_training[split.test]
                seen.append(split.test[unseen])
                decision_blocks.append(decisions(other.test[unseen], k, "ovr"))
        seen = np.concatenate(seen)
        method = self.template.calibration_method
        if np.unique(data.codes[seen]).size == k:
            held_out = np.concatenate(decision_blocks)
            return Calibration(held_out, data.codes[seen], k, data.weight[seen], method)(values)
        codes = data.codes[rows]
        return left_out_probabilities(values, codes, k, data.weight[rows], method, blocks_of(codes))


def _checked_split(h, train, test, m):
    """Return split h of m rows by row numbers, or raise a ValueError; a splitter chooses rows as NumPy's
    indexing does: by numbers, negative ones counted from the end, or by a mask."""
    parts = []
    for verb, rows in (("trains on", train), ("holds out", test)):
        rows = np.asarray(rows)
        try:
            numbers = np.arange(m)[rows if rows.dtype == bool else rows.astype(np.intp)]
        except IndexError as error:
            raise ValueError(f"split {h} of cv {verb} rows that X does not have: {error}") from None
        if numbers.size == 0:
            raise ValueError(f"split {h} of cv {verb} no row")
        parts.append(numbers)
    return _Split(*parts)
