"""The problems of the benchmarks: rows, labels and kernel by name."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from svmselect import RBF, Linear

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "workflow"))  # the data sets of the papers

from data.dataset import Dataset  # noqa: E402
from data.fetch import fetch  # noqa: E402
from data.prepare import prepare  # noqa: E402
from data.registry import load_registry  # noqa: E402
from data.synthetic import GENERATORS  # noqa: E402

__all__ = [
    "KERNELS",
    "PROBLEMS",
    "ROOT",
    "SET_ASIDE",
    "SLOW_LINEAR",
    "Problem",
    "kernel_of",
    "load_problem",
    "make_data",
    "registered",
]

# name: data set of the registry, and how many of its first rows (None: all)
REGISTERED = {
    "heart": ("heart", None),
    "diabetis": ("diabetis", None),
    "image": ("image", None),
    "german": ("german", None),
    "splice": ("splice", None),
    "a9a-5000": ("adult", 5_000),
    "a9a-10000": ("adult", 10_000),
    "a9a": ("adult", None),
    "w8a": ("webdata", None),
    **{
        f"covtype-{rows}": ("forest", rows)
        for rows in (1_000, 3_000, 10_000, 25_000, 50_000, 100_000, 200_000)
    },
    "covtype": ("forest", None),
    **{
        name: (name, None) for name in ("a1a", "madelon", "mnist-3v8", "parkinson", "thyroid", "usps", "wdbc")
    },
}
# by means and deviations of the rows that are taken
STANDARDISED = ("forest", "madelon", "mnist-3v8", "parkinson", "wdbc")
PROBLEMS = [
    *("german", "image", "a9a-5000", "ringnorm-5000", "waveform-5000", "a9a-10000"),
    *("ringnorm-30000", "waveform-30000", "a9a", "w8a"),
]
# on which nothing was tuned: they are measured when the code is finished
SET_ASIDE = ["thyroid", "wdbc", "parkinson", "splice", "a1a", "madelon", "usps", "mnist-3v8"]
KERNELS = ("rbf", "linear")
# on these LIBSVM needs ten minutes to hours for one fit with a linear kernel and C = 100
SLOW_LINEAR = ["ringnorm-30000", "waveform-30000", "a9a", "w8a", "madelon", "usps", "mnist-3v8"]
TEST_ROWS = 10_000  # of a generated problem


@dataclass(frozen=True)
class Problem:
    """Training and test part of a problem; features dense float64 or CSR, labels -1.0 and +1.0."""

    name: str
    X: np.ndarray | sparse.csr_matrix
    y: np.ndarray
    X_test: np.ndarray | sparse.csr_matrix
    y_test: np.ndarray


def kernel_of(name, d):
    """The kernel "linear", or "rbf" with gamma = 1/d for d features; "rbf-5" has five times that."""
    if name == "linear":
        return Linear()
    width = re.fullmatch(r"rbf(?:-([0-9.]+))?", name)
    if width is None:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, or rbf-<factor>, got {name!r}")
    return RBF(float(width[1] or 1) / d)


def make_data(name):
    """Make the prepared file of a problem's data set, where it has one and it is not there yet."""
    check_name(name)
    if name in REGISTERED:
        registered(REGISTERED[name][0])


def registered(dataset):
    """A data set of the registry; its prepared file is made where it is not there yet.

    It lies where the workflow has it (``resources/data``); raw files come from the mirror that the
    environment variable SVMSELECT_MIRROR names, else from upstream.
    """
    if not prepared_file(dataset).exists():
        entry = load_registry(ROOT / "config" / "datasets.yaml")[dataset]
        raw = ROOT / "resources" / "raw" / dataset
        fetch(entry, raw)
        prepare(entry, raw, prepared_file(dataset))
    return Dataset.load(prepared_file(dataset))


def load_problem(name):
    """Load a problem.

    Parameters
    ----------
    name : str
        One of `PROBLEMS`, a generator with a number of rows, as in "twonorm-400", or "mixture" with numbers
        of features and rows, as in "mixture-20-400". A registered set needs
        `make_data` first; it is taken with its first realisation. A generated one is drawn with seed 1, its
        test part with seed 2, and both are scaled by the means and deviations (n - 1) of the training part.

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        For another name, or a data set that is not prepared.
    """
    check_name(name)
    if name in REGISTERED:
        dataset, rows = REGISTERED[name]
        X, y, X_test, y_test, _ = Dataset.load(prepared_file(dataset)).realisation(1)
        if name == "covtype":  # every row that there is, the test part among them
            whole = Dataset.load(prepared_file(dataset))
            X, y = whole.X, whole.y
        X, y = X[:rows], y[:rows]
        if dataset in STANDARDISED:
            X, X_test = standardised(X, X_test)
    elif name.startswith("mixture-"):
        d, rows = map(int, name.split("-")[1:])
        X, y = mixture(rows, d, seed=1)
        X_test, y_test = mixture(TEST_ROWS, d, seed=2)
        X, X_test = standardised(X, X_test)
    else:
        generator, rows = name.rsplit("-", 1)
        X, y = GENERATORS[generator](int(rows), seed=1)
        X_test, y_test = GENERATORS[generator](TEST_ROWS, seed=2)
        X, X_test = standardised(X, X_test)
    return Problem(name, X, y.astype(np.float64), X_test, y_test.astype(np.float64))


def mixture(rows, d, seed):
    """Rows of twelve normal distributions in d dimensions, labelled in turn, 5 % of them wrongly."""
    centres = np.random.default_rng(0).normal(size=(12, d))
    rng = np.random.default_rng(seed)
    component = rng.integers(0, 12, rows)
    y = np.where((component % 2 == 0) ^ (rng.random(rows) < 0.05), 1.0, -1.0)
    y[:2] = -1, 1
    return centres[component] + rng.normal(size=(rows, d)), y


def standardised(X, X_test):
    """Both by the means and deviations (n - 1) of the first; a constant feature becomes 0."""
    mean, deviation = X.mean(axis=0), X.std(axis=0, ddof=1)
    deviation[deviation == 0] = 1
    return (X - mean) / deviation, (X_test - mean) / deviation


def prepared_file(dataset):
    return ROOT / "resources" / "data" / f"{dataset}.npz"


def check_name(name):
    """A ValueError unless there is a problem of that name."""
    generated = re.fullmatch(rf"({'|'.join(GENERATORS)}|mixture-[1-9][0-9]*)-([0-9]+)", name)
    if name not in REGISTERED and not (generated and int(generated[2]) >= 2):
        raise ValueError(
            f"problem must be one of {', '.join(PROBLEMS)} "
            f"or <generator>-<rows> with a generator of {', '.join(GENERATORS)} or mixture-<features>, "
            f"got {name!r}"
        )
