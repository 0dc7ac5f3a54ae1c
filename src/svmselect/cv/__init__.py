"""Cross-validation on one shared Gram matrix, with seeded fits."""

from svmselect.cv.folds import even_folds, stratified_folds
from svmselect.cv.kfold import CrossValidation, Round, cross_validate

__all__ = ["CrossValidation", "Round", "cross_validate", "even_folds", "stratified_folds"]
