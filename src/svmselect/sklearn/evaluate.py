"""The models of a search, evaluated kernel by kernel: by jobs, by threads, or one kernel after the other."""

from __future__ import annotations

import sys
from contextlib import suppress

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed
from tqdm import tqdm

from svmselect.sklearn.candidates import by_kernel, value_of
from svmselect.sklearn.kernels import Precomputed, gram_of
from svmselect.sklearn.one_vs_one import checked_weight, class_weights
from svmselect.threads import share_out, thread_count

__all__ = ["CandidateScores", "EvaluationRows", "Evaluator", "evaluate_candidates", "progress_bar"]

TIE = 1e-9  # difference of errors that may be round-off
PASSES = 8  # evaluating a model takes at least this many passes over the Gram matrix


class EvaluationRows:
    """Rows, labels and weights on which the models of a search are trained and scored.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (m, d)
    classes : ndarray, shape (k,)
    codes : ndarray of intp, shape (m,)
        The number of each row's class.
    sample_weight : array_like, shape (m,), or None
        Factor of C at each row, in training; 1 by default.
    class_weight : dict, "balanced" or None
        That of the estimator.
    metadata : dict from str to array, shape (m,)
        What scorers may ask for.
    given_X : array_like, DataFrame or CSR matrix, shape (m, d)
    given_y : array_like or Series, shape (m,)
        Rows and labels as the user gave them, for scorers and splitters.

    Attributes
    ----------
    y : ndarray, shape (m,)
    weight : ndarray, shape (m,)
        The weights of training.
    error_weight : ndarray, shape (m,)
        What a row counts in the default score: its weight times that of its class.
    default_score : str
        "accuracy", or "weighted_accuracy" where the weights of the classes differ.
    """

    def __init__(self, X, classes, codes, sample_weight, class_weight, metadata, given_X, given_y):
        self.X, self.classes, self.codes, self.metadata = X, classes, codes, metadata
        self.given_X, self.given_y = given_X, given_y
        self._class_weight = class_weight
        self.y, self.weight = classes[codes], checked_weight(sample_weight, codes.size)
        per_class = class_weights(class_weight, classes, codes)
        self.error_weight = self.weight * per_class[codes]
        self.default_score = "weighted_accuracy" if np.ptp(per_class) else "accuracy"

    def taken(self, rows, pairwise):
        """Return some of the rows as another EvaluationRows; a `pairwise` X is a kernel matrix."""
        X = self.X[np.ix_(rows, rows)] if pairwise else self.X[rows]
        given_X, given_y = self.given(rows)
        return EvaluationRows(
            X,
            self.classes,
            self.codes[rows],
            self.weight[rows],
            self._class_weight,
            self.metadata_of(rows),
            X if pairwise else given_X,
            given_y,
        )

    def given(self, rows):
        """Return some of the rows and labels as the user gave them, and with their index."""
        return _safe_indexing(self.given_X, rows), _safe_indexing(self.given_y, rows)

    def metadata_of(self, rows):
        """Return the metadata of some rows."""
        return {name: values[rows] for name, values in self.metadata.items()}


