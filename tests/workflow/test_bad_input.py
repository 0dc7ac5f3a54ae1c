"""Bad input to the library and to the configuration is refused by name and value, in one line."""

import re

import numpy as np
import pytest
import yaml
from data.dataset import Dataset
from lib.config import check_datasets, check_writable, complete_config
from lib.papers import load_papers
from scipy import sparse

from svmselect import (
    RBF,
    Gram,
    bagging,
    condense,
    cross_validate,
    cross_validate_grid,
    decision_function,
    even_folds,
    leave_one_out,
    multiedit,
    radius_margin,
    smallest_enclosing_sphere,
    solve_csvc,
    solve_nusvc,
    solve_path,
    span_rule,
    stratified_folds,
)
from svmselect.sklearn import CrossTrainingSVC

X = np.random.default_rng(0).standard_normal((12, 2))
Y = np.tile([-1, 1], 6)
MANY = np.random.default_rng(0).standard_normal((1000, 2))
GRAM, HALF = Gram(X, RBF(1.0)), Gram(X[:6], RBF(1.0))
SOLUTION = solve_csvc(GRAM, Y, 1.0)


def with_value(array, place, value):
    """A copy as floats with one value changed."""
    array = np.array(array, dtype=float)
    array[place] = value
    return array


def says(message, text):
    """Return whether a message of one line holds a text as a word or a number of its own."""
    return "\n" not in message and re.search(rf"(?<![\w.]){re.escape(text)}(?![\w])", message) is not None


