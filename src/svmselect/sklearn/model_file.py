"""Trained models in files: this library's JSON format, and that of LIBSVM; no pickle."""

import hashlib
import json
import math
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from svmselect.atomic import replacing
from svmselect.csr import as_csr
from svmselect.kernels import (
    RBF,
    AnisotropicRBF,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    Sigmoid,
    Sum,
)
from svmselect.sklearn.calibration import Calibration, PairwiseCoupling
from svmselect.sklearn.libsvm_file import libsvm_model, libsvm_text
from svmselect.sklearn.machine import Machine, OneClassSVM
from svmselect.sklearn.svc import SVC, NuSVC
from svmselect.sklearn.svr import SVR, NuSVR

__all__ = ["content_hash", "load_model", "read_model", "save_model"]

FORMAT, VERSION = "svmselect model", 1
DAMAGED = "the file is damaged: its parts do not fit each other"
HEAD = ("format", "version", "library", "sha256")
TYPES: dict[str, type] = {"SVC": SVC, "NuSVC": NuSVC}
MACHINES: dict[str, type] = {"SVR": SVR, "NuSVR": NuSVR, "OneClassSVM": OneClassSVM}
KERNELS = {
    kernel.name: kernel
    for kernel in (Linear, RBF, Polynomial, Sigmoid, Laplacian, ChiSquared, AnisotropicRBF, Sum, Product)
}
# Kinds of labels: numbers, text in an array of NumPy, and text in an array of Python's objects.
LABELS = {"i": "number", "u": "number", "f": "number", "b": "number", "U": "text", "O": "object"}


@dataclass(frozen=True)
class _SavedModel:
    """The content of a model file."""

    model: SVC | NuSVC | Machine
    format: str
    # the map from rows of a table to rows of the model, for the command that has written it
    encoding: dict[str, Any] | None = None
    zero_based: bool = False  # whether a file of LIBSVM counts its features from 0


def save_model(model, path, format="json", encoding=None, zero_based=False):
    """Write a trained model to a file, which appears complete or not at all.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted.
    path : str or Path
    format : {"json", "libsvm"}
        "json" keeps everything that predicting needs, digit for digit: a model that is loaded predicts the
        same decision values to the last bit. "libsvm" is the model file of ``svm-train``, which
        ``svm-predict`` reads; it has no C, no weights, no names of features, no labels but whole numbers,
        and no calibration by left-out rows or threshold.
    encoding : dict, optional
        Values that JSON can hold; they are kept beside the model, in the format "json" alone.
    zero_based : bool
        Whether the format "libsvm" numbers the features from 0, as the rows for ``svm-predict`` must then.

    Raises
    ------
    ValueError
        The model is not fitted, or the format cannot hold it.

    See Also
    --------
    load_model

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import SVC, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> save_model(SVC().fit(X, y), path)
    >>> load_model(path).predict(X[:2])
    array([0, 0])
    """
    if type(model) not in (TYPES | MACHINES).values():
        raise ValueError(
            f"model must be a svmselect.sklearn.{', '.join(TYPES)}, {', '.join(MACHINES)}, "
            f"got a {type(model).__name__}"
        )
    check_is_fitted(model)
    if format not in ("json", "libsvm"):
        raise ValueError(f"format must be 'json' or 'libsvm', got {format!r}")
    if format == "libsvm":
        if encoding is not None:
            raise ValueError(
                "LIBSVM's model file cannot hold an encoding of the rows: save the model as json"
            )
        content = libsvm_text(model, zero_based)
    elif zero_based:
        raise ValueError(f"zero_based is for format='libsvm', got format={format!r}")
    else:
        content = _json_text(model, encoding)
    with replacing(Path(path)) as file:
        file.write(content.encode())


