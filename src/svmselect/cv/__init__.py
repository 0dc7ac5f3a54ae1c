"""Cross-validation on one shared Gram matrix, with seeded fits."""

from svmselect.cv.folds import even_folds, stratified_folds
from svmselect.cv.grid import GridCrossValidation, cross_validate_grid
from svmselect.cv.kfold import CrossValidation, Round, cross_validate

__all__ = [
    "CrossValidation",
    "GridCrossValidation",
    "Round",
    "cross_validate",
    "cross_validate_grid",
    "even_folds",
    "stratified_folds",
]
