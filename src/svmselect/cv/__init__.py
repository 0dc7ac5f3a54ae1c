"""Cross-validation on one shared Gram matrix, with seeded fits."""

from svmselect.cv.folds import even_folds, stratified_folds
from svmselect.cv.grid import GridCrossValidation, cross_validate_grid
from svmselect.cv.kfold import CrossValidation, Round, cross_validate
from svmselect.cv.svr_folds import CrossValidationRegression, cross_validate_svr

__all__ = [
    "CrossValidation",
    "CrossValidationRegression",
    "GridCrossValidation",
    "Round",
    "cross_validate",
    "cross_validate_grid",
    "cross_validate_svr",
    "even_folds",
    "stratified_folds",
]
