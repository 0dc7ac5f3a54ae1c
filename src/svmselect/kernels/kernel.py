"""The interface of kernels."""

import numbers
from typing import Any

import numpy as np

import svmselect.kernels._panels as _panels
from svmselect.kernels.panels import BLOCK_ROWS, Rows, slices

__all__ = ["Kernel", "UnitKernel", "positive", "real", "target"]


class Kernel:
    """A positive semi-definite function of two rows, and the protocol that `Gram` and the estimators use.

    A kernel is a small frozen dataclass. A new one inherits from this class and defines at least `block`;
    with the base classes of `kernels.inner` and `kernels.pairwise` it defines one pass over a panel instead.
    Kernels can be added, multiplied, and multiplied by a positive number.

    Attributes
    ----------
    name : str
        The name in the estimators' parameters.
    stationary : bool
        Whether moving all rows alike changes no value.
    moves : bool
        Whether moving all rows alike changes no SVM with a threshold. Then a Gram matrix measures rows that
        lie far from 0 from another point, which saves digits.
    definite : bool
        Whether the kernel is positive semi-definite. Training accepts an indefinite kernel, as LIBSVM does;
        leave-one-out and the estimates refuse it.
    has_function : bool
        Whether a user's function is part of the kernel. Only its values show whether it is positive
        semi-definite; see `Gram.is_definite`.
    radius : float or None
        A bound of ``k(x, x) - k(x, z)`` over all rows; None where that depends on the rows.

    Examples
    --------
    >>> from svmselect import RBF, Linear
    >>> from svmselect.kernels import Kernel
    >>> isinstance(RBF(0.5) + Linear(), Kernel)
    True
    >>> RBF(0.5).is_definite()
    True
    """

    name = "kernel"
    stationary = False
    definite = True
    has_function = False
    radius: float | None = None

    @property
    def moves(self) -> bool:
        """Whether moving all rows alike changes no SVM with a threshold."""
        return self.stationary

    def check(self, rows: Rows, name: str = "X") -> None:
        """Raise a ValueError if the kernel does not accept these Rows."""

    def is_definite(self) -> bool:
        """Return whether the kernel is positive semi-definite; a subclass may look at values."""
        return self.definite

    def check_definite(self) -> None:
        """Raise a ValueError unless the kernel is positive semi-definite."""
        if not self.is_definite():
            raise ValueError(
                "leave-one-out, unlearning and estimates need a positive semi-definite kernel, and "
                f"{self!r} need not be one: use k-fold cross-validation with another seeding"
            )

    def block(
        self, A: Rows, B: Rows, out: np.ndarray | None = None, slots: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute kernel values between Rows of one dtype, both dense or both sparse: ``k(A_r, B_c)``.

        They go to ``out[slots[r], c]``, where by default `out` is a new array of shape (A.n, B.n), and
        slots[r] is r. The values of a row of `out` have to lie together, rows may lie apart. It is returned.
        """
        raise NotImplementedError

    def weighted(self, A: Rows, weights: np.ndarray, B: Rows) -> np.ndarray:
        """Compute ``sum over r of weights[r] k(A_r, B_c)``, panel by panel: shape (B.n,).

        Weights and sums are in float64, kernel values of the rows' dtype; for A and B see `block`.
        """
        sums = np.zeros(B.n)
        for a in slices(A.n, BLOCK_ROWS):
            chosen = A.take(a)
            for b in slices(B.n, BLOCK_ROWS):
                _panels.add(self.block(chosen, B.take(b)), weights[a], sums[b])
        return sums

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        rows = (A.take(slice(r, r + 1)) for r in range(A.n))
        return np.array([self.block(row, row)[0, 0] for row in rows], dtype=np.float64)

    def __add__(self, other: Any) -> "Kernel":
        from svmselect.kernels.combined import Sum

        return Sum.join(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        from svmselect.kernels.combined import Product, Sum

        if isinstance(other, Kernel):
            return Product.join(self, other)
        return Sum((self,), (float(other),)) if isinstance(other, numbers.Real) else NotImplemented

    __rmul__ = __mul__


class UnitKernel(Kernel):
    """A kernel with ``k(x, x) = 1`` and values that are not negative."""

    radius = 1.0

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x) = 1`` of each row: float64 of shape (n,)."""
        return np.ones(A.n)


def target(A, B, out, slots):
    """Return the arguments `out` and `slots` of `Kernel.block` with their defaults."""
    if out is None:
        out = np.empty((A.n, B.n), dtype=A.dtype)
    return out, np.arange(A.n) if slots is None else slots


def real(value, name):
    """Return a finite number as float; raise a ValueError for other values."""
    if isinstance(value, bool) or not (isinstance(value, numbers.Real) and np.isfinite(value)):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def positive(value, name):
    """Raise a ValueError unless `value` is a positive finite number."""
    if not (isinstance(value, numbers.Real) and np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")