class CandidateScores:
    """Scores, times and failures of n models.

    Parameters
    ----------
    n, n_splits : int
    n_scores : int, optional
        Numbers of which a score is the mean; by default one for each split.

    Attributes
    ----------
    test, train : dict from str to ndarray, shape (n, n_scores)
        Scores by their names; NaN where there is none.
    fit_time, score_time : ndarray, shape (n, n_splits)
        Wall-clock seconds.
    n_not_converged : ndarray of intp, shape (n,)
        Solves that ran out of steps.
    columns : dict from str to ndarray, shape (n,)
        Others of `cv_results_`.
    failures : dict from (int, int) to Exception
        Why a model has no score on a split.
    done : ndarray of bool, shape (n,)
        Whether a model has scores, or is known to fail.
    """

    def __init__(self, n, n_splits, n_scores=None):
        self.n, self.n_splits, self.n_scores = n, n_splits, n_splits if n_scores is None else n_scores
        self.test, self.train, self.columns, self.failures = {}, {}, {}, {}
        self.fit_time, self.score_time = np.zeros((2, n, n_splits))
        self.n_not_converged = np.zeros(n, dtype=np.intp)
        self.done = np.zeros(n, dtype=bool)

    def put(self, table, model, values):
        """Store the scores of a model by name: numbers, or shape (n_scores,) each."""
        for name, row in values.items():
            table.setdefault(name, np.full((self.n, self.n_scores), np.nan))[model] = row
        self.done[model] = True

    def take(self, other, numbers, places):
        """Copy the scores of another's models `places` to the models `numbers` of this one."""
        for target, tables in (
            (self.test, other.test),
            (self.train, other.train),
            (self.columns, other.columns),
        ):
            for name, array in tables.items():
                if name not in target:
                    empty = np.nan if array.dtype.kind == "f" else 0
                    target[name] = np.full((self.n, *array.shape[1:]), empty, dtype=array.dtype)
                target[name][numbers] = array[places]
        for name in ("fit_time", "score_time", "n_not_converged"):
            getattr(self, name)[numbers] = getattr(other, name)[places]
        for number, place in zip(numbers, places, strict=True):
            for (model, split), error in other.failures.items():
                if model == place:
                    self.failures[number, split] = error


class Evaluator:
    """The scores of models that share a kernel, by folds or by leave-one-out.

    A subclass has `n_splits`, `n_scores` (see `CandidateScores`) and a method ``evaluate(scores, gram,
    class_weight, values, progress)``, which fills a CandidateScores for increasing values of C or nu.

    Parameters
    ----------
    data : EvaluationRows
    template : SVC or NuSVC
        Has the parameters that all models have in common.
    scoring : Scoring or None
        None for the default score.
    error_score : "raise" or float
        Stands for the score of a model that cannot be trained, or scored.
    return_train_score : bool
    stop_early : bool
        Whether a model is given up as soon as its error cannot be the least any more.

    Attributes
    ----------
    least : float
        The least error of all models that are done.
    """

    def __init__(self, data, template, scoring, error_score, return_train_score, stop_early=False):
        self.stop_early, self.least = stop_early, np.inf
        self.data, self.template, self.scoring = data, template, scoring
        self.error_score, self.return_train_score = error_score, return_train_score
        # whether decision values have to be exact, or only their signs
        by_values = template.break_ties and data.classes.size > 2
        self.exact = by_values or (scoring is not None and scoring.needs_values)

    @property
    def names(self):
        """The names of the scores."""
        return ["score"] if self.scoring is None else self.scoring.names

    def evaluate_kernel(self, kernel, parts, candidates, memory_mb, gram=None, progress=None):
        """Return the scores of the candidates of a kernel.

        Parameters
        ----------
        kernel : Kernel
        parts : list of (class_weight, numbers)
            See `by_kernel`.
        candidates : list of dict
        memory_mb : float
            Budget for a new Gram matrix.
        gram : Gram, optional
            One whose memory may be used.
        progress : callable, optional
            Called with the share of the work that is done.

        Returns
        -------
        results : list of (numbers, CandidateScores, places)
            Arguments of `CandidateScores.take`.
        gram : Gram or None
            For the next kernel.
        """
        results = []
        for number, (class_weight, numbers) in enumerate(parts):
            values = [float(value_of(candidates[n], self.template)) for n in numbers]
            # increasing, each value once
            values, places = np.unique(values, return_inverse=True)
            scores = CandidateScores(values.size, self.n_splits, self.n_scores)
            if self.stop_early:
                scores.columns["stopped"] = np.zeros(values.size, dtype=bool)
            report = progress and (lambda share, number=number: progress((number + share) / len(parts)))
            try:
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(self.data.X, kernel, memory_mb)
                elif gram.kernel is not kernel:
                    gram.set_kernel(kernel)
                self.evaluate(scores, gram, class_weight, values.tolist(), report)
            except Exception as error:
                for model in np.flatnonzero(~scores.done):
                    self.fail(scores, model, error)
            results.append((numbers, scores, places))
        return results, gram

    def stop(self, scores, model):
        """Give a model up: its score is not known, and not the best."""
        scores.columns["stopped"][model] = True
        scores.put(scores.test, model, {"score": np.nan})

    def is_hopeless(self, error):
        """Return whether a model with at least this error can neither be the best nor tie with it."""
        return error > self.least + TIE

    def in_a_job(self, *args):
        """Return the scores of the candidates of a kernel, in a process that has its own Gram matrix."""
        results, _ = self.evaluate_kernel(*args)
        return results

    def fail(self, scores, model, error):
        """Note that a model has no score, or raise the error."""
        for split in range(self.n_splits):
            self.fail_on(scores, model, split, error)
        scores.put(scores.test, model, dict.fromkeys(self.names, self.error_score))

    def fail_on(self, scores, model, split, error):
        """Note that a model has no score on a split, or raise the error."""
        if isinstance(self.error_score, str):
            raise error
        scores.failures[model, split] = error

    def scored(self, scores, model, split, left_out, y, metadata):
        """Return the scores by name of a LeftOut, with the labels and the metadata of its rows."""
        try:
            return self.scoring(left_out, y, metadata)
        except Exception as error:
            self.fail_on(scores, model, split, error)
            return dict.fromkeys(self.names, self.error_score)


