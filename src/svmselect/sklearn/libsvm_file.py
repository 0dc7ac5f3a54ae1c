"""The model file of LIBSVM: ``svm-train`` writes it, ``svm-predict`` reads it."""

import math
import re
from itertools import pairwise

import numpy as np
from scipy import sparse

from svmselect.sklearn.calibration import PairwiseCoupling
from svmselect.sklearn.machine import OneClassSVM
from svmselect.sklearn.one_vs_one import libsvm_coef, pairwise_coef
from svmselect.sklearn.svc import SVC, NuSVC
from svmselect.sklearn.svr import SVR, NuSVR
from svmselect.sklearn.to_sklearn import NAMED_KERNELS

__all__ = ["libsvm_model", "libsvm_text"]

TYPES: dict[str, type] = {"c_svc": SVC, "nu_svc": NuSVC}
MACHINES: dict[str, type] = {"epsilon_svr": SVR, "nu_svr": NuSVR, "one_class": OneClassSVM}
# by LIBSVM's names: the kernel, its name here, and its parameters
KERNELS = {
    "polynomial" if name == "poly" else name: (kernel, name, keys)
    for kernel, (name, keys) in NAMED_KERNELS.items()
}
MOST_LABEL = 2**31 - 1  # LIBSVM's labels are C's int
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def libsvm_text(model, zero_based=False):
    """Return the file of a fitted model, with 17 digits for every number.

    Raise a ValueError if the format cannot hold the model. With `zero_based` the first feature is number 0,
    and not 1. The first support vector has the first and the last feature in any case, if need be with the
    value 0, so that a reader learns from the file how many there are, and from which number on they count.
    """
    # 1) models that the format cannot hold
    if type(model) not in (TYPES | MACHINES).values():
        names = ", ".join(kind.__name__ for kind in (TYPES | MACHINES).values())
        raise ValueError(f"LIBSVM's model file holds an {names}, got a {type(model).__name__}")
    kernel = model._kernel
    matches = [(name, keys) for name, (kind, _, keys) in KERNELS.items() if kind is type(kernel)]
    if not matches:
        raise ValueError(
            f"a model with the kernel {model.kernel!r} cannot be saved as libsvm: save the model as skops"
        )
    ((name, keys),) = matches
    kernel_lines = [f"kernel_type {name}", *(f"{key} {getattr(kernel, key):.17g}" for key in keys)]
    if type(model) in MACHINES.values():
        word = next(word for word, kind in MACHINES.items() if kind is type(model))
        sizes = ["nr_class 2", f"total_sv {model.support_.size}", f"rho {_numbers(-model.intercept_)}"]
        lines = [f"svm_type {word}", *kernel_lines, *sizes, "SV"]
        return _with_support_vectors(lines, model, model.dual_coef_, zero_based)
    for label in model.classes_.tolist():
        if isinstance(label, bool | str) or label != math.floor(label) or abs(label) > MOST_LABEL:
            raise ValueError(
                f"LIBSVM's model file cannot hold the label {label!r}: save the model as skops, or make the "
                "labels whole numbers"
            )
    if vars(model).get("threshold_", 0) != 0:
        raise ValueError(
            f"LIBSVM's model file cannot hold the threshold {model.threshold_!r}: save the model as skops"
        )
    calibration = vars(model).get("_calibration")
    if not isinstance(calibration, PairwiseCoupling | None):
        raise ValueError(
            "LIBSVM's model file cannot hold the calibration of left-out values: save the model as skops"
        )
    # 2) the head
    codes = np.repeat(np.arange(model.classes_.size), model.n_support_)
    coef = libsvm_coef(model._coef, codes)
    # intercept_ is for rows as they are, wherever the origin lies
    rho = model.intercept_ if model.classes_.size == 2 else -model.intercept_
    lines = [
        f"svm_type {next(word for word, kind in TYPES.items() if kind is type(model))}",
        *kernel_lines,
        f"nr_class {model.classes_.size}",
        f"total_sv {codes.size}",
        f"rho {_numbers(rho)}",
        f"label {' '.join(str(int(label)) for label in model.classes_)}",
        *(f"{key} {_numbers(vars(calibration)[key])}" for key in (("probA", "probB") if calibration else ())),
        f"nr_sv {' '.join(map(str, model.n_support_))}",
        "SV",
    ]
    return _with_support_vectors(lines, model, coef, zero_based)


