"""The declaration of an estimator of the test error; there is one in each file of ``estimators/``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from svmselect import Gram, Solution, Sphere
from svmselect.bounds.estimate import SingleFit

# the method in rows of the fit on all points and its errors on the test rows
TEST = "test"
FOLDER = Path(__file__).with_name("estimators")


@dataclass(frozen=True)
class Model:
    """The argument of an estimator: a model, its training rows and its fit."""

    gram: Gram  # the training rows' matrix, computed
    y: np.ndarray  # labels -1.0 and +1.0, shape (m,)
    C: float
    solution: Solution | None  # the fit on all points; None if it failed
    sphere: Sphere | None  # the smallest one around the points, if the estimator needs it
    folds: np.ndarray | None  # the fold of each point, shape (m,), of an estimator `needs_folds`
    options: dict[str, Any]  # ``tol`` and ``max_iter`` of solvers


@dataclass(frozen=True)
class Estimator:
    """An estimator of the test error: what runs it, and what tables and figures say of it."""

    # Called with a `Model` under the clock. It returns an object with ``errors`` (bool, shape (m,)), or with
    # ``bound`` (float) if it `is_bound`. Its ``n_iter``, ``n_empty``, ``n_dependent``, ``n_without_span`` and
    # ``n_not_converged`` are recorded if it has them.
    run: Callable[[Model], Any]
    order: int  # its place in tables and figures
    # for readers, in a line of a table and above a column; with ``{k}`` for the folds if it is `needs_folds`
    name: str
    short: str
    assumption: str = ""  # a sentence for notes below tables; empty: nothing that an SVM may break
    is_bound: bool = False  # whether its values are bounds that may exceed 1, and no error rates
    needs_fit: bool = True  # on all points
    needs_sphere: bool = False  # the smallest one
    # run for every number of folds k of the configuration; it is then several estimators ``<key>_<k>``
    needs_folds: bool = False
    # The column of that name in its rows: whether its errors are estimated from the fit ("train"), found by
    # leaving one point out at a time ("loo"), or by leaving folds out ("cv"). An estimate from a fit that did
    # not converge has not converged either.
    fold: str = "train"


def single_fit_estimator(declared: SingleFit, order: int) -> Estimator:
    """Return the estimator that the library declares, with its place in our tables and figures."""

    def run(model: Model):
        return declared.evaluate(model.gram, model.y, model.solution, model.sphere)

    return Estimator(
        run,
        name=declared.name,
        short=declared.short,
        assumption=declared.assumption,
        is_bound=declared.is_bound,
        needs_sphere=declared.needs_sphere,
        order=order,
    )


@cache
def load_estimators() -> dict[str, Estimator]:
    """Return the ``ESTIMATOR`` of every file in ``estimators/``, by the name of the file, in their order."""
    keys = [path.stem for path in FOLDER.glob("[!_]*.py")]
    estimators = {key: import_module(f"papers.comparison.estimators.{key}").ESTIMATOR for key in keys}
    return dict(sorted(estimators.items(), key=lambda item: (item[1].order, item[0])))


def estimator_of(method: str) -> tuple[Estimator, str]:
    """Return the estimator of a method in tidy rows, and the number of folds as text, empty if it has
    none."""
    estimators = load_estimators()
    if method in estimators and not estimators[method].needs_folds:
        return estimators[method], ""
    key, _, k = method.rpartition("_")
    if key in estimators and estimators[key].needs_folds:
        return estimators[key], k
    raise ValueError(f"unknown estimator {method!r}; those in {FOLDER} are: {', '.join(estimators)}")
