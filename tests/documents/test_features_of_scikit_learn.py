"""The table of features: what it says of scikit-learn, run with scikit-learn."""

import inspect
import re
from importlib.metadata import entry_points, version

import numpy as np
import pandas as pd
import pytest
import sklearn
from documents.test_features import table
from estimators.problems import blobs
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    LeaveOneOut,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, OneClassSVM
from sklearn.utils import all_estimators

X, y = blobs(3, m=60, k=2)
GRID = {"C": [0.5, 5], "gamma": [0.1, 1]}


class Counted(SVC):
    """It counts its fits, of all copies."""

    fits = 0

    def fit(self, *args, **options):
        Counted.fits += 1
        return super().fit(*args, **options)


def fits_of(estimator):
    Counted.fits = 0
    estimator.fit(X, y)
    return Counted.fits


def names_of(model):
    """Attributes and parameters."""
    return {*dir(model), *inspect.signature(type(model).__init__).parameters}


def has_none_called(*words):
    """Whether nothing of a fitted model or a fitted search is called so."""
    names = names_of(SVC().fit(X, y)) | names_of(GridSearchCV(SVC(), GRID).fit(X, y))
    return not [name for name in names if re.search("|".join(words), name)]


def searches(estimator, grid, **options):
    return np.isfinite(GridSearchCV(estimator, grid, cv=3, **options).fit(X, y).best_score_)


def warns_of_ties(recwarn):
    found = GridSearchCV(SVC(gamma=0.1), {"C": [1e-3, 1e-3]}).fit(X, y)
    assert (found.cv_results_["rank_test_score"] == 1).all()
    return len(recwarn) > 0


def reads_libsvm_text(folder):
    dump_svmlight_file(X, y, str(folder / "rows"))
    return load_svmlight_file(str(folder / "rows"))[0].shape == X.shape


def weighs_rows():
    weight = np.where(np.arange(60) < 50, 1.0, 0.0)
    some, weighted = SVC(gamma=0.3).fit(X[:50], y[:50]), SVC(gamma=0.3).fit(X, y, weight)
    return np.allclose(some.decision_function(X), weighted.decision_function(X), atol=5e-3)


def has_named_kernels(*names):
    """Whether these are among the names that SVC takes."""
    return set(names) <= set(SVC._parameter_constraints["kernel"][0].options)


