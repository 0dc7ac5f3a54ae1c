"""The same problem said otherwise: other units, another order, another form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from fuzz.drawn_problems import Problem, rounded_to
from fuzz.truth import EPS, LONG, Truth
from scipy import sparse

from svmselect import Gram

FEW_COLUMNS = 9  # budget of a small matrix


@dataclass(frozen=True)
class Said:
    """A problem said otherwise.

    Attributes
    ----------
    problem : Problem
        What the library is asked; rows, labels, bounds and kernel.
    base : Problem
        What it means.
    rows : ndarray of intp
        The row of `base` that each row is.
    sign : float
        -1 where labels are swapped.
    factor : float
        What alphas are multiplied by.
    scale : float
        What features are multiplied by.
    offset : ndarray, shape (d,), or None
        What is added to them then.
    order : ndarray of intp, shape (d,), or None
        The feature of `base` that each one is.
    form : callable
        Makes what is passed of the rows.
    few : bool
        Whether the matrix has a budget of a few columns.
    """

    problem: Problem
    base: Problem
    rows: np.ndarray
    sign: float = 1.0
    factor: float = 1.0
    scale: float = 1.0
    offset: np.ndarray | None = None
    order: np.ndarray | None = None
    form: object = np.asarray
    few: bool = False

    @property
    def X(self):
        return self.form(self.problem.X)

    @property
    def y(self):
        return self.problem.y

    @property
    def C(self):
        return self.problem.C

    def gram(self, dtype="float64"):
        """A new Gram matrix."""
        memory = {}
        if self.few:
            padded = -(-self.problem.m // 64) * 64
            memory["memory_mb"] = FEW_COLUMNS * 8 * padded / 2**20
        return Gram(self.X, self.problem.kernel, dtype=dtype, **memory)

    @cached_property
    def truth(self):
        """That of `base` for a Gram matrix of all rows."""
        return self.measured_from(self.gram().origin)

    def measured_from(self, origin):
        """The Truth of `base` for a library that measures the rows from a point; None for 0."""
        d = self.base.X.shape[1]
        point = np.zeros(d, dtype=LONG)
        point[slice(None) if self.order is None else self.order] = (
            (0 if origin is None else origin) - (LONG(0) if self.offset is None else self.offset)
        ) / LONG(self.scale)
        exact = np.frexp(self.scale)[0] == 0.5
        return Truth(self.base, point, inexact=0.0 if exact else float(EPS))

    def bounds(self, left_out, C=None):
        """Bounds in `base` without some of the rows, given as a mask; all are `C`, or the problem's."""
        bounds = np.where(left_out, 0, self.problem.C if C is None else C) / self.factor
        return np.bincount(self.rows, bounds, self.base.m)

    def alphas(self, alpha):
        """Those of `base`."""
        return np.bincount(self.rows, np.asarray(alpha) / self.factor, self.base.m)


def same(base, number, **changes):
    return Said(base, base, np.arange(base.m), **changes)


def units(base, s):
    """Rows times s, which is a power of two or not."""
    gamma, C = base.gamma, base.C
    if gamma is None:
        C = C / s**2
        factor = s**-2
    else:
        gamma, factor = gamma / s**2, 1.0
    return Said(Problem(base.X * s, base.y, C, gamma), base, np.arange(base.m), factor=factor, scale=s)


def binary_units(base, number):
    return units(base, 2.0 ** (number % 81 - 40))


def decimal_units(base, number):
    return units(base, 10.0 ** (number % 25 - 12))


def permuted_rows(base, number):
    rows = np.random.default_rng(number).permutation(base.m)
    problem = Problem(np.ascontiguousarray(base.X[rows]), base.y[rows], base.C[rows], base.gamma)
    return Said(problem, base, rows)


def permuted_features(base, number):
    order = np.random.default_rng(number).permutation(base.X.shape[1])
    problem = replace(base, X=np.ascontiguousarray(base.X[:, order]))
    return replace(same(base, 0), problem=problem, order=order)


def swapped_labels(base, number):
    return replace(same(base, 0), problem=replace(base, y=-base.y), sign=-1.0)


def repeated_rows(base, number):
    """Each row twice, with half of its bound."""
    rows = np.random.default_rng(number).permutation(np.repeat(np.arange(base.m), 2))
    problem = Problem(np.ascontiguousarray(base.X[rows]), base.y[rows], base.C[rows] / 2, base.gamma)
    return Said(problem, base, rows)


def moved_rows(base, number):
    """Another origin, up to 2^20 spreads away."""
    rng = np.random.default_rng(number)
    spread = 2.0 ** np.ceil(np.log2(np.ptp(base.X, axis=0).max() or 1.0))
    offset = spread * np.round(rng.uniform(-1, 1, base.X.shape[1]) * 2.0 ** rng.integers(3, 21))
    base = rounded_to(base, offset)
    return replace(same(base, 0), problem=replace(base, X=base.X + offset), offset=offset)


def as_csr(base, number):
    return same(base, 0, form=sparse.csr_array)


def single_precision(base, number):
    """Rows that float32 holds, passed as such."""
    base = replace(base, X=base.X.astype(np.float32).astype(float))
    return same(base, 0, form=lambda X: X.astype(np.float32))


FORMS = {
    "fortran": np.asfortranarray,
    "big endian": lambda X: X.astype(">f8"),
    "lists": lambda X: X.tolist(),
    "csc": lambda X: sparse.csc_array(X),
    "every other": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


def other_form(base, number):
    return same(base, 0, form=FORMS[sorted(FORMS)[number % len(FORMS)]])


def few_columns(base, number):
    return same(base, 0, few=True)


WAYS = {
    "as it is": same,
    "binary units": binary_units,
    "decimal units": decimal_units,
    "permuted rows": permuted_rows,
    "permuted features": permuted_features,
    "swapped labels": swapped_labels,
    "repeated rows": repeated_rows,
    "moved rows": moved_rows,
    "csr": as_csr,
    "single precision": single_precision,
    "other form": other_form,
    "few columns": few_columns,
}
