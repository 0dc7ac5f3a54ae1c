"""The result of leave-one-out: errors and decision values of left-out points, and how each was resolved."""

from dataclasses import dataclass

import numpy as np

from svmselect.errors import WeightedErrors
from svmselect.svm import Solution

__all__ = ["LeaveOneOut"]


@dataclass(frozen=True)
class LeaveOneOut(WeightedErrors):
    """The exact leave-one-out error of one model, or with a `sample` an estimate of it.

    Attributes
    ----------
    errors : ndarray of bool, shape (m,)
        Whether the classifier trained without the point misclassifies it.
    error : float
        Mean of `errors`, weighted by `stands_for`, in [0, 1].
    decision : ndarray, shape (m,)
        With ``decision_values=True`` the decision value of each point by the classifier trained without it.
        By default a value that has its sign: by the classifier with the point (the checks), by one on the way
        to the classifier without it ("certified"), or by the latter ("unlearned", "retrained").
    resolved_by : ndarray of str, shape (m,)
        "check1", "check2", "check3" (sufficiency checks, Table 1 of the paper), "unlearned", "retrained" or
        "certified". With ``decision_values=True`` a point without a path is one of "check1". "" for points
        that `give_up` has left undecided, or that are not in the sample: they do not count as errors.
    n_iter : int
        SMO steps, the full solution's included.
    columns_requested, kernel_values : int
        Gram columns requested, and kernel values computed.
    cpu_s : float
        CPU time, seconds: full solution, checks and retraining; not the Gram matrix where it fits its budget,
        but columns that are computed when they are needed.
    not_converged : ndarray of intp
        The points whose classifier is not known to `tol`, or with ``decision_values=True`` to the gap in the
        notes of `leave_one_out`: steps ran out, or float64 cannot tell more. Their decisions are those
        reached.
    solution : Solution
        The full solution.
    stands_for : ndarray, shape (m,)
        How many points each one stands for. That is 1; with a `sample`, the points of the sample stand for
        all points that no check resolves, and the others of these for none.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import RBF, Gram, leave_one_out
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> y = np.array([-1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    >>> gram = Gram(X, RBF(0.2))
    >>> loo = leave_one_out(gram, y, C=1, decision_values=True)
    >>> loo.decision.round(2)
    array([-0.72, -1.05, -0.32, -0.79,  0.79,  0.32,  1.05,  0.72])
    >>> loo.n_not_converged, loo.given_up
    (0, False)
    """

    errors: np.ndarray
    error: float
    decision: np.ndarray
    resolved_by: np.ndarray
    n_iter: int
    columns_requested: int
    kernel_values: int
    cpu_s: float
    not_converged: np.ndarray
    solution: Solution
    stands_for: np.ndarray

    def _errors_and_counts(self):
        return self.errors, self.stands_for

    @property
    def standard_error(self) -> float:
        """The standard error of `error` from the draw of the sample, without replacement.

        It is 0 without a sample, and NaN for a sample of one point.
        """
        sampled = self.stands_for > 1
        if not sampled.any():
            return 0.0
        n, total = int(np.count_nonzero(sampled)), self.stands_for[sampled].sum()
        share = self.errors[sampled].mean()
        variance = share * (1 - share) / (n - 1) if n > 1 else np.nan
        return float(total * np.sqrt((1 - n / total) * variance) / self.errors.size)

    @property
    def given_up(self) -> bool:
        """Whether points were left undecided by `give_up`, so that `error` is only a lower bound."""
        return bool((self.resolved_by[self.stands_for > 0] == "").any())

    @property
    def n_not_converged(self) -> int:
        """Points that are not known to `tol`, and the full solution if it is not."""
        return self.not_converged.size + (not self.solution.converged)

    @property
    def n_solved(self) -> int:
        """Points that no sufficiency check resolved."""
        return self.n_certified + self.n_retrained + int(np.count_nonzero(self.resolved_by == "unlearned"))

    @property
    def n_retrained(self) -> int:
        """Points solved to the tolerance.

        With method "unlearn" these are points that few steps took to a KKT gap of 1e-9, or whose path met a
        degenerate system, or did not end at an optimum.
        """
        return int(np.count_nonzero(self.resolved_by == "retrained"))

    @property
    def n_certified(self) -> int:
        """Points whose solver stopped because their sign was certain."""
        return int(np.count_nonzero(self.resolved_by == "certified"))