COMMANDS = entry_points(group="console_scripts")
NO_COMMAND = "scikit-learn" not in {point.dist.name for point in COMMANDS}
DISPLAYS = {name for name in dir(sklearn.model_selection) if name.endswith("Display")}
# what the table says, and what shows it
SHOWN = {
    "exact leave-one-out error without retraining": ("no", lambda: has_none_called("loo", "leave_one")),
    "exact left-out decision values": ("no", lambda: has_none_called("loo", "left_out")),
    "estimates and bounds of the error from one fit": ("no", lambda: has_none_called("span", "bound")),
    "models of a grid share kernel values and start from each other": (
        "no",
        lambda: has_none_called("warm", "gram") and fits_of(GridSearchCV(Counted(), GRID, cv=3)) == 13,
    ),
    "linear, RBF, polynomial and sigmoid kernels": (
        "yes",
        lambda: has_named_kernels("linear", "rbf", "poly", "sigmoid"),
    ),
    "Laplacian and chi-squared kernels, sums, products, a width per feature": (
        "partly",
        lambda: (
            not has_named_kernels("laplacian")
            and not has_named_kernels("chi2")
            and searches(SVC(), {"kernel": [laplacian_kernel, lambda A, B: chi2_kernel(abs(A), abs(B))]})
        ),
    ),
    "a function or a matrix as the kernel": (
        "yes",
        lambda: np.allclose(
            SVC(kernel="precomputed", tol=1e-8).fit(X @ X.T, y).decision_function(X @ X.T),
            SVC(kernel=lambda A, B: A @ B.T, tol=1e-8).fit(X, y).decision_function(X),
            atol=1e-4,
        ),
    ),
    "more than two classes": (
        "yes",
        lambda: SVC().fit(*blobs(3, m=60, k=4)).decision_function(X).shape == (60, 4),
    ),
    "sample weights": ("yes", weighs_rows),
    "class weights": ("yes", lambda: searches(SVC(class_weight="balanced"), GRID)),
    "nu-SVC": ("yes", lambda: searches(NuSVC(), {"nu": [0.2, 0.4]})),
    "regression": ("yes", lambda: SVR().fit(X[:, :2], X[:, 2]).predict(X[:, :2]).shape == (60,)),
    "one-class models": ("yes", lambda: set(OneClassSVM().fit(X).predict(X)) == {-1, 1}),
    "probabilities without another fit": (
        "no",
        lambda: fits_of(CalibratedClassifierCV(Counted(), cv=3, ensemble=False)) == 4,
    ),
    "a threshold tuned without another fit": (
        "no",
        lambda: fits_of(TunedThresholdClassifierCV(Counted(), cv=3)) == 4,
    ),
    "searches by any score": ("yes", lambda: searches(SVC(), GRID, scoring="roc_auc")),
    "searches that keep groups together": (
        "yes",
        lambda: (
            GridSearchCV(SVC(), GRID, cv=GroupKFold(3)).fit(X, y, groups=np.arange(60) // 5).best_score_ > 0.5
        ),
    ),
    "searches over kernels, nu and class weights": (
        "yes",
        lambda: (
            searches(SVC(), {"kernel": ["rbf", "linear"], "class_weight": [None, "balanced"]})
            and searches(NuSVC(), {"nu": [0.2, 0.4]})
        ),
    ),
    "searches in several processes or threads": ("yes", lambda: searches(SVC(), GRID, n_jobs=2)),
    "random search and successive halving": (
        "yes",
        lambda: (
            RandomizedSearchCV(SVC(), GRID, n_iter=2, random_state=0).fit(X, y).best_score_ > 0.5
            and HalvingGridSearchCV(SVC(), GRID, random_state=0).fit(X, y).n_iterations_ > 1
        ),
    ),
    "the error of a whole selection": (
        "yes",
        lambda: cross_val_score(GridSearchCV(SVC(), GRID, cv=3), X, y, cv=3).mean() > 0.5,
    ),
    "models that tie are announced": ("no", lambda recwarn: not warns_of_ties(recwarn)),
    "leave-one-out of a whole pipeline": (
        "yes",
        lambda: cross_val_score(make_pipeline(StandardScaler(), SVC()), X, y, cv=LeaveOneOut()).size == 60,
    ),
    # there are curves, of one parameter
    "a surface of errors as a figure": (
        "no",
        lambda: {"LearningCurveDisplay", "ValidationCurveDisplay"} == DISPLAYS,
    ),
    "a command that trains, selects, saves and predicts": ("no", lambda: NO_COMMAND),
    "categories and missing values from a file to a saved model": ("no", lambda: NO_COMMAND),
    "CSV, LIBSVM text, Parquet and standard input": (
        "partly",
        lambda tmp_path: NO_COMMAND and reads_libsvm_text(tmp_path),
    ),
    "a page about a selection": ("no", lambda: has_none_called("report", "page")),
    "model files without pickle": ("no", lambda: has_none_called("save", "dump", "to_")),
    "model files of LIBSVM, read and written": ("no", lambda: has_none_called("save", "load")),
    "pipelines, clones, pickles and searches of scikit-learn": (
        "yes",
        lambda: searches(make_pipeline(StandardScaler(), SVC()), {"svc__C": [1, 2]}),
    ),
    "sparse rows": ("yes", lambda: sparse.issparse(SVC().fit(sparse.csr_matrix(X), y).support_vectors_)),
    "data frames": (
        "yes",
        lambda: SVC().fit(pd.DataFrame(X, columns=list("abc")), y).feature_names_in_.tolist() == list("abc"),
    ),
    "training sets made smaller by editing and cross-training": (
        "no",
        lambda: not [name for name, _ in all_estimators() if re.search("Edited|Condens|CrossTrain", name)],
    ),
    # where there is no limit there is nothing to run; its documentation says how time grows
    "models of more than a hundred thousand rows": ("partly", lambda: SVC().max_iter == -1),
    "a GPU": ("no", lambda: has_none_called("gpu", "device", "cuda")),
}


def test_every_row_is_shown():
    assert SHOWN.keys() == table().keys()


@pytest.mark.parametrize("row", SHOWN)
def test_scikit_learn_is_as_the_table_says(row, request):
    says, shows = SHOWN[row]
    assert table()[row]["scikit-learn"] == says
    assert shows(*map(request.getfixturevalue, inspect.signature(shows).parameters))


def test_the_page_names_the_version_that_is_run(request):
    text = (request.config.rootpath / "docs" / "features.md").read_text()
    named = re.search(r"scikit-learn (\d+\.\d+)", text)[1]
    assert version("scikit-learn").startswith(f"{named}.")