def load_model(path, n_features=None, zero_based="auto"):
    """Read a model that `save_model`, ``svmselect train`` or LIBSVM's ``svm-train`` has written.

    Parameters
    ----------
    path : str or Path
        The format is told from the content.
    n_features : int, optional
        Number of features of the rows, which LIBSVM's model file lacks. By default the largest number of a
        feature that a support vector has.
    zero_based : {"auto"} or bool
        Whether number 0 of LIBSVM's file is the first feature, and not number 1; as for scikit-learn's
        ``load_svmlight_file``. By default whether a support vector has a feature 0.

    Returns
    -------
    SVC, NuSVC, SVR, NuSVR or OneClassSVM
        It predicts, and does not have the training set: its estimates are an AttributeError. From LIBSVM's
        file, C (or nu) and other missing parameters are the defaults. Two classes are sorted; more keep the
        file's order, since ties of votes go to the first. Its ``predict_proba`` is LIBSVM's, if
        ``svm-train -b 1`` has written the file.

    Raises
    ------
    ValueError
        There is no such file, it is not of a known format or version, or it is damaged.

    Notes
    -----
    A model of ``svmselect train`` takes encoded rows (categories, imputed and standardised values);
    ``svmselect predict`` applies the encoding to a file.
    """
    return read_model(path, n_features, zero_based).model


def read_model(path, n_features=None, zero_based="auto"):
    """Read a model and the rest of its file, as a `_SavedModel`."""
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        text = ""
    try:
        if text.lstrip().startswith("{"):
            return _read_json(text)
        if text.startswith("svm_type "):
            parts, calibration, zero_based = libsvm_model(text, n_features, zero_based)
            model = _restored(**parts) if "classes" in parts else _restored_machine(**parts)
            if calibration is not None:
                model._calibration = calibration
            return _SavedModel(model, "libsvm", zero_based=zero_based)
        raise ValueError("neither a model of svmselect nor one of LIBSVM")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _json_text(model, encoding):
    """Return the file of a model."""
    kernel = model._kernel
    common = {
        "type": type(model).__name__,
        "parameters": {name: _parameter(name, value) for name, value in model.get_params().items()},
        "kernel": None if kernel is None else _kernel_parts(kernel),
        "n_features": model.n_features_in_,
        "feature_names": None if (names := vars(model).get("feature_names_in_")) is None else names.tolist(),
        "shape_fit": list(model.shape_fit_),
        "fit_status": model.fit_status_,
        "n_iter": np.asarray(model.n_iter_).tolist(),
        "origin": None if model._origin is None else model._origin.tolist(),
        "support": model.support_.tolist(),
        "support_vectors": _matrix(model.support_vectors_),
    }
    if isinstance(model, Machine):
        return _described(common | _machine_parts(model), encoding)
    content = common | {
        "classes": _labels(model.classes_),
        "class_weight": model.class_weight_.tolist(),
        "n_support": model.n_support_.tolist(),
        "dual_coef": model._coef.tolist(),
        "intercept": model._b.tolist(),
        "threshold": vars(model).get("threshold_"),
        "calibration": None if (p := vars(model).get("_calibration")) is None else p.points,
    }
    return _described(content, encoding)


def _machine_parts(model):
    """Return the parts of a file that a regression or a one-class model has in the place of classes."""
    return {
        "dual_coef": model.dual_coef_[0].tolist(),
        "intercept": float(model._b),
        "epsilon": vars(model).get("epsilon_"),
    }


