"""Sums and products of kernels, and kernels from a user's function."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from svmselect.kernels.kernel import Kernel, positive, target
from svmselect.kernels.panels import Rows

__all__ = ["Custom", "Product", "Sum"]

TRIED = 32  # rows on which a user's function is tried
# The two halves of a symmetric matrix may differ by this, relative to the largest value.
ASYMMETRIC = 1e-5


class _Combined(Kernel):
    """Base of sums and products of kernels; a subclass computes a block of ``_values(A, B)``."""

    @property
    def stationary(self):
        """Whether moving all rows alike changes no value, which holds if it holds for all parts."""
        return all(part.stationary for part in self.parts)

    @property
    def definite(self):
        """Whether the kernel is positive semi-definite, which holds if it holds for all parts."""
        return all(part.definite for part in self.parts)

    @property
    def has_function(self):
        """Whether a user's function is among the parts."""
        return any(part.has_function for part in self.parts)

    def check(self, rows, name="X"):
        """Raise a ValueError if one of the parts does not accept these rows."""
        for part in self.parts:
            part.check(rows, name)

    def block(self, A, B, out=None, slots=None):
        """Compute a block of kernel values; see `Kernel.block`."""
        out, slots = target(A, B, out, slots)
        out[slots] = self._values(A, B)
        return out


@dataclass(frozen=True)
class Sum(_Combined):
    """The kernel ``sum_i w_i k_i(x, z)``, also written ``w_1 * k_1 + k_2 + ...``.

    Parameters
    ----------
    parts : tuple of Kernel
    weights : tuple of float
        Positive, one for each kernel; all 1 by default.


    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import Gram, RBF, Linear
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> Gram(X, RBF(0.5) + 0.1 * Linear()).matrix().round(3)
    array([[1.   , 0.607, 0.607],
           [0.607, 1.1  , 0.368],
           [0.607, 0.368, 1.1  ]])
    """

    parts: tuple[Kernel, ...]
    weights: tuple[float, ...] = ()

    name = "sum"

    def __post_init__(self):
        weights = tuple(self.weights) or (1.0,) * len(self.parts)
        _check_parts(self.parts)
        if len(weights) != len(self.parts):
            raise ValueError(
                f"weights must be {len(self.parts)} numbers, one for each kernel, got {weights!r}"
            )
        for weight in weights:
            positive(weight, "the weight of a kernel")
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "weights", weights)

    @property
    def radius(self) -> float | None:  # type: ignore[override]
        """The weighted sum of the parts' bounds of ``k(x, x) - k(x, z)``; None if a part has none."""
        bounds = [part.radius for part in self.parts if part.radius is not None]
        return float(np.dot(self.weights, bounds)) if len(bounds) == len(self.parts) else None

    @staticmethod
    def join(left, right):
        """Return the sum of two kernels, which may be sums."""
        left, right = (kernel if isinstance(kernel, Sum) else Sum((kernel,)) for kernel in (left, right))
        return Sum(left.parts + right.parts, left.weights + right.weights)

    def _values(self, A, B):
        return sum(weight * part.block(A, B) for part, weight in zip(self.parts, self.weights, strict=True))

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        parts = zip(self.parts, self.weights, strict=True)
        return np.asarray(sum(weight * part.diagonal(A) for part, weight in parts))


@dataclass(frozen=True)
class Product(_Combined):
    """The kernel ``k_1(x, z) k_2(x, z) ...``, also written ``k_1 * k_2``.

    Parameters
    ----------
    parts : tuple of Kernel
    """

    parts: tuple[Kernel, ...]

    name = "product"

    def __post_init__(self):
        _check_parts(self.parts)
        object.__setattr__(self, "parts", tuple(self.parts))

    @staticmethod
    def join(left, right):
        """Return the product of two kernels, which may be products."""
        left, right = (k if isinstance(k, Product) else Product((k,)) for k in (left, right))
        return Product(left.parts + right.parts)

    def _values(self, A, B):
        values = self.parts[0].block(A, B)
        for part in self.parts[1:]:
            values *= part.block(A, B)
        return values

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        return np.prod([part.diagonal(A) for part in self.parts], axis=0)


@dataclass(frozen=True)
class Custom(Kernel):
    """A kernel from a user's function.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` gets float64 rows, shape (n, d) and (s, d), dense or CSR as the data are, and
        returns their kernel values, shape (n, s), dense or sparse. It has to be symmetric and positive
        semi-definite, and the value of a pair must not depend on the other rows. It is called with blocks of
        rows, from several threads.

    Raises
    ------
    ValueError
        If it is no function, or, when it is used, if its values have another shape, are not finite, or are
        not symmetric on the first rows.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import Custom, Gram
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> def one_more(A, B):
    ...     return 1 + A @ B.T
    ...
    >>> Gram(X, Custom(one_more)).matrix()
    array([[1., 1., 1.],
           [1., 2., 1.],
           [1., 1., 2.]])
    """

    function: Callable
    name: str = field(default="custom", compare=False)

    has_function = True

    def __post_init__(self):
        if not callable(self.function):
            raise ValueError(f"a kernel function must be callable, got {self.function!r}")

    def check(self, rows: Rows, name: str = "X") -> None:
        """Try the function on the first rows."""
        some = rows.take(slice(0, min(rows.n, TRIED)))
        values = self.block(some, some).astype(np.float64)
        off = np.abs(values - values.T)
        i, j = np.unravel_index(off.argmax(), off.shape)
        if off[i, j] > ASYMMETRIC * np.abs(values).max():
            raise ValueError(
                f"the kernel function must be symmetric, got {values[i, j]:g} for rows {i} and {j}, and "
                f"{values[j, i]:g} the other way round"
            )

    def block(
        self, A: Rows, B: Rows, out: np.ndarray | None = None, slots: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute a block of kernel values; see `Kernel.block`."""
        out, slots = target(A, B, out, slots)
        values = self.function(A.X.astype(np.float64), B.X.astype(np.float64))
        values = values.toarray() if sparse.issparse(values) else np.asarray(values)
        if values.shape != (A.n, B.n):
            raise ValueError(
                f"the kernel function must return an array of shape ({A.n}, {B.n}), got {values.shape}"
            )
        if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
            raise ValueError("the kernel function must return finite numbers")
        out[slots] = values
        return out


def _check_parts(parts):
    """Raise a ValueError unless all parts are kernels, and there is at least one."""
    if not parts:
        raise ValueError("a sum or product of kernels needs one at least")
    for part in parts:
        if not isinstance(part, Kernel):
            raise ValueError(f"a sum or product is of kernels, got {part!r}")