def _with_support_vectors(lines, model, coef, zero_based):
    """Return the file of these lines and a model's support vectors, with their coefficients."""
    rows = sparse.csr_array(model.support_vectors_, copy=True)
    rows.sum_duplicates()
    first = 0 if zero_based else 1
    for n, coefficients in enumerate(coef.T):
        part = slice(rows.indptr[n], rows.indptr[n + 1])
        values = dict(zip(rows.indices[part].tolist(), rows.data[part], strict=True))
        if n == 0:
            values = {0: 0.0, model.n_features_in_ - 1: 0.0} | values
        pairs = (f"{j + first}:{value:.17g}" for j, value in sorted(values.items()))
        lines.append(" ".join([_numbers(coefficients), *pairs]) + " ")
    return "\n".join(lines) + "\n"


def _numbers(values):
    return " ".join(f"{value:.17g}" for value in values)


def libsvm_model(text, n_features=None, zero_based="auto"):
    """Return the fitted estimator of a model that LIBSVM has written.

    For the arguments see `load_model`. Raise a ValueError for another type of model or kernel, and for a text
    that is cut off or damaged.
    """
    if not (zero_based == "auto" or isinstance(zero_based, bool)):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")
    # 1) the head's keys
    text = re.sub("\r\n?", "\n", text)
    head, mark, body = text.partition("\nSV\n")
    keys = dict(line.split(" ", 1) for line in head.split("\n") if " " in line)
    for key, known in (("svm_type", TYPES | MACHINES), ("kernel_type", KERNELS)):
        word = keys.get(key, "").strip()
        if word and word not in known:
            raise ValueError(f"a model of LIBSVM with {key} {word}, of which {', '.join(known)} can be read")
    # 2) the kernel, the sizes and the support vectors
    try:
        if not mark:
            raise ValueError("no support vectors")
        kind, name, names = KERNELS[keys["kernel_type"].strip()]
        parameters = dict(zip(names, _floats([keys[key] for key in names]), strict=True))
        if "degree" in parameters:
            parameters["degree"] = int(keys["degree"])
        svm_type = (TYPES | MACHINES)[keys["svm_type"].strip()]
        if svm_type in TYPES.values():
            labels = np.array(keys["label"].split(), dtype=np.int64)
            n_support = np.array(keys["nr_sv"].split(), dtype=np.int64)
        else:  # probA is a width of noise there, and the file has no labels
            keys = {key: value for key, value in keys.items() if key != "probA"}
            labels, n_support = np.array([-1, 1]), np.array([int(keys["total_sv"]), 0])
        k, n = labels.size, int(n_support.sum())
        lines = body.split("\n")
        if lines[-1] == "":
            lines.pop()
        elif any(line.endswith(" ") for line in lines) and not lines[-1].endswith(" "):
            # LIBSVM puts a space after every number: the last one is cut off
            raise ValueError("end")
        rho = np.array(_floats(keys["rho"].split()))
        if (int(keys["nr_class"]), int(keys["total_sv"]), len(lines)) != (k, n, n) or (n_support < 0).any():
            raise ValueError("sizes")
        probs = [np.array(_floats(keys[key].split())) for key in ("probA", "probB") if key in keys]
        if n_support.size != k or any(part.size != k * (k - 1) // 2 for part in [rho, *probs]):
            raise ValueError("sizes")
        if np.unique(labels).size < max(k, 2):
            raise ValueError("labels")
        calibration = PairwiseCoupling(*probs) if probs else None
        coef, rows = _support_vectors(lines, k)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        raise ValueError("a model of LIBSVM that is cut off or damaged") from None
    # 3) features counted from 0
    has_feature_0 = bool((rows.indices == 0).any())
    if has_feature_0 and zero_based is False:
        raise ValueError("a support vector has a feature 0, and zero_based is False")
    zero_based = has_feature_0 if zero_based == "auto" else zero_based
    if not zero_based:
        shape = n, max(rows.shape[1] - 1, 1)
        rows = sparse.csr_matrix((rows.data, rows.indices - 1, rows.indptr), shape=shape)
    n_features = rows.shape[1] if n_features is None else n_features
    if rows.shape[1] > n_features:
        number = rows.shape[1] - 1 if zero_based else rows.shape[1]
        raise ValueError(f"a support vector has a feature {number}, and the rows have {n_features}")
    rows = sparse.csr_matrix((rows.data, rows.indices, rows.indptr), shape=(n, n_features))
    estimator = svm_type(kernel=name, **parameters)
    estimator.n_features_in_, estimator.shape_fit_, estimator.fit_status_ = n_features, (n, n_features), 0
    if svm_type in MACHINES.values():
        estimator._set_model(kind(**parameters), None, np.arange(n), rows, coef[0], -float(rho[0]))
        estimator.n_iter_ = 0
        return estimator
    # 4) coefficients of pairs, positive for the second class
    coef, b = pairwise_coef(coef, np.repeat(np.arange(k), n_support)), rho
    if k == 2 and labels[0] > labels[1]:  # the other class is the second
        order = np.r_[n_support[0] : n, 0 : n_support[0]]
        labels, n_support, rows, coef, b = labels[::-1], n_support[::-1], rows[order], -coef[:, order], -b
        if calibration is not None:
            calibration = PairwiseCoupling(calibration.probA, -calibration.probB)
    estimator._kernel, estimator._origin, estimator.classes_ = kind(**parameters), None, labels
    estimator._coef, estimator._b, estimator.support_vectors_ = np.ascontiguousarray(coef), b, rows
    estimator.support_, estimator.threshold_ = np.arange(n, dtype=np.int32), 0.0
    estimator.class_weight_, estimator.n_iter_ = np.ones(k), np.zeros(b.size, dtype=np.int64)
    estimator._describe(np.repeat(np.arange(k), n_support))
    if calibration is not None:
        estimator._calibration = calibration
    return estimator


def _support_vectors(lines, k):
    """Return coefficients in LIBSVM's layout, and rows as CSR, whose first column is feature 0."""
    coef, data, indices, indptr = [], [], [], [0]
    for line in lines:
        words = line.split()
        coef.append(_floats(words[: k - 1]))
        if len(coef[-1]) != k - 1:
            raise ValueError("coefficients")
        pairs = [word.split(":") for word in words[k - 1 :]]
        numbers = [int(index) for index, _ in pairs]
        if numbers and (numbers[0] < 0 or any(a >= b for a, b in pairwise(numbers))):
            raise ValueError("indices")
        indices += numbers
        data += _floats([value for _, value in pairs])
        indptr.append(len(indices))
    if indices and max(indices) >= MOST_LABEL:
        raise ValueError("indices")
    shape = len(lines), max(indices, default=0) + 1
    arrays = np.array(data, dtype=np.float64), np.array(indices, np.int32), np.array(indptr, np.int32)
    return np.array(coef).reshape(-1, k - 1).T, sparse.csr_matrix(arrays, shape=shape)


def _floats(words):
    """Return finite numbers; raise a ValueError for other words."""
    values = [float(word) for word in words if NUMBER.fullmatch(word.strip())]
    if len(values) != len(words) or not all(map(math.isfinite, values)):
        raise ValueError("not a number")
    return values
