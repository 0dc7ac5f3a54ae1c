"""Trained models in files: skops' format, which runs no code that a file brings along, and LIBSVM's."""

import io
import json
import pkgutil
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from svmselect import kernels
from svmselect.atomic import replacing
from svmselect.editing import SVM, Bagging, CrossTraining
from svmselect.sklearn.calibration import Calibration, Isotonic, PairwiseCoupling, Sigmoid
from svmselect.sklearn.editing import BaggedSVC, CrossTrainingSVC, EditedSVC
from svmselect.sklearn.libsvm_file import libsvm_model, libsvm_text
from svmselect.sklearn.loo_search import LOOSearchCV
from svmselect.sklearn.machine import OneClassSVM
from svmselect.sklearn.scoring import Scoring
from svmselect.sklearn.seeded_cv import SeededCV
from svmselect.sklearn.svc import SVC, NuSVC
from svmselect.sklearn.svr import SVR, NuSVR

__all__ = ["load_model", "save_model"]

# Types that a file may hold beside those that skops trusts. scikit-learn's imputers have a dtype.
TRUSTED = (
    *(SVC, NuSVC, SVR, NuSVR, OneClassSVM, LOOSearchCV, SeededCV, EditedSVC, BaggedSVC, CrossTrainingSVC),
    *(Scoring, Calibration, Isotonic, Sigmoid, PairwiseCoupling, SVM, Bagging, CrossTraining),
    *(np.dtype, sparse.csr_array, sparse.csr_matrix),
    *(kernels.RBF, kernels.AnisotropicRBF, kernels.Linear, kernels.Polynomial, kernels.Sigmoid),
    *(kernels.Laplacian, kernels.ChiSquared, kernels.Sum, kernels.Product, kernels.Custom),
)
# A file may unpack to this many bytes, or to this many times its own size. Objects made of JSON take about
# SCHEMA_TIMES as many bytes as its text.
MOST_BYTES, MOST_TIMES, SCHEMA_TIMES = 2**30, 100, 30


def save_model(
    model: BaseEstimator, path: str | Path, format: str = "skops", zero_based: bool = False
) -> None:
    """Write a trained model to a file, which appears complete or not at all.

    Parameters
    ----------
    model : estimator
        Fitted. For "skops" an estimator or a search of `svmselect.sklearn`, or a Pipeline or another
        meta-estimator of scikit-learn; for "libsvm" an SVC, NuSVC, SVR, NuSVR or OneClassSVM.
    path : str or Path
    format : {"skops", "libsvm"}
        "skops" keeps everything but the training set: a loaded model predicts the same to the last bit.
        "libsvm" is the model file of ``svm-train``, which ``svm-predict`` reads; it has no C, no weights, no
        names of features, no labels but whole numbers, and no calibration by left-out rows or threshold.
    zero_based : bool
        Whether the format "libsvm" numbers the features from 0, as the rows for ``svm-predict`` must then.

    Raises
    ------
    ValueError
        The model is not fitted, or the format cannot hold it: for example a function that is not at the top
        of a module.

    See Also
    --------
    load_model

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from svmselect.sklearn import SVC, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> path = Path(tempfile.mkdtemp()) / "model.skops"
    >>> save_model(make_pipeline(StandardScaler(), SVC()).fit(X, y), path)
    >>> load_model(path).predict(X[:2])
    array([0, 0])
    """
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"model must be an estimator of scikit-learn's kind, got a {type(model).__name__}")
    check_is_fitted(model)
    if format not in ("skops", "libsvm"):
        raise ValueError(f"format must be 'skops' or 'libsvm', got {format!r}")
    if zero_based and format != "libsvm":
        raise ValueError(f"zero_based is for format='libsvm', got format={format!r}")
    content = libsvm_text(model, zero_based).encode() if format == "libsvm" else _skops_content(model)
    with replacing(Path(path)) as file:
        file.write(content)


