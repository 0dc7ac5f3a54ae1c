"""Choosing a support vector machine's hyper-parameters on one shared Gram matrix."""

from svmselect.cv import (
    CrossValidation,
    GridCrossValidation,
    cross_validate,
    cross_validate_grid,
    even_folds,
    stratified_folds,
)
from svmselect.gram import Gram
from svmselect.kernels import RBF, Linear
from svmselect.loo import LeaveOneOut, leave_one_out
from svmselect.path import PathPoint, solve_path
from svmselect.svm import Solution, decision_function, solve_csvc, solve_nusvc

__all__ = [
    "RBF",
    "CrossValidation",
    "Gram",
    "GridCrossValidation",
    "LeaveOneOut",
    "Linear",
    "PathPoint",
    "Solution",
    "cross_validate",
    "cross_validate_grid",
    "decision_function",
    "even_folds",
    "leave_one_out",
    "solve_csvc",
    "solve_nusvc",
    "solve_path",
    "stratified_folds",
]
