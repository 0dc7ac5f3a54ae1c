"""Evaluation of models on splits of the rows, by seeded fits."""

import time
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from svmselect.cv import cross_validate_grid
from svmselect.sklearn.calibration import Calibration, blocks_of, left_out_probabilities
from svmselect.sklearn.candidates import numbers_of_kernels
from svmselect.sklearn.classifier import step_limit
from svmselect.sklearn.evaluate import Evaluator
from svmselect.sklearn.one_vs_one import Problem, class_weights, decisions, winners
from svmselect.sklearn.scoring import LeftOut
from svmselect.sklearn.steps import numeric
from svmselect.sklearn.svc import SVC
from svmselect.sklearn.svr import LeftOutRegression

__all__ = ["FoldEvaluator", "RegressionFoldEvaluator", "checked_split"]


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


@dataclass
class FoldEvaluator(Evaluator):
    """Evaluation on splits; for other arguments see `Evaluator`.

    Steps before the models are fitted on the rows that a split trains on. Each split is then a part of the
    work, whose evaluator has its rows alone and, with `fits_only`, yields fits; `joined` scores them.
    """

    splits: list = field(default_factory=list)
    first: int = 0  # the number of the first split
    fits_only: bool = False

    def __post_init__(self):
        super().__post_init__()
        self.n_splits = self.n_scores = len(self.splits)
        if self.steps:
            self.n_parts = self.n_splits

    def parts(self, candidates, early=False):
        """Yield the parts with equal steps: split by split, or with `early` also kernel by kernel.

        Kernel by kernel the first models are done early, and the rows of all splits are held at once.
        """
        if not self.steps:
            yield from super().parts(candidates)
            return
        for parameters, numbers, models in self.steps.groups(candidates):
            splits = (self.fits_of_split(parameters, h) for h in range(self.n_splits))
            if not early:
                yield from ((numbers, models, part) for part in splits)
                continue
            held = list(splits)
            for places in numbers_of_kernels(models):
                for part in held:
                    yield [numbers[n] for n in places], [models[n] for n in places], part

    def fits_of_split(self, parameters, h):
        """Return the evaluator of split h, whose rows steps that were fitted on it transform, or an error."""
        try:
            return self._fits_of_split(parameters, h)
        except Exception as error:
            return error

    def _fits_of_split(self, parameters, h):
        data, (train, test) = self.data, self.splits[h]
        X, y = data.given(train)
        steps, rows = self.steps.fitted(parameters, X, y, data.metadata_of(train))
        rows = [numeric(rows), numeric(steps.transform(data.given(test)[0]))]
        X = sparse.vstack(rows, format="csr") if sparse.issparse(rows[0]) else np.vstack(rows)
        order, places = np.concatenate([train, test]), np.arange(train.size + test.size)
        part = replace(
            data, X=X, codes=data.codes[order], y=data.y[order], weight=data.weight[order], metadata={}
        )
        split = _Split(places[: train.size], places[train.size :])
        return replace(self, data=part, splits=[split], first=h, fits_only=True)

    @property
    def rows_of_gamma(self):
        """The rows by which "scale" and "auto" are numbers: those that are trained on, after steps."""
        return self.data.X[self.splits[0].train] if self.fits_only else self.data.X

    def joined(self, scores):
        """Return the scores of a candidate: of its fits on all splits, if there are steps."""
        return self.model_scores(scores, given_up=False) if self.steps else scores[0]

    def failed(self, error):
        """Return the scores of a model without a score on any split, or its fit; or raise its error."""
        return self.failed_part(error) if self.fits_only else super().failed(error)

    def failed_part(self, error):
        """Return the fit of a model that failed, on its part of the work."""
        self.check_failure(error)
        return _SplitFit(error=error)

    def evaluate(self, gram, class_weight, values, progress):
        """Yield the scores of each C or nu, in increasing order, by the splits."""
        if self.fits_only:
            for fits in self.by_split(gram, class_weight, values, progress)[0]:
                yield fits[0]
            return
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
            raise ValueError(f"split {self.first + h} of cv leaves one class only to train on: {label[0]!r}")
        codes = np.minimum(np.searchsorted(classes, data.codes), classes.size - 1)
        per_class = class_weights(class_weight, data.classes[classes], codes[split.train])
        times = np.bincount(split.train, minlength=codes.size)
        problem = Problem(data.classes[classes], codes, times * data.weight * per_class[codes])
        # decision values of each model, pair by pair
        rows = split.train if self.return_train_score else split.train[:0]
        test = [problem.empty_values(split.test.size) for _ in values]
        train = [problem.empty_values(rows.size) for _ in values]
        seconds, n_not_converged, errors = np.zeros(n), np.zeros(n, dtype=np.intp), [None] * n
        for pair in problem.pairs:
            y = np.where(codes == pair.second, 1.0, -1.0)
            weight = np.zeros(codes.size)
            weight[pair.rows] = problem.weight[pair.rows]
            fits = self.template.path(gram, y, weight, values)
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
        """Return the scores of a model from its _SplitFit on each split that it was trained on."""
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


class RegressionFoldEvaluator(FoldEvaluator):
    """Evaluation of regressions on splits."""

    def fit_split(self, gram, shared, values, h):
        """Return the _SplitFit of each C or nu on split h, from one value to the next."""
        data, split, fits, solution = self.data, self.splits[h], [], None
        weight = np.bincount(split.train, minlength=data.codes.size) * data.weight
        if not weight.any():
            raise ValueError(f"split {self.first + h} of cv trains on rows of weight zero only")
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


def checked_split(h, train, test, m):
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
