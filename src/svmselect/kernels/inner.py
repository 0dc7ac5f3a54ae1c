"""Kernels of inner products and of Euclidean distances.

Each panel is a matrix product by BLAS, and one pass over it while it is in the cache.
"""

import numbers
from dataclasses import dataclass

import numpy as np

import svmselect.kernels._panels as _panels
from svmselect.kernels.kernel import Kernel, UnitKernel, positive, real, target
from svmselect.kernels.panels import FEW_FEATURES, Rows, panel_shape, product_panels, weighted_panels

__all__ = ["RBF", "AnisotropicRBF", "Linear", "OfProducts", "Polynomial", "Sigmoid"]


class OfProducts(Kernel):
    """A kernel whose values follow from inner products and squared norms.

    A subclass has ``_finish(products, out, slots, norms, other_norms, d)``, which writes the kernel values of
    row r of the panel to ``out[slots[r]]``. Each product is a sum of d terms.
    """

    def block(self, A, B, out=None, slots=None):
        """Compute a block of kernel values; see `Kernel.block`."""
        out, slots = target(A, B, out, slots)
        for a, b, products in product_panels(A, B):
            self._finish(products, out[:, b], slots[a], A.norms[a], B.norms[b], A.width)
        return out

    def weighted(self, A, weights, B):
        """Compute weighted sums of kernel values; see `Kernel.weighted`."""
        sums = np.zeros(B.n)
        for a, b, products in weighted_panels(A, B):
            self._add(products, weights[a], sums[b], A.norms[a], B.norms[b], A.width)
        return sums

    def _add(self, products, weights, sums, norms, other_norms, d):
        """Add the kernel values of a panel, times the weights of its rows, to the sums."""
        values = np.empty_like(products)
        self._finish(products, values, np.arange(weights.size), norms, other_norms, d)
        _panels.add(values, weights, sums)


@dataclass(frozen=True)
class Linear(OfProducts):
    """The linear kernel, ``k(x, z) = x'z``.

    Its rounding error is at most about ``d u |x| |z|``, with ``u`` the unit round-off of the dtype and ``d``
    the number of features.
    """

    name = "linear"
    moves = True

    def _finish(self, products, out, slots, norms, other_norms, d):
        out[slots] = products

    def _add(self, products, weights, sums, norms, other_norms, d):
        _panels.add(products, weights, sums)

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        return A.norms.astype(np.float64)


@dataclass(frozen=True)
class Polynomial(OfProducts):
    """The polynomial kernel, ``k(x, z) = (gamma x'z + coef0)^degree``.

    Parameters
    ----------
    degree : int
        >= 1.
    gamma : float
        > 0 and finite.
    coef0 : float
        >= 0 and finite: a negative one gives a kernel that is not positive semi-definite.
    """

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 0.0

    name = "poly"

    def __post_init__(self):
        if isinstance(self.degree, bool) or not isinstance(self.degree, numbers.Integral) or self.degree < 1:
            raise ValueError(f"degree must be an integer >= 1, got {self.degree!r}")
        positive(self.gamma, "gamma")
        if real(self.coef0, "coef0") < 0:
            raise ValueError(f"coef0 must not be negative for a polynomial kernel, got {self.coef0!r}")

    def _finish(self, products, out, slots, norms, other_norms, d):
        products *= self.gamma
        products += self.coef0
        out[slots] = _integer_power(products, int(self.degree))

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        return _integer_power(self.gamma * A.norms.astype(np.float64) + self.coef0, int(self.degree))


@dataclass(frozen=True)
class Sigmoid(OfProducts):
    """The sigmoid kernel, ``k(x, z) = tanh(gamma x'z + coef0)``, which is not positive semi-definite.

    Training finds a point where no pair of alphas can gain, as LIBSVM does; it need not be an optimum.

    Parameters
    ----------
    gamma : float
        > 0 and finite.
    coef0 : float
        Finite.
    """

    gamma: float = 1.0
    coef0: float = 0.0

    name = "sigmoid"
    definite = False

    def __post_init__(self):
        positive(self.gamma, "gamma")
        real(self.coef0, "coef0")

    def _finish(self, products, out, slots, norms, other_norms, d):
        products *= self.gamma
        products += self.coef0
        out[slots] = np.tanh(products, out=products)

    def diagonal(self, A: Rows) -> np.ndarray:
        """Return ``k(x, x)`` of each row: float64 of shape (n,)."""
        return np.tanh(self.gamma * A.norms.astype(np.float64) + self.coef0)