# calls, and the argument and the value that the error names (an IndexError where a row does not exist)
LIBRARY = [
    (lambda: Gram("rows", RBF(1.0)), "X", "'rows'"),
    (lambda: Gram([["a", "b"]], RBF(1.0)), "X", "'a'"),
    (lambda: Gram(X * 1j, RBF(1.0)), "X", "complex ones"),
    (lambda: Gram(X[0], RBF(1.0)), "X", "shape (2,)"),
    (lambda: Gram(X[:0], RBF(1.0)), "X", "shape (0, 2)"),
    (lambda: Gram(X[:, :0], RBF(1.0)), "X", "shape (12, 0)"),
    (lambda: Gram(with_value(X, (2, 1), np.nan), RBF(1.0)), "X", "row 2, feature 1"),
    (lambda: Gram(sparse.csr_matrix(with_value(X, (3, 0), np.inf)), RBF(1.0)), "X", "row 3, feature 0"),
    (lambda: Gram(1e200 * np.arange(18.0).reshape(9, 2), RBF(1.0)), "X", "row 0"),
    (lambda: Gram(1e30 * np.arange(18.0).reshape(9, 2), RBF(1.0), dtype="float32"), "X", "row 0"),
    (lambda: Gram(X, "rbf"), "kernel", "'rbf'"),
    (lambda: RBF(0), "gamma", "0"),
    (lambda: RBF(np.nan), "gamma", "nan"),
    (lambda: RBF(np.inf), "gamma", "inf"),
    (lambda: RBF("scale"), "gamma", "'scale'"),
    (lambda: RBF([1.0]), "gamma", "[1.0]"),
    (lambda: Gram(X, RBF(1.0), dtype="int64"), "dtype", "'int64'"),
    (lambda: Gram(X, RBF(1.0), dtype="double precision"), "dtype", "'double precision'"),
    (lambda: Gram(X, RBF(1.0), dtype=None), "dtype", "None"),
    (lambda: Gram(X, RBF(1.0), memory_mb=0), "memory_mb", "0"),
    (lambda: Gram(X, RBF(1.0), memory_mb="1GB"), "memory_mb", "'1GB'"),
    (lambda: Gram(X, RBF(1.0), memory_mb=np.inf), "memory_mb", "inf"),
    (lambda: Gram(MANY, RBF(1.0), memory_mb=0.01), "memory_mb", "0.01"),
    (lambda: Gram(MANY, RBF(1.0), memory_mb=1).matrix(), "memory_mb", "7.8125 MB"),
    (lambda: GRAM.submatrix([0], [99]), "row", "row 99"),
    (lambda: GRAM.restricted([3, 1]), "rows", "0 to 11"),
    (lambda: GRAM.restricted([]), "rows", "0 to 11"),
    (lambda: GRAM.restricted([0.5, 1.5]), "rows", "0 to 11"),
    (lambda: GRAM.restricted([0, 1, 2]).set_kernel(RBF(2.0)), "set_kernel", "restriction"),
    (lambda: GRAM.set_kernel("linear"), "kernel", "'linear'"),
    (lambda: solve_csvc(GRAM, Y[:5], 1.0), "y", "(5,)"),
    (lambda: solve_csvc(GRAM, (Y > 0).astype(int), 1.0), "y", "[0, 1]"),
    (lambda: solve_csvc(GRAM, np.where(Y > 0, "yes", "no"), 1.0), "y", "['no', 'yes']"),
    (lambda: solve_csvc(GRAM, with_value(Y, 3, np.nan), 1.0), "y", "[-1.0, 1.0, nan]"),
    (lambda: solve_csvc(GRAM, np.tile([-1, 1, 2], 4), 1.0), "y", "[-1, 1, 2]"),
    (lambda: solve_csvc(GRAM, np.ones(12), 1.0), "y", "both classes"),
    (lambda: solve_csvc(GRAM, Y[:, None], 1.0), "y", "(12, 1)"),
    (lambda: solve_csvc(GRAM, Y, 0), "C", "0"),
    (lambda: solve_csvc(GRAM, Y, -1.0), "C", "-1.0"),
    (lambda: solve_csvc(GRAM, Y, np.nan), "C", "nan"),
    (lambda: solve_csvc(GRAM, Y, np.inf), "C", "inf"),
    (lambda: solve_csvc(GRAM, Y, "1"), "C", "'1'"),
    (lambda: solve_csvc(GRAM, Y, None), "C", "None"),
    (lambda: solve_csvc(GRAM, Y, np.ones(3)), "C", "shape (3,)"),
    (lambda: solve_csvc(GRAM, Y, with_value(np.ones(12), 2, -1)), "C", "-1.0 at point 2"),
    (lambda: solve_csvc(GRAM, Y, 1.0, tol=0), "tol", "0"),
    (lambda: solve_csvc(GRAM, Y, 1.0, tol="small"), "tol", "'small'"),
    (lambda: solve_csvc(GRAM, Y, 1.0, working_set="wss3"), "working_set", "'wss3'"),
    (lambda: solve_csvc(GRAM, Y, 1.0, working_set=["wss2"]), "working_set", "['wss2']"),
    (lambda: solve_csvc(GRAM, Y, 1.0, max_iter=-1), "max_iter", "-1"),
    (lambda: solve_csvc(GRAM, Y, 1.0, max_iter=1e6), "max_iter", "1000000.0"),
    (lambda: solve_csvc(GRAM, Y, 1.0, start=[0.0]), "start", "(1,)"),
    (lambda: solve_csvc(GRAM, Y, 1.0, start=np.full(12, 2.0)), "start", "2.0 at point 0"),
    (lambda: solve_csvc(GRAM, Y, 1.0, start=np.full(12, np.nan)), "start", "nan at point 0"),
    (lambda: solve_csvc(GRAM, Y, 1.0, start=np.where(Y > 0, 0.5, 0)), "start", "3"),
    (lambda: solve_csvc(GRAM, Y, 1.0, start="warm"), "start", "'warm'"),
    (lambda: solve_csvc(X, Y, 1.0), "gram", "ndarray"),
    (lambda: solve_nusvc(GRAM, Y, 0), "nu", "0"),
    (lambda: solve_nusvc(GRAM, Y, 2), "nu", "2"),
    (lambda: solve_nusvc(GRAM, Y, "half"), "nu", "'half'"),
    (lambda: solve_nusvc(GRAM, with_value(-np.ones(12), 0, 1), 0.5), "nu", "0.5"),
    (lambda: solve_nusvc(GRAM, Y, 0.5, weight=-np.ones(12)), "weight", "-1.0 at point 0"),
    (lambda: solve_nusvc(Gram(np.zeros((12, 2)), RBF(1.0)), Y, 0.5), "nu", "0.5"),
    (lambda: decision_function(GRAM, Y, SOLUTION, np.zeros((3, 5))), "X", "5 features"),
    (lambda: decision_function(GRAM, Y, SOLUTION, np.full((3, 2), np.nan)), "X", "row 0, feature 0"),
    (lambda: decision_function(HALF, Y[:6], SOLUTION, X), "solution", "12 rows"),
    (lambda: decision_function(GRAM, Y, SOLUTION, X[:0]), "X", "shape (0, 2)"),
    (lambda: list(solve_path(GRAM, Y, [])), "Cs", "shape (0,)"),
    (lambda: list(solve_path(GRAM, Y, [1, -1])), "Cs", "-1.0"),
    (lambda: list(solve_path(GRAM, Y, 1.0)), "Cs", "shape ()"),
    (lambda: list(solve_path(GRAM, Y, ["a"])), "Cs", "['a']"),
    (lambda: list(solve_path(GRAM, Y, [1.0], warm_start="hot")), "warm_start", "'hot'"),
    (lambda: list(solve_path(GRAM, Y, [1.0], warm_start="gamma")), "warm_start", "None"),
    (lambda: list(solve_path(GRAM, Y, [1.0], gammas=[0.0])), "gammas", "0.0"),
    (lambda: leave_one_out(GRAM, Y, 1.0, method="exact"), "method", "'exact'"),
    (lambda: leave_one_out(GRAM, Y, with_value(np.ones(12), 2, 0)), "C", "0 at point 2"),
    (lambda: leave_one_out(GRAM, Y, 1.0, efficiency_test=-1), "efficiency_test", "-1"),
    (lambda: cross_validate(GRAM, Y, 1.0, 1), "folds", "1"),
    (lambda: cross_validate(GRAM, Y, 1.0, 2.5), "folds", "2.5"),
    (lambda: cross_validate(GRAM, Y, 1.0, "five"), "folds", "'five'"),
    (lambda: cross_validate(GRAM, Y, 1.0, [0, 1]), "folds", "(2,)"),
    (lambda: cross_validate(GRAM, Y, 1.0, np.linspace(0, 2, 12)), "folds", "(12,)"),
    (lambda: cross_validate(GRAM, Y, 1.0, np.tile([-1, 0, 1], 4)), "folds", "-1"),
    (lambda: cross_validate(GRAM, Y, 1.0, np.tile([0, 0, 2], 4)), "folds", "fold 1"),
    (lambda: cross_validate(GRAM, Y, 1.0, (Y > 0).astype(int)), "folds", "both classes"),
    (lambda: cross_validate(GRAM, Y, 1.0, 3, "warm"), "seeding", "'warm'"),
    (lambda: cross_validate(GRAM, Y, 1.0, 3, rounds=4), "rounds", "4"),
    (lambda: cross_validate(GRAM, Y, with_value(np.ones(12), 2, 0), 3), "C", "0 at point 2"),
    (lambda: cross_validate_grid(GRAM, Y, [0.0], folds=3), "Cs", "0.0"),
    (lambda: cross_validate_grid(GRAM, np.ones(12), [1.0], folds=3), "y", "both classes"),
    (lambda: stratified_folds(Y[:, None], 3), "y", "shape (12, 1)"),
    (lambda: even_folds(3, 5), "folds", "5"),
    (lambda: stratified_folds(Y, 3, "seed"), "seed", "'seed'"),
    (lambda: span_rule(HALF, Y[:6], SOLUTION), "solution", "12 rows"),
    (lambda: span_rule(GRAM, Y, None), "solution", "NoneType"),
    (lambda: smallest_enclosing_sphere(GRAM, points=[99]), "points", "99"),
    (lambda: smallest_enclosing_sphere(GRAM, points=[0.5]), "points", "(1,)"),
    (lambda: radius_margin(GRAM, Y, SOLUTION, sphere="unit"), "sphere", "'unit'"),
    (lambda: bagging(X, Y, RBF(1.0), [], n_subsets=2), "C", "shape (0,)"),
    (lambda: bagging(X, Y, RBF(1.0), 1.0, n_subsets=0), "n_subsets", "0"),
    (lambda: bagging(X, Y, RBF(1.0), 1.0, n_subsets=2, validation=12), "validation", "12"),
    (lambda: condense(X, np.ones(12)), "y", "both classes"),
    (lambda: multiedit(X, Y, 1), "parts", "1"),
    (lambda: CrossTrainingSVC(kernel="cosine").fit(X, Y), "kernel", "'cosine'"),
    (lambda: CrossTrainingSVC().fit(X, np.ones(12)), "y", "1 class: 1.0"),
    (lambda: Dataset.load("nowhere.npz"), "data set", "nowhere.npz"),
]


