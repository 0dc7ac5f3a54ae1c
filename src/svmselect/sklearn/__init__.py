"""Estimators that work with scikit-learn.

There are classifiers that know their leave-one-out error, searches over C and gamma that share kernel
matrices and start each fit at the last one's solution, and training-set editing.

>>> from svmselect.sklearn import SVC
>>> classifier = SVC(C=10, gamma=0.01).fit(X, y)
>>> classifier.loo_error_
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svmselect.sklearn.display import SearchDisplay
    from svmselect.sklearn.editing import BaggedSVC, CrossTrainingSVC, EditedSVC
    from svmselect.sklearn.fitting import ConstantModelWarning, EndOfListWarning, UnscaledWarning
    from svmselect.sklearn.loo_search import LOOSearchCV
    from svmselect.sklearn.machine import OneClassSVM
    from svmselect.sklearn.model_file import load_model, save_model
    from svmselect.sklearn.seeded_cv import SeededCV
    from svmselect.sklearn.svc import SVC, NuSVC
    from svmselect.sklearn.svr import SVR, NuSVR

__all__ = [
    "SVC",
    "SVR",
    "BaggedSVC",
    "ConstantModelWarning",
    "CrossTrainingSVC",
    "EditedSVC",
    "EndOfListWarning",
    "LOOSearchCV",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "SearchDisplay",
    "SeededCV",
    "UnscaledWarning",
    "load_model",
    "save_model",
]

# The names of each module. It is imported on their first use: scikit-learn takes a second to import.
MODULES = {
    "svc": ("SVC", "NuSVC"),
    "svr": ("SVR", "NuSVR"),
    "machine": ("OneClassSVM",),
    "loo_search": ("LOOSearchCV",),
    "seeded_cv": ("SeededCV",),
    "display": ("SearchDisplay",),
    "fitting": ("ConstantModelWarning", "EndOfListWarning", "UnscaledWarning"),
    "editing": ("BaggedSVC", "CrossTrainingSVC", "EditedSVC"),
    "model_file": ("load_model", "save_model"),
}


def __getattr__(name):
    for module, names in MODULES.items():
        if name in names:
            value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})