@dataclass(frozen=True)
class RBF(UnitKernel, OfProducts):
    """The radial basis function kernel, ``k(x, z) = exp(-gamma |x - z|^2)``.

    Squared distances are computed as ``|x|^2 + |z|^2 - 2 x.z`` in the dtype of the rows, with norms that are
    rounded only once. With ``u`` the unit round-off of the dtype, ``d`` the number of features and ``S =
    |x|^2 + |z|^2``, and where nothing underflows, rounding adds at most about ``(d + 2) u S`` to the distance
    of close rows; distances up to ``(d + 3) u S`` cannot be told from zero and are set to zero, so identical
    rows have a kernel value of exactly 1. Altogether a squared distance is within ``(2 d + 5) u S`` of the
    true one, and a kernel value within ``gamma (2 d + 5) u S + 3 u``; values below 1e-37 (float32) or 1e-307
    (float64) are 0.

    Parameters
    ----------
    gamma : float
        Inverse squared width, > 0 and finite.


    Examples
    --------
    >>> import numpy as np
    >>> from svmselect import Gram, RBF
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    >>> Gram(X, RBF(0.5)).matrix().round(3)
    array([[1.   , 0.607, 0.607],
           [0.607, 1.   , 0.368],
           [0.607, 0.368, 1.   ]])
    """

    gamma: float

    name = "rbf"
    stationary = True

    def __post_init__(self):
        positive(self.gamma, "gamma")

    def _finish(self, products, out, slots, norms, other_norms, d):
        _panels.rbf(products, out, slots, norms, other_norms, self.gamma, _clip_of(products.dtype, d))

    def weighted(self, A: Rows, weights: np.ndarray, B: Rows) -> np.ndarray:
        """Compute weighted sums of kernel values; see `Kernel.weighted`."""
        if A.sparse or A.width <= FEW_FEATURES or A.n == 0 or B.n == 0:
            return super().weighted(A, weights, B)
        # one compiled call for all panels
        sums, scratch = np.zeros(B.n), np.empty(panel_shape(A, B), dtype=A.dtype)
        clip = _clip_of(A.dtype, A.width)
        _panels.rbf_add_of_rows(
            A.packed, B.packed, weights, sums, A.norms, B.norms, self.gamma, clip, scratch
        )
        return sums

    def _add(self, products, weights, sums, norms, other_norms, d):
        clip = _clip_of(products.dtype, d)
        _panels.rbf_add(products, weights, sums, norms, other_norms, self.gamma, clip)


@dataclass(frozen=True)
class AnisotropicRBF(UnitKernel):
    """The RBF kernel with a width for each feature, ``k(x, z) = exp(-sum_j gamma_j (x_j - z_j)^2)``.

    Parameters
    ----------
    gammas : sequence of float, length d
        One for each feature, finite and not negative; 0 leaves the feature out.
    """

    gammas: tuple[float, ...]

    name = "anisotropic rbf"
    stationary = True

    def __post_init__(self):
        gammas = tuple(real(gamma, f"gamma {j} of gammas") for j, gamma in enumerate(self.gammas))
        if not gammas or min(gammas) < 0:
            raise ValueError(f"gammas must be numbers >= 0, one for each feature, got {self.gammas!r}")
        object.__setattr__(self, "gammas", gammas)

    def check(self, rows: Rows, name: str = "X") -> None:
        """Raise a ValueError unless there is a gamma for each feature."""
        if rows.d != len(self.gammas):
            raise ValueError(f"{name} has {rows.d} features, and the kernel {len(self.gammas)} gammas")

    def block(
        self, A: Rows, B: Rows, out: np.ndarray | None = None, slots: np.ndarray | None = None
    ) -> np.ndarray:
        """Compute a block of kernel values of rows that are scaled each time; see `Kernel.block`."""
        factors = np.sqrt(np.array(self.gammas))
        return RBF(1.0).block(A.scaled(factors), B.scaled(factors), out, slots)


def _integer_power(values, exponent):
    """Compute ``values ** exponent`` for an exponent >= 1, by repeated squaring."""
    power = None
    while True:
        if exponent % 2:
            power = values if power is None else power * values
        exponent //= 2
        if not exponent:
            return power
        values = values * values


def _clip_of(dtype, d):
    """Return the share of the norms' sum up to which a squared distance of d features may be round-off."""
    return (d + 3) * np.finfo(dtype).eps / 2
