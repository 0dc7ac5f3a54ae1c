"""What users get for bad input to the library and to the configuration: the whole sentence, case by case."""

import re

import numpy as np
import pytest
import yaml
from data import Dataset
from lib.config import check_config, check_datasets, check_writable, load_schema
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


# calls, and the whole sentence of the ValueError (an IndexError where a row does not exist)
LIBRARY = [
    (
        lambda: Gram("rows", RBF(1.0)),
        "X must be an array of numbers: could not convert string to float: 'rows'",
    ),
    (
        lambda: Gram([["a", "b"]], RBF(1.0)),
        "X must be an array of numbers: could not convert string to float: 'a'",
    ),
    (lambda: Gram(X * 1j, RBF(1.0)), "X must be an array of real numbers, got complex ones"),
    (lambda: Gram(X[0], RBF(1.0)), "X must have two dimensions (rows, features), got shape (2,)"),
    (lambda: Gram(X[:0], RBF(1.0)), "X must have at least one row and one feature, got shape (0, 2)"),
    (lambda: Gram(X[:, :0], RBF(1.0)), "X must have at least one row and one feature, got shape (12, 0)"),
    (
        lambda: Gram(with_value(X, (2, 1), np.nan), RBF(1.0)),
        "X must be finite, got a NaN or infinity in row 2, feature 1",
    ),
    (
        lambda: Gram(sparse.csr_matrix(with_value(X, (3, 0), np.inf)), RBF(1.0)),
        "X must be finite, got a NaN or infinity in row 3, feature 0",
    ),
    (
        lambda: Gram(1e200 * np.arange(18.0).reshape(9, 2), RBF(1.0)),
        "X is too large for float64 arithmetic: the squared norm of row 0 exceeds 4.49e+307",
    ),
    (
        lambda: Gram(1e30 * np.arange(18.0).reshape(9, 2), RBF(1.0), dtype="float32"),
        "X is too large for float32 arithmetic: the squared norm of row 0 exceeds 8.51e+37",
    ),
    (
        lambda: Gram(X, "rbf"),
        "kernel must be one of svmselect.kernels, as RBF(gamma), or a function, got 'rbf'",
    ),
    (lambda: RBF(0), "gamma must be a positive finite number, got 0"),
    (lambda: RBF(np.nan), "gamma must be a positive finite number, got nan"),
    (lambda: RBF(np.inf), "gamma must be a positive finite number, got inf"),
    (lambda: RBF("scale"), "gamma must be a positive finite number, got 'scale'"),
    (lambda: RBF([1.0]), "gamma must be a positive finite number, got [1.0]"),
    (lambda: Gram(X, RBF(1.0), dtype="int64"), "dtype must be 'float64' or 'float32', got 'int64'"),
    (
        lambda: Gram(X, RBF(1.0), dtype="double precision"),
        "dtype must be 'float64' or 'float32', got 'double precision'",
    ),
    (lambda: Gram(X, RBF(1.0), dtype=None), "dtype must be 'float64' or 'float32', got None"),
    (lambda: Gram(X, RBF(1.0), memory_mb=0), "memory_mb must be a positive finite number, got 0"),
    (lambda: Gram(X, RBF(1.0), memory_mb="1GB"), "memory_mb must be a positive finite number, got '1GB'"),
    (lambda: Gram(X, RBF(1.0), memory_mb=np.inf), "memory_mb must be a positive finite number, got inf"),
    (
        lambda: Gram(MANY, RBF(1.0), memory_mb=0.01),
        "memory_mb=0.01 holds 1 columns of 1000 rows; at least 8 are needed (0.0625 MB)",
    ),
    (
        lambda: Gram(MANY, RBF(1.0), memory_mb=1).matrix(),
        "a Gram matrix of 1000 rows takes 7.8125 MB, more than its budget of 1 MB (memory_mb); "
        "ask for columns instead",
    ),
    (lambda: GRAM.submatrix([0], [99]), "there is no row 99 in a matrix of 12 rows"),
    (lambda: GRAM.restricted([3, 1]), "rows must be increasing row numbers from 0 to 11, at least one"),
    (lambda: GRAM.restricted([]), "rows must be increasing row numbers from 0 to 11, at least one"),
    (lambda: GRAM.restricted([0.5, 1.5]), "rows must be increasing row numbers from 0 to 11, at least one"),
    (
        lambda: GRAM.restricted([0, 1, 2]).set_kernel(RBF(2.0)),
        "set_kernel is for the Gram matrix of all rows, not for a restriction",
    ),
    (
        lambda: GRAM.set_kernel("linear"),
        "kernel must be one of svmselect.kernels, as RBF(gamma), or a function, got 'linear'",
    ),
    (lambda: solve_csvc(GRAM, Y[:5], 1.0), "y must have shape (12,) to match the Gram matrix, got (5,)"),
    (lambda: solve_csvc(GRAM, (Y > 0).astype(int), 1.0), "y must hold the labels -1 and +1 only, got [0, 1]"),
    (
        lambda: solve_csvc(GRAM, np.where(Y > 0, "yes", "no"), 1.0),
        "y must hold the labels -1 and +1 only, got ['no', 'yes']",
    ),
    (
        lambda: solve_csvc(GRAM, with_value(Y, 3, np.nan), 1.0),
        "y must hold the labels -1 and +1 only, got [-1.0, 1.0, nan]",
    ),
    (
        lambda: solve_csvc(GRAM, np.tile([-1, 1, 2], 4), 1.0),
        "y must hold the labels -1 and +1 only, got [-1, 1, 2]",
    ),
    (lambda: solve_csvc(GRAM, np.ones(12), 1.0), "y must hold both classes among the points with C > 0"),
    (
        lambda: solve_csvc(GRAM, Y[:, None], 1.0),
        "y must have shape (12,) to match the Gram matrix, got (12, 1)",
    ),
    (lambda: solve_csvc(GRAM, Y, 0), "C must be a positive finite number, got 0"),
    (lambda: solve_csvc(GRAM, Y, -1.0), "C must be a positive finite number, got -1.0"),
    (lambda: solve_csvc(GRAM, Y, np.nan), "C must be a positive finite number, got nan"),
    (lambda: solve_csvc(GRAM, Y, np.inf), "C must be a positive finite number, got inf"),
    (lambda: solve_csvc(GRAM, Y, "1"), "C must be numbers, got '1'"),
    (lambda: solve_csvc(GRAM, Y, None), "C must be numbers, got None"),
    (lambda: solve_csvc(GRAM, Y, np.ones(3)), "C must be a number or have shape (12,), got shape (3,)"),
    (
        lambda: solve_csvc(GRAM, Y, with_value(np.ones(12), 2, -1)),
        "C must be finite and not negative at every point, got -1.0 at point 2",
    ),
    (lambda: solve_csvc(GRAM, Y, 1.0, tol=0), "tol must be a positive finite number, got 0"),
    (lambda: solve_csvc(GRAM, Y, 1.0, tol="small"), "tol must be a positive finite number, got 'small'"),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, working_set="wss3"),
        "working_set must be one of ['mvp', 'wss2'], got 'wss3'",
    ),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, working_set=["wss2"]),
        "working_set must be one of ['mvp', 'wss2'], got ['wss2']",
    ),
    (lambda: solve_csvc(GRAM, Y, 1.0, max_iter=-1), "max_iter must be None or an integer >= 0, got -1"),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, max_iter=1e6),
        "max_iter must be None or an integer >= 0, got 1000000.0",
    ),
    (lambda: solve_csvc(GRAM, Y, 1.0, start=[0.0]), "start must have shape (12,), got (1,)"),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, start=np.full(12, 2.0)),
        "start must lie in [0, C], got 2.0 at point 0 where C is 1.0",
    ),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, start=np.full(12, np.nan)),
        "start must lie in [0, C], got nan at point 0 where C is 1.0",
    ),
    (
        lambda: solve_csvc(GRAM, Y, 1.0, start=np.where(Y > 0, 0.5, 0)),
        "start must satisfy sum(y * alpha) = 0, got 3",
    ),
    (lambda: solve_csvc(GRAM, Y, 1.0, start="warm"), "start must be numbers, got 'warm'"),
    (lambda: solve_csvc(X, Y, 1.0), "gram must be a Gram, made of rows and a kernel, got ndarray"),
    (lambda: solve_nusvc(GRAM, Y, 0), "nu must be a number in (0, 1], got 0"),
    (lambda: solve_nusvc(GRAM, Y, 2), "nu must be a number in (0, 1], got 2"),
    (lambda: solve_nusvc(GRAM, Y, "half"), "nu must be a number in (0, 1], got 'half'"),
    (
        lambda: solve_nusvc(GRAM, with_value(-np.ones(12), 0, 1), 0.5),
        "nu must be at most 0.166667 for classes of these sizes, got 0.5",
    ),
    (
        lambda: solve_nusvc(GRAM, Y, 0.5, weight=-np.ones(12)),
        "weight must be finite and not negative at every point, got -1.0 at point 0",
    ),
    (
        lambda: solve_nusvc(Gram(np.zeros((12, 2)), RBF(1.0)), Y, 0.5),
        "nu must leave a margin above tol = 0.001 of the largest kernel value between the classes, "
        "got 0.5 with rho = 0 of it",
    ),
    (
        lambda: decision_function(GRAM, Y, SOLUTION, np.zeros((3, 5))),
        "X has 5 features, the Gram matrix was made from 2",
    ),
    (
        lambda: decision_function(GRAM, Y, SOLUTION, np.full((3, 2), np.nan)),
        "X must be finite, got a NaN or infinity in row 0, feature 0",
    ),
    (
        lambda: decision_function(HALF, Y[:6], SOLUTION, X),
        "solution must be of the 6 rows of the Gram matrix, got one of 12 rows",
    ),
    (
        lambda: decision_function(GRAM, Y, SOLUTION, X[:0]),
        "X must have at least one row and one feature, got shape (0, 2)",
    ),
    (lambda: list(solve_path(GRAM, Y, [])), "Cs must be a list of at least one number, got shape (0,)"),
    (lambda: list(solve_path(GRAM, Y, [1, -1])), "Cs must be positive finite numbers, got -1.0"),
    (lambda: list(solve_path(GRAM, Y, 1.0)), "Cs must be a list of at least one number, got shape ()"),
    (lambda: list(solve_path(GRAM, Y, ["a"])), "Cs must be numbers, got ['a']"),
    (
        lambda: list(solve_path(GRAM, Y, [1.0], warm_start="hot")),
        "warm_start must be one of ['none', 'C', 'gamma'], got 'hot'",
    ),
    (
        lambda: list(solve_path(GRAM, Y, [1.0], warm_start="gamma")),
        "warm_start='gamma' needs gammas, got None",
    ),
    (
        lambda: list(solve_path(GRAM, Y, [1.0], gammas=[0.0])),
        "gammas must be positive finite numbers, got 0.0",
    ),
    (
        lambda: leave_one_out(GRAM, Y, 1.0, method="exact"),
        "method must be one of ['unlearn', 'certified', 'retrain'], got 'exact'",
    ),
    (
        lambda: leave_one_out(GRAM, Y, with_value(np.ones(12), 2, 0)),
        "C must be positive at every point for leave-one-out, got 0 at point 2",
    ),
    (
        lambda: leave_one_out(GRAM, Y, 1.0, efficiency_test=-1),
        "efficiency_test must be an integer >= 0, got -1",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, 1),
        "the number of folds must be an integer from 2 to the 12 rows, got 1",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, 2.5),
        "the number of folds must be an integer from 2 to the 12 rows, got 2.5",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, "five"),
        "the number of folds must be an integer from 2 to the 12 rows, got 'five'",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, [0, 1]),
        "folds must be a number, or integers of shape (12,), got int64 of shape (2,)",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, np.linspace(0, 2, 12)),
        "folds must be a number, or integers of shape (12,), got float64 of shape (12,)",
    ),
    (lambda: cross_validate(GRAM, Y, 1.0, np.tile([-1, 0, 1], 4)), "folds must be numbered from 0, got -1"),
    (
        lambda: cross_validate(GRAM, Y, 1.0, np.tile([0, 0, 2], 4)),
        "folds must have at least one row each, fold 1 of 3 has none",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, (Y > 0).astype(int)),
        "folds must leave both classes to train on, fold 0 holds all points of class -1",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, 3, "warm"),
        "seeding must be None or one of ['cold', 'ato', 'mir', 'sir', 'avg', 'top', 'unlearn'], got 'warm'",
    ),
    (
        lambda: cross_validate(GRAM, Y, 1.0, 3, rounds=4),
        "rounds must be None or an integer from 1 to the 3 folds, got 4",
    ),
    (
        lambda: cross_validate(GRAM, Y, with_value(np.ones(12), 2, 0), 3),
        "C must be positive at every point for cross-validation, got 0 at point 2",
    ),
    (lambda: cross_validate_grid(GRAM, Y, [0.0], folds=3), "Cs must be positive finite numbers, got 0.0"),
    (lambda: cross_validate_grid(GRAM, np.ones(12), [1.0], folds=3), "y must hold both classes"),
    (lambda: stratified_folds(Y[:, None], 3), "y must have one dimension, got shape (12, 1)"),
    (lambda: even_folds(3, 5), "the number of folds must be an integer from 2 to the 3 rows, got 5"),
    (
        lambda: stratified_folds(Y, 3, "seed"),
        "seed must be None or what NumPy takes for one, such as 0, got 'seed'",
    ),
    (
        lambda: span_rule(HALF, Y[:6], SOLUTION),
        "solution must be of the 6 rows of the Gram matrix, got one of 12 rows",
    ),
    (lambda: span_rule(GRAM, Y, None), "solution must be a Solution, got NoneType"),
    (lambda: smallest_enclosing_sphere(GRAM, points=[99]), "points must be row numbers from 0 to 11, got 99"),
    (
        lambda: smallest_enclosing_sphere(GRAM, points=[0.5]),
        "points must be row numbers, at least one, got float64 of (1,)",
    ),
    (
        lambda: radius_margin(GRAM, Y, SOLUTION, sphere="unit"),
        "sphere must be a Sphere of the 12 rows of the Gram matrix, got 'unit'",
    ),
    (
        lambda: bagging(X, Y, RBF(1.0), [], n_subsets=2),
        "C must be a list of at least one number, got shape (0,)",
    ),
    (lambda: bagging(X, Y, RBF(1.0), 1.0, n_subsets=0), "n_subsets must be an integer >= 1, got 0"),
    (
        lambda: bagging(X, Y, RBF(1.0), 1.0, n_subsets=2, validation=12),
        "validation must be smaller than the 12 points, got 12",
    ),
    (lambda: condense(X, np.ones(12)), "y must hold both classes"),
    (lambda: multiedit(X, Y, 1), "parts must be an integer >= 2, got 1"),
    (
        lambda: CrossTrainingSVC(kernel="cosine").fit(X, Y),
        "kernel must be one of ['linear', 'rbf', 'poly', 'sigmoid', 'laplacian', 'chi2', 'precomputed'], a "
        "Kernel or a function, got 'cosine'",
    ),
    (lambda: CrossTrainingSVC().fit(X, np.ones(12)), "y must hold at least two classes, got 1 class: 1.0"),
    (lambda: Dataset.load("nowhere.npz"), "no prepared data set at nowhere.npz"),
]


