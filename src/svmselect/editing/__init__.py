"""Training-set editing: fewer points, chosen by nearest neighbours or by SVMs on subsets."""

from svmselect.editing.bagging import Bagging, bagging, draw_validation
from svmselect.editing.condense import condense
from svmselect.editing.cross_training import CrossTraining, cross_training
from svmselect.editing.multiedit import multiedit
from svmselect.editing.svm import SVM, best_threshold, cross_validated_errors, train, train_best

__all__ = [
    "SVM",
    "Bagging",
    "CrossTraining",
    "bagging",
    "best_threshold",
    "condense",
    "cross_training",
    "cross_validated_errors",
    "draw_validation",
    "multiedit",
    "train",
    "train_best",
]