def evaluate_candidates(evaluator, candidates, n_jobs, verbose):
    """Return the CandidateScores of models.

    Parameters
    ----------
    evaluator : Evaluator
    candidates : list of dict
    n_jobs : int or None
        Kernels that are worked on at once, by joblib.
    verbose : bool
        Whether to show progress on standard error.
    """
    template = evaluator.template
    groups = by_kernel(candidates, template, evaluator.data.X)
    jobs = min(effective_n_jobs(n_jobs), len(groups))
    if jobs > 1:
        parallel = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)
        memory = template.cache_size / jobs
        results = parallel(
            delayed(evaluator.in_a_job)(kernel, parts, candidates, memory) for kernel, parts in groups
        )
    else:
        results = _evaluate_here(evaluator, candidates, groups, verbose)
    # one after another, since all go into the same arrays
    scores = CandidateScores(len(candidates), evaluator.n_splits, evaluator.n_scores)
    for kernel_results in results:
        for numbers, part, places in kernel_results:
            scores.take(part, numbers, places)
    return scores


def _evaluate_here(evaluator, candidates, groups, verbose):
    """Return the results of each kernel, computed in this process: on threads, each with a Gram matrix of its
    own, where there are threads, memory and work for them, else kernel by kernel."""
    memory, results, grams = evaluator.template.cache_size, [], [None]
    if not any(isinstance(kernel, Precomputed) for kernel, _ in groups):
        # a kernel that is not for these rows fails alone, where its models are evaluated
        with suppress(ValueError):
            first = gram_of(evaluator.data.X, groups[0][0], memory)
            grams = first.copies(min(thread_count(), len(groups)))
    with progress_bar(len(groups), verbose) as report:
        if len(grams) > 1:

            def evaluate_group(gram, group):
                results.append(evaluator.evaluate_kernel(*group, candidates, memory, gram)[0])

            work = PASSES * len(candidates) * first.m**2
            share_out(grams, evaluate_group, groups, work, lambda done, _: report(done))
            return results
        gram = grams[0]
        for done, group in enumerate(groups):
            kernel_results, gram = evaluator.evaluate_kernel(
                *group, candidates, memory, gram, lambda share, done=done: report(done + share)
            )
            results.append(kernel_results)
            report(done + 1)
    return results


class progress_bar:
    """A bar on standard error, on a terminal only; `report` takes how much of the total is done."""

    def __init__(self, total, visible):
        self.bar = tqdm(
            total=total,
            disable=None if visible else True,
            file=sys.stderr,
            leave=False,
            bar_format="{percentage:3.0f}%|{bar}| {elapsed} < {remaining}",
        )

    def __enter__(self):
        return self.report

    def report(self, done):
        self.bar.update(done - self.bar.n)

    def __exit__(self, *error):
        self.bar.close()