def _described(content, encoding):
    """Return the text of a file of these parts, with its head."""
    content = content | {"encoding": encoding}
    try:
        digest = content_hash(content)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the model holds what JSON cannot: {error}") from None
    head = dict(zip(HEAD, (FORMAT, VERSION, version("svmselect"), digest), strict=True))
    # a line for each part, so that people can look at it
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in {**head, **content}.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def content_hash(content):
    """Return the sha256 of the parts of a JSON file that describe the model, in hexadecimal digits."""
    said = {key: value for key, value in content.items() if key not in HEAD}
    text = json.dumps(said, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value):
    """Return a number or text of Python for one of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def _parameter(name, value):
    """Return a parameter as JSON holds it; weights by class as pairs, since labels may be of any kind."""
    if name == "class_weight" and isinstance(value, dict):
        return [[_plain(label), _plain(weight)] for label, weight in value.items()]
    return _kernel_parts(value) if isinstance(value, Kernel) else _plain(value)


def _kernel_parts(kernel):
    """Return the name and the parameters of a kernel, which may be made of others."""
    if KERNELS.get(kernel.name) is not type(kernel):
        raise ValueError(f"a model with the kernel {kernel!r} cannot be saved: it is a program")
    parts = {"name": kernel.name}
    for each in fields(kernel):
        value = getattr(kernel, each.name)
        values = value if isinstance(value, tuple) else (value,)
        plain = [_kernel_parts(v) if isinstance(v, Kernel) else _plain(v) for v in values]
        parts[each.name] = plain if isinstance(value, tuple) else plain[0]
    return parts


def _labels(classes):
    kind = LABELS.get(classes.dtype.kind)
    values = classes.tolist()
    if kind is None or (kind == "object" and not all(isinstance(label, str) for label in values)):
        raise ValueError(f"labels must be numbers or text to be saved, got {values[0]!r}")
    return {"dtype": classes.dtype.str if kind == "number" else kind, "values": values}


def _matrix(X):
    if not sparse.issparse(X):
        return {"dense": X.tolist()}
    return {"indptr": X.indptr.tolist(), "indices": X.indices.tolist(), "data": X.data.tolist()}


def _read_json(text):
    """Return the _SavedModel of a JSON file."""

    def no_number(word):
        raise ValueError(word)

    # 1) JSON of a known format and version, as it was written
    try:
        content = json.loads(text, parse_constant=no_number)
    except (ValueError, RecursionError):
        raise ValueError("not JSON: the file is cut off or damaged") from None
    if content.get("format") != FORMAT:
        raise ValueError("JSON, but no model of svmselect")
    number = content.get("version")
    if number != VERSION:
        newer = isinstance(number, int) and number > VERSION
        origin = "written by a newer svmselect, " if newer else ""
        raise ValueError(f"{origin}of version {number!r} of the format, and this one reads {VERSION}")
    if content.get("sha256") != content_hash(content):
        raise ValueError("the file is damaged: its content is not what was written")
    # 2) the parts of the model
    try:
        machine = content["type"] in MACHINES
        model = _machine_of(content) if machine else _classifier_of(content)
        model.shape_fit_, model.fit_status_ = tuple(content["shape_fit"]), int(content["fit_status"])
        if content["feature_names"] is not None:
            model.feature_names_in_ = _array(content["feature_names"], object)
            if model.feature_names_in_.shape != (model.n_features_in_,):
                raise ValueError("names")
        return _SavedModel(model, "json", content["encoding"])
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, IndexError, RecursionError):
        raise ValueError(DAMAGED) from None


def _shared_parts(content):
    """Return the parts that every model of a JSON file has."""
    parameters, d = content["parameters"], content["n_features"]
    if isinstance(parameters["kernel"], dict):
        parameters["kernel"] = _kernel(parameters["kernel"])
    return {
        "estimator": (TYPES | MACHINES)[content["type"]](**parameters),
        "kernel": _kernel(content["kernel"]),
        "n_features": d,
        "support_vectors": _rows(content["support_vectors"], d if content["kernel"] is not None else 0),
        "coef": _array(content["dual_coef"]),
        "support": _array(content["support"], np.int32),
        "origin": None if content["origin"] is None else _array(content["origin"]),
    }


def _machine_of(content):
    """Return the regression or the one-class model of a JSON file."""
    model = _restored_machine(**_shared_parts(content), b=float(_array(content["intercept"])))
    model.n_iter_ = int(content["n_iter"])
    if content["epsilon"] is not None:
        model.epsilon_ = float(_array(content["epsilon"]))
    return model


def _classifier_of(content):
    """Return the classifier of a JSON file."""
    parameters = content["parameters"]
    if isinstance(parameters["class_weight"], list):
        parameters["class_weight"] = dict(map(tuple, parameters["class_weight"]))
    model = _restored(
        **_shared_parts(content),
        classes=_classes(**content["classes"]),
        class_weight=_array(content["class_weight"]),
        n_iter=_array(content["n_iter"], np.int64),
        n_support=_array(content["n_support"], np.int32),
        b=_array(content["intercept"]),
    )
    _read_decisions(model, content["threshold"], content["calibration"])
    return model


def _check_parts(shapes, kernel, n, n_features, support_vectors, support, origin):
    """Raise a ValueError unless the parts of a model with n support vectors fit each other.

    `shapes` has pairs that have to be equal.
    """
    shapes = [
        *shapes,
        (type(n_features), int),
        (support_vectors.shape if kernel is not None and n else (n, n_features), (n, n_features)),
        ((n_features,) if origin is None else origin.shape, (n_features,)),
        (support.shape, (n,)),
    ]
    if any(shape != expected for shape, expected in shapes):
        raise ValueError(DAMAGED)
    if kernel is None and n and not 0 <= support.min() <= support.max() < n_features:
        raise ValueError("the file is damaged: a support vector is no row of the kernel matrix")


def _restored_machine(estimator, kernel, n_features, support_vectors, coef, b, support=None, origin=None):
    """Return a fitted regression or one-class model; raise a ValueError where parts do not fit each other."""
    n = coef.size
    support = np.arange(n, dtype=np.int32) if support is None else support
    _check_parts([(coef.shape, (n,))], kernel, n, n_features, support_vectors, support, origin)
    estimator._set_model(kernel, origin, support, support_vectors, coef, b)
    estimator.n_features_in_, estimator.shape_fit_ = n_features, (n, n_features)
    estimator.fit_status_ = estimator.n_iter_ = 0
    return estimator


def _read_decisions(model, threshold, calibration):
    """Set the threshold and the calibration of a classifier."""
    model.threshold_ = float(_array(threshold))
    if isinstance(calibration, dict):
        probs = _array(calibration["probA"]), _array(calibration["probB"])
        if any(part.shape != model._b.shape for part in probs):
            raise ValueError("calibration")
        model._calibration = PairwiseCoupling(*probs)
    elif calibration is not None:
        if len(calibration) != (1 if model.classes_.size == 2 else model.classes_.size):
            raise ValueError("calibration")
        for part in calibration:
            if len(part) != 2 or _array(part).size < 2:
                raise ValueError("calibration")
        model._calibration = Calibration.from_points(calibration)


def _kernel(parts):
    if parts is None:
        return None
    parameters = dict(parts)
    for key, value in parts.items():
        if isinstance(value, list):
            parameters[key] = tuple(_kernel(part) if isinstance(part, dict) else part for part in value)
    return KERNELS[parameters.pop("name")](**parameters)


def _classes(dtype, values):
    if dtype in ("text", "object"):
        if not all(isinstance(label, str) for label in values):
            raise TypeError("labels")
        return np.array(values, dtype=str if dtype == "text" else object)
    if LABELS.get(np.dtype(dtype).kind) != "number":
        raise TypeError("labels")
    return _array(values, np.dtype(dtype))


def _array(values, dtype=np.float64):
    with np.errstate(over="ignore"):
        array = np.array(values, dtype=dtype)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("not finite")
    return array


def _rows(parts, n_features):
    if "dense" in parts:
        rows = parts["dense"]
        return _array(rows).reshape(len(rows), -1) if rows else np.empty((0, n_features))
    arrays = _array(parts["data"]), _array(parts["indices"], np.int64), _array(parts["indptr"], np.int64)
    return as_csr(sparse.csr_matrix(arrays, shape=(arrays[2].size - 1, n_features)))


def _restored(
    estimator,
    kernel,
    classes,
    n_features,
    support_vectors,
    n_support,
    coef,
    b,
    class_weight=None,
    n_iter=None,
    origin=None,
    support=None,
):
    """Return a fitted estimator of its parts; raise a ValueError where they do not fit each other."""
    k, n_pairs, n = classes.size, math.comb(classes.size, 2), int(n_support.sum())
    support = np.arange(n, dtype=np.int32) if support is None else support
    class_weight = np.ones(k) if class_weight is None else class_weight
    shapes = [
        (k >= 2 and np.unique(classes).size == k, True),
        (n_support.shape, (k,)),
        (bool((n_support >= 0).all()), True),
        (coef.shape if n else (n_pairs, 0), (n_pairs, n)),
        (b.shape, (n_pairs,)),
        (class_weight.shape, (k,)),
    ]
    _check_parts(shapes, kernel, n, n_features, support_vectors, support, origin)
    # fitted attributes
    estimator._kernel, estimator._origin, estimator.classes_ = kernel, origin, classes
    estimator._coef, estimator._b = np.ascontiguousarray(coef.reshape(n_pairs, n)), b
    estimator.support_vectors_ = support_vectors
    estimator.support_, estimator.class_weight_ = support, class_weight
    estimator.n_features_in_, estimator.shape_fit_ = n_features, (n, n_features)
    estimator.fit_status_ = 0
    estimator.n_iter_ = np.zeros(n_pairs, dtype=np.int64) if n_iter is None else n_iter
    estimator.threshold_ = 0.0
    estimator._describe(np.repeat(np.arange(k), n_support))
    return estimator