@pytest.mark.parametrize(("call", "sentence"), LIBRARY, ids=[sentence for _, sentence in LIBRARY])
def test_library(call, sentence):
    with pytest.raises((ValueError, IndexError, MemoryError)) as caught:
        call()
    assert str(caught.value) == sentence


# dotted keys of the demo's configuration, values (...: the key is missing), and the whole sentence
CONFIG = [
    (
        "presett",
        "x",
        "Unknown key 'presett' in the configuration's top level; the valid keys are: "
        "bakir2004, baselines, causes, cells_beyond, chapelle1999, comparison, figures, folders, franc2008, "
        "minutes_per_job, mirror, papers, preset, registry, rows_of_other_code, sarafis2018, timing, verify, "
        "verify_tolerance, wen2017.",
    ),
    (
        "preset",
        "My Preset",
        "The configuration's preset is 'My Preset', which is not valid; wanted: a name in "
        "lower-case letters, digits and hyphens; results go to results/<preset>.",
    ),
    ("preset", ..., "The configuration's top level lacks the key 'preset'."),
    ("timing", "quiet", "The configuration's timing is 'quiet'; the valid values are: shared, exclusive."),
    (
        "mirror",
        3,
        "The configuration's mirror is 3, which is not valid; wanted: a folder or an http(s) "
        "address that holds the raw files and is tried before their own addresses, or null.",
    ),
    (
        "franc2008",
        None,
        "The configuration's franc2008 is None, which is not valid; wanted: the settings of "
        "Franc, Laskov and Mueller (2008).",
    ),
    (
        "franc2008.eps",
        -1,
        "The configuration's franc2008.eps is -1, which is not valid; wanted: the paper's "
        "stopping tolerance (eq. 8), above 0; the solver's is twice as large.",
    ),
    (
        "franc2008.eps",
        "small",
        "The configuration's franc2008.eps is 'small', which is not valid; wanted: the "
        "paper's stopping tolerance (eq. 8), above 0; the solver's is twice as large.",
    ),
    ("franc2008.eps", ..., "The configuration's franc2008 lacks the key 'eps'."),
    ("franc2008.eps", float("nan"), "The configuration's franc2008.eps is nan; wanted: a finite number."),
    (
        "franc2008.eps",
        True,
        "The configuration's franc2008.eps is True, which is not valid; wanted: the paper's "
        "stopping tolerance (eq. 8), above 0; the solver's is twice as large.",
    ),
    (
        "franc2008.eps",
        float("inf"),
        "The configuration's franc2008.eps is inf; wanted: a finite number.",
    ),
    (
        "franc2008.epsilon",
        1,
        "Unknown key 'epsilon' in the configuration's franc2008; the valid keys are: "
        "datasets, efficiency_test, eps, figure1, first_method_only, linear, max_iter, methods, rbf, "
        "realisations, sample, test_realisations.",
    ),
    (
        "franc2008.datasets",
        [],
        "The configuration's franc2008.datasets is [], which is not valid; wanted: a list of "
        "one or more different data sets, in the order of the tables.",
    ),
    (
        "franc2008.datasets",
        "wdbc",
        "The configuration's franc2008.datasets is 'wdbc', which is not valid; wanted: a "
        "list of one or more different data sets, in the order of the tables.",
    ),
    (
        "franc2008.datasets",
        ["wdbc", "wdbc"],
        "The configuration's franc2008.datasets is ['wdbc', 'wdbc'], which is not valid; "
        "wanted: a list of one or more different data sets, in the order of the tables.",
    ),
    (
        "franc2008.methods",
        ["retrain"],
        "The configuration's franc2008.methods.0 is 'retrain'; the valid values are: "
        "unlearn, standard, proposed.",
    ),
    (
        "franc2008.realisations",
        1.5,
        "The configuration's franc2008.realisations is 1.5, which is not valid; wanted: the "
        "number of realisations (1 or more) whose training parts select the models.",
    ),
    (
        "franc2008.rbf.C",
        [1, 0],
        "The configuration's franc2008.rbf.C is [1, 0], which is not valid; wanted: a list "
        "of different numbers above 0, or {first, last, count} for a geometric progression of at "
        "most 1,000 values.",
    ),
    (
        "franc2008.rbf.gamma",
        {"first": 1},
        "The configuration's franc2008.rbf.gamma is {'first': 1}, which is not valid; "
        "wanted: a list of different numbers above 0, or {first, last, count} for a "
        "geometric progression of at most 1,000 values.",
    ),
    (
        "franc2008.rbf.gamma",
        {"first": 1, "last": 2, "count": 0},
        "The configuration's franc2008.rbf.gamma is {'first': 1, 'last': 2, 'count': 0}, "
        "which is not valid; wanted: a list of different numbers above 0, or {first, last, "
        "count} for a geometric progression of at most 1,000 values.",
    ),
    (
        "franc2008.figure1.log10_eps",
        [-9],
        "The configuration's franc2008.figure1.log10_eps.0 is -9, which is not valid; "
        "wanted: a decimal logarithm from -8 to 1.",
    ),
    (
        "franc2008.max_iter",
        0,
        "The configuration's franc2008.max_iter is 0, which is not valid; wanted: the "
        "largest number of iterations of one solve (1 or more), or null for the library's "
        "own limit.",
    ),
    (
        "chapelle1999.width.log_sigma",
        [50],
        "The configuration's chapelle1999.width.log_sigma.0 is 50, which is not valid; "
        "wanted: a natural logarithm from -20 to 20.",
    ),
    ("chapelle1999.C", ..., "The configuration's chapelle1999 lacks the key 'C'."),
    (
        "wen2017.libsvm_budget",
        0,
        "The configuration's wen2017.libsvm_budget is 0, which is not valid; wanted: the CPU "
        "seconds (above 0) that LIBSVM may take per data set, settings and k; the first fold "
        "is always run.",
    ),
    (
        "wen2017.datasets.0.dtype",
        "float16",
        "The configuration's wen2017.datasets.0.dtype is 'float16'; the valid values are: float32, float64.",
    ),
    (
        "wen2017.datasets.0.seedings",
        [{"k": 1, "methods": ["cold"]}],
        "The configuration's wen2017.datasets.0.seedings.0.k is 1, which is not valid; "
        "wanted: the number of folds (2 to 10,000), or loo.",
    ),
    (
        "wen2017.datasets.0.cells",
        {"seeds": {"published": [10], "chosen": []}},
        "The configuration's wen2017.datasets.0.cells lacks the keys 'libsvm', 'cached'.",
    ),
    (
        "wen2017.cached.seedings",
        ["warm"],
        "The configuration's wen2017.cached.seedings.0 is 'warm'; the valid values are: "
        "cold, ato, mir, sir, avg, top.",
    ),
    (
        "sarafis2018.folds",
        1,
        "The configuration's sarafis2018.folds is 1, which is not valid; wanted: the number "
        "of folds (2 or more) of cross-validation.",
    ),
    (
        "sarafis2018.size.sizes",
        [],
        "The configuration's sarafis2018.size.sizes is [], which is not valid; wanted: a "
        "list of objects with the keys log2_m, every, jobs, loo_every and libsvm_every.",
    ),
    (
        "sarafis2018.memory_mb",
        0,
        "The configuration's sarafis2018.memory_mb is 0, which is not valid; wanted: the "
        "memory (MB, above 0) for one Gram matrix; it must hold the largest.",
    ),
    (
        "bakir2004.figure3.sizes",
        [5],
        "The configuration's bakir2004.figure3.sizes.0 is 5, which is not valid; wanted: a "
        "number of training rows, 10 or more.",
    ),
    (
        "bakir2004.figure4.scale",
        "unit",
        "The configuration's bakir2004.figure4.scale is 'unit'; the valid values are: none, "
        "largest, range, deviation.",
    ),
    (
        "bakir2004.growth.methods",
        {"nu_svm": 5, "svms": 5},
        "Unknown keys 'nu_svm', 'svms' in the configuration's bakir2004.growth.methods; the "
        "valid keys are: bagging, cross_training, multiedit_condense, svm.",
    ),
    (
        "bakir2004.figure4.nu",
        [2],
        "The configuration's bakir2004.figure4.nu.0 is 2, which is not valid; wanted: a number "
        "above 0, at most 1.",
    ),
    (
        "bakir2004.table1.sets",
        [],
        "The configuration's bakir2004.table1.sets is [], which is not valid; wanted: a list "
        "of one or more data sets with their settings, in the order of the table.",
    ),
]


@pytest.mark.parametrize(("key", "value", "sentence"), CONFIG)
def test_config(root, key, value, sentence):
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    *path, last = key.split(".")
    place = config
    for name in path:
        place = place[int(name)] if isinstance(place, list) else place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        check_config(config, load_schema())
    assert str(caught.value) == sentence


def test_unknown_data_set():
    sentence = r"^Unknown data set 'hart' in the configuration's a; the known ones are: heart\.$"
    with pytest.raises(ValueError, match=sentence):
        check_datasets({"a": ["hart"]}, {"heart": None})


def test_folder_that_cannot_be_written_to(tmp_path):
    check_writable([tmp_path / "results" / "demo"])
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError) as caught:
        check_writable([tmp_path / "file" / "demo"])
    assert str(caught.value) == (
        f"Cannot write to the folder {tmp_path / 'file'}; mend its permissions, or work in another checkout."
    )


def test_there_are_many_cases():
    """The sentences differ from each other where the mistakes do."""
    cases = [sentence for *_, sentence in [*LIBRARY, *CONFIG]]
    assert len(cases) >= 120 and len(set(cases)) >= 100
    assert [sentence for sentence in cases if "\n" in sentence] == []