def load_model(
    path: str | Path,
    trusted: Any = (),
    n_features: int | None = None,
    zero_based: bool | str = "auto",
) -> Any:
    """Read a model that `save_model`, skops, or LIBSVM's ``svm-train`` has written.

    Parameters
    ----------
    path : str or Path
        The format is told from the content.
    trusted : sequence of str or type
        Types and functions that a skops file may hold beside those of svmselect, and of NumPy, SciPy and
        scikit-learn as far as skops trusts them: for example ``["sklearn.metrics._scorer._Scorer"]``, or a
        kernel's function. Loading calls what is named here.
    n_features : int, optional
        Number of features of the rows, which LIBSVM's model file lacks. By default the largest number of a
        feature that a support vector has.
    zero_based : {"auto"} or bool
        Whether number 0 of LIBSVM's file is the first feature, and not number 1; as for scikit-learn's
        ``load_svmlight_file``. By default whether a support vector has a feature 0.

    Returns
    -------
    estimator
        It predicts, and does not have the training set: estimates that were not computed before are an
        AttributeError. From LIBSVM's file, C (or nu) and other missing parameters are the defaults. Two
        classes are sorted; more keep the file's order, since ties of votes go to the first. Its
        ``predict_proba`` is LIBSVM's, if ``svm-train -b 1`` has written the file.

    Raises
    ------
    ValueError
        There is no such file, it is of no known format, it is damaged, it holds a type that is not trusted,
        or it unpacks to more than 1 GiB and more than a hundred times its size.
    """
    try:
        content = Path(path).read_bytes()
        if content.startswith(b"PK"):
            one = isinstance(trusted, str) or callable(trusted)
            return _model_of_skops(content, [trusted] if one else list(trusted))
        text = content.decode("utf-8-sig", errors="replace")
        if text.startswith("svm_type "):
            return libsvm_model(text, n_features, zero_based)
        if text.lstrip().startswith("{") and '"svmselect model"' in text:
            raise ValueError("the JSON format of an earlier svmselect: train the model again, and save it")
        raise ValueError("neither a model of skops nor one of LIBSVM")
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _skops_content(model):
    """Return the bytes of a skops file; raise a ValueError if it would load as another model."""
    import skops.io  # it takes as long to import as scikit-learn

    try:
        content = skops.io.dumps(model)
        named = skops.io.get_untrusted_types(data=content)
    except Exception as error:
        raise ValueError(f"the model cannot be saved as skops: {_reason(error)}") from None
    for name in named:
        try:
            pkgutil.resolve_name(name)
        except (ImportError, AttributeError, ValueError):
            raise ValueError(f"{name} cannot be saved: it has no name at the top of a module") from None
    with ZipFile(io.BytesIO(content)) as archive:
        for node in _nodes(archive):
            keys = node["key_types"]["content"] if node.get("__loader__") == "DictNode" else []
            if any(key["__class__"] in ("bool", "bool_") for key in keys):  # skops reads them all as True
                raise ValueError("a dict with keys True or False, such as class_weight, cannot be saved")
    return content


def _model_of_skops(content, trusted):
    """Return the estimator of a skops file, of which nothing is built unless every type is trusted."""
    import skops.io

    trusted += TRUSTED
    names = {t if isinstance(t, str) else f"{t.__module__}.{t.__name__}" for t in trusted}
    try:
        _check_size(content)
        untrusted = sorted(set(skops.io.get_untrusted_types(data=content)) - names)
        model = None if untrusted else skops.io.loads(content, trusted=sorted(names))
    except Exception as error:
        raise ValueError(f"no skops file, or a damaged one: {_reason(error)}") from None
    if untrusted:
        raise ValueError(f"the file holds types that are not trusted; if you know them, trusted={untrusted}")
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"the file holds a {type(model).__name__}, and no estimator")
    return model


def _check_size(content):
    """Raise a ValueError if a skops file unpacks to absurdly many bytes.

    An array counts as often as the schema names it. Sparse matrices are zip files within the file.
    """
    most = max(MOST_BYTES, MOST_TIMES * len(content))
    with ZipFile(io.BytesIO(content)) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        sizes["schema.json"] *= SCHEMA_TIMES
        if sum(sizes.values()) <= most:
            for name in sizes:
                part = archive.read(name)
                if part.startswith(b"PK"):
                    with ZipFile(io.BytesIO(part)) as inner:
                        sizes[name] += sum(entry.file_size for entry in inner.infolist())
            names = [node["file"] for node in _nodes(archive) if isinstance(node.get("file"), str)]
            sizes["all that are named"] = sum(sizes[name] for name in names)
    if sum(sizes.values()) > most:
        raise ValueError(f"{sum(sizes.values())} bytes unpacked, and {most} at most are read")


def _nodes(archive):
    """Return all JSON objects of a skops file's schema."""
    nodes = []
    json.loads(archive.read("schema.json"), object_hook=lambda node: nodes.append(node) or node)
    return nodes


def _reason(error):
    """Return the kind of an error, and what it says, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
