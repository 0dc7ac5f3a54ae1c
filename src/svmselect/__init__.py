"""Choosing a support vector machine's hyper-parameters on one shared Gram matrix."""

from svmselect.gram import Gram
from svmselect.kernels import RBF, Linear
from svmselect.loo import LeaveOneOut, leave_one_out
from svmselect.path import PathPoint, solve_path
from svmselect.svm import Solution, decision_function, solve_csvc, solve_nusvc

__all__ = [
    "RBF",
    "Gram",
    "LeaveOneOut",
    "Linear",
    "PathPoint",
    "Solution",
    "decision_function",
    "leave_one_out",
    "solve_csvc",
    "solve_nusvc",
    "solve_path",
]
