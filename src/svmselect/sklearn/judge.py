"""What a search asks of its models, kernel by kernel."""

from __future__ import annotations

import numpy as np

from svmselect.sklearn.candidates import value_of
from svmselect.sklearn.judged import Found
from svmselect.sklearn.kernels import gram_of
from svmselect.sklearn.precomputed import Precomputed

__all__ = ["Judge"]

TIE = 1e-9  # difference of errors that may be round-off


class Judge:
    """Finds the scores of models that share a kernel.

    A subclass has `n_splits`, `n_scores` (see `Found`) and a method ``judge(found, gram, class_weight,
    values, progress)``, which fills a Found for increasing values of C or nu.

    Parameters
    ----------
    data : JudgedRows
    template : SVC or NuSVC
        What all models have in common.
    scoring : Scoring or None
        None for the default score.
    error_score : "raise" or float
        What stands for the score of a model that cannot be trained, or scored.
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

    def of_kernel(self, kernel, parts, candidates, memory_mb, gram=None, progress=None):
        """What is found of the candidates of a kernel.

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
        found : list of (numbers, Found, places)
            As `Found.take` wants them.
        gram : Gram or None
            For the next kernel.
        """
        results = []
        for number, (class_weight, numbers) in enumerate(parts):
            values = [float(value_of(candidates[n], self.template)) for n in numbers]
            # increasing, each value once
            values, places = np.unique(values, return_inverse=True)
            found = Found(values.size, self.n_splits, self.n_scores)
            if self.stop_early:
                found.columns["stopped"] = np.zeros(values.size, dtype=bool)
            report = progress and (lambda share, number=number: progress((number + share) / len(parts)))
            try:
                if gram is None or isinstance(kernel, Precomputed):
                    gram = gram_of(self.data.X, kernel, memory_mb)
                elif gram.kernel is not kernel:
                    gram.set_kernel(kernel)
                self.judge(found, gram, class_weight, values.tolist(), report)
            except Exception as error:
                for model in np.flatnonzero(~found.done):
                    self.fail(found, model, error)
            results.append((numbers, found, places))
        return results, gram

    def stop(self, found, model):
        """A model is given up: its score is not known, and not the best."""
        found.columns["stopped"][model] = True
        found.put(found.test, model, {"score": np.nan})

    def is_hopeless(self, error):
        """Whether a model with at least this error is not the best, and no tie of the best."""
        return error > self.least + TIE

    def in_a_job(self, *args):
        """What is found of the candidates of a kernel, by a process or a thread of its own."""
        results, _ = self.of_kernel(*args)
        return results

    def fail(self, found, model, error):
        """A model has no score; or the error is raised."""
        for split in range(self.n_splits):
            self.fail_on(found, model, split, error)
        found.put(found.test, model, dict.fromkeys(self.names, self.error_score))

    def fail_on(self, found, model, split, error):
        """A model has no score on a split; or the error is raised."""
        if isinstance(self.error_score, str):
            raise error
        found.failures[model, split] = error

    def scored(self, found, model, split, left_out, y, metadata):
        """Return the scores by name of a LeftOut, with the labels and the metadata of its rows."""
        try:
            return self.scoring(left_out, y, metadata)
        except Exception as error:
            self.fail_on(found, model, split, error)
            return dict.fromkeys(self.names, self.error_score)
