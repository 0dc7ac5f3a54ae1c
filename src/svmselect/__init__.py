"""Choosing a support vector machine's hyper-parameters on one shared Gram matrix."""

from svmselect.bounds import (
    Estimate,
    OpperWinther,
    RadiusMargin,
    RescaledRadiusMargin,
    SpanBound,
    SpanRule,
    Sphere,
    jaakkola_haussler,
    opper_winther,
    radius_margin,
    rescaled_radius_margin,
    smallest_enclosing_sphere,
    span_bound,
    span_rule,
    sv_count,
    xi_alpha,
)
from svmselect.cv import (
    CrossValidation,
    GridCrossValidation,
    cross_validate,
    cross_validate_grid,
    even_folds,
    stratified_folds,
)
from svmselect.editing import (
    Bagging,
    CrossTraining,
    bagging,
    condense,
    cross_training,
    multiedit,
)
from svmselect.gram import Gram
from svmselect.kernels import RBF, Linear
from svmselect.loo import LeaveOneOut, leave_one_out
from svmselect.path import PathPoint, solve_path
from svmselect.svm import InfeasibleNu, Solution, decision_function, solve_csvc, solve_nusvc
from svmselect.threads import interruptible_threads

__all__ = [
    "RBF",
    "Bagging",
    "CrossTraining",
    "CrossValidation",
    "Estimate",
    "Gram",
    "GridCrossValidation",
    "InfeasibleNu",
    "LeaveOneOut",
    "Linear",
    "OpperWinther",
    "PathPoint",
    "RadiusMargin",
    "RescaledRadiusMargin",
    "Solution",
    "SpanBound",
    "SpanRule",
    "Sphere",
    "bagging",
    "condense",
    "cross_training",
    "cross_validate",
    "cross_validate_grid",
    "decision_function",
    "even_folds",
    "interruptible_threads",
    "jaakkola_haussler",
    "leave_one_out",
    "multiedit",
    "opper_winther",
    "radius_margin",
    "rescaled_radius_margin",
    "smallest_enclosing_sphere",
    "solve_csvc",
    "solve_nusvc",
    "solve_path",
    "span_bound",
    "span_rule",
    "stratified_folds",
    "sv_count",
    "xi_alpha",
]