@pytest.mark.parametrize(("call", "name", "value"), LIBRARY)
def test_library(call, name, value):
    with pytest.raises((ValueError, IndexError, MemoryError)) as caught:
        call()
    assert says(str(caught.value), name) and says(str(caught.value), value)


# dotted keys of the demo's configuration, values (...: the key is missing), and the place and the text that
# the error names
CONFIG = [
    ("presett", "x", "top level", "'presett'"),
    ("preset", "My Preset", "preset", "'My Preset'"),
    ("preset", ..., "top level", "'preset'"),
    ("timing", "quiet", "timing", "'quiet'"),
    ("mirror", 3, "mirror", "3"),
    ("franc2008", None, "franc2008", "None"),
    ("franc2008.eps", -1, "franc2008.eps", "-1"),
    ("franc2008.eps", "small", "franc2008.eps", "'small'"),
    ("franc2008.eps", ..., "franc2008", "'eps'"),
    ("franc2008.eps", float("nan"), "franc2008.eps", "nan"),
    ("franc2008.eps", True, "franc2008.eps", "True"),
    ("franc2008.eps", float("inf"), "franc2008.eps", "inf"),
    ("franc2008.epsilon", 1, "franc2008", "'epsilon'"),
    ("franc2008.datasets", [], "franc2008.datasets", "[]"),
    ("franc2008.datasets", "wdbc", "franc2008.datasets", "'wdbc'"),
    ("franc2008.datasets", ["wdbc", "wdbc"], "franc2008.datasets", "['wdbc', 'wdbc']"),
    ("franc2008.methods", ["retrain"], "franc2008.methods.0", "'retrain'"),
    ("franc2008.realisations", 1.5, "franc2008.realisations", "1.5"),
    ("franc2008.rbf.C", [1, 0], "franc2008.rbf.C.1", "0"),
    ("franc2008.rbf.gamma", {"first": 1}, "franc2008.rbf.gamma", "{'first': 1}"),
    (
        "franc2008.rbf.gamma",
        {"first": 1, "last": 2, "count": 0},
        "franc2008.rbf.gamma.count",
        "0",
    ),
    ("franc2008.figure1.log10_eps", [-9], "franc2008.figure1.log10_eps.0", "-9"),
    ("franc2008.max_iter", 0, "franc2008.max_iter", "0"),
    ("chapelle1999.width.log_sigma", [50], "chapelle1999.width.log_sigma.0", "50"),
    ("chapelle1999.C", ..., "chapelle1999", "'C'"),
    ("wen2017.libsvm_budget", 0, "wen2017.libsvm_budget", "0"),
    ("wen2017.datasets.0.dtype", "float16", "wen2017.datasets.0.dtype", "'float16'"),
    ("wen2017.datasets.0.seedings", [{"k": 1, "methods": ["cold"]}], "wen2017.datasets.0.seedings.0.k", "1"),
    (
        "wen2017.datasets.0.cells",
        {"seeds": {"published": [10], "chosen": []}},
        "wen2017.datasets.0.cells",
        "'libsvm'",
    ),
    ("wen2017.cached.seedings", ["warm"], "wen2017.cached.seedings.0", "'warm'"),
    ("sarafis2018.folds", 1, "sarafis2018.folds", "1"),
    ("sarafis2018.size.sizes", [], "sarafis2018.size.sizes", "[]"),
    ("sarafis2018.memory_mb", 0, "sarafis2018.memory_mb", "0"),
    ("bakir2004.figure3.sizes", [5], "bakir2004.figure3.sizes.0", "5"),
    ("bakir2004.figure4.scale", "unit", "bakir2004.figure4.scale", "'unit'"),
    ("bakir2004.growth.methods", {"nu_svm": 5, "svms": 5}, "bakir2004.growth.methods", "'nu_svm', 'svms'"),
    ("bakir2004.figure4.nu", [2], "bakir2004.figure4.nu.0", "2"),
    ("bakir2004.table1.sets", [], "bakir2004.table1.sets", "[]"),
]


@pytest.mark.parametrize(("key", "value", "place", "shown"), CONFIG)
def test_config(root, key, value, place, shown):
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    *path, last = key.split(".")
    section = config
    for name in path:
        section = section[int(name)] if isinstance(section, list) else section[name]
    if value is ...:
        del section[last]
    else:
        section[last] = value
    with pytest.raises(ValueError, match=rf"configuration's {place}\b") as caught:
        complete_config(config, {name: paper.schema for name, paper in load_papers().items()})
    assert says(str(caught.value), shown)


def test_unknown_data_set():
    with pytest.raises(ValueError, match=r"'hart'.*heart"):
        check_datasets({"a": ["hart"]}, {"heart": None})


def test_folder_that_cannot_be_written_to(tmp_path):
    check_writable([tmp_path / "results" / "demo"])
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=re.escape(f"{tmp_path / 'file'}")):
        check_writable([tmp_path / "file" / "demo"])
