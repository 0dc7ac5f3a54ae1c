"""scikit-learn's own class of a fitted model, for programs that know no other."""

import numpy as np
from scipy import sparse
from sklearn import svm
from sklearn.utils.validation import check_is_fitted

from svmselect.gram.rows import measured_from
from svmselect.kernels import RBF, Kernel, Linear, Polynomial, Sigmoid

__all__ = ["NAMED_KERNELS", "classifier_to_sklearn", "machine_to_sklearn"]

# the kernels that LIBSVM has: scikit-learn's name, and the parameters
NAMED_KERNELS: dict[type[Kernel], tuple[str, tuple[str, ...]]] = {
    Linear: ("linear", ()),
    Polynomial: ("poly", ("degree", "gamma", "coef0")),
    RBF: ("rbf", ("gamma",)),
    Sigmoid: ("sigmoid", ("gamma", "coef0")),
}


def classifier_to_sklearn(model):
    """Return scikit-learn's SVC or NuSVC of a fitted classifier; see `KernelEstimator.to_sklearn`."""
    check_is_fitted(model)
    if "_calibration" in vars(model):
        raise ValueError(
            "scikit-learn's class cannot hold calibrated probabilities: calibration must be None"
        )
    if model.threshold_ != 0:
        raise ValueError(f"scikit-learn's class cannot hold a threshold other than 0, got {model.threshold_}")
    # LIBSVM's values of two classes are positive for the first one
    sign = -1 if model.classes_.size == 2 else 1
    estimator = _to_sklearn(model, sign, model.n_support_)
    estimator.classes_, estimator.class_weight_ = model.classes_.copy(), model.class_weight_.copy()
    estimator.n_iter_ = estimator._num_iter
    return estimator


def machine_to_sklearn(model):
    """Return scikit-learn's SVR, NuSVR or OneClassSVM; see `KernelEstimator.to_sklearn`."""
    check_is_fitted(model)
    estimator = _to_sklearn(model, 1, np.repeat(model.n_support_, 2))  # LIBSVM says that it has two classes
    estimator.n_iter_ = int(model.n_iter_)
    if hasattr(model, "offset_"):
        estimator.offset_ = model.offset_.copy()
    return estimator


def _to_sklearn(model, sign, n_support):
    """Return scikit-learn's estimator with all that both kinds have; `sign` is LIBSVM's relative to ours."""
    # 1) its parameters, with gamma as a number
    estimator = next(getattr(svm, c.__name__)() for c in type(model).__mro__ if hasattr(svm, c.__name__))
    parameters = estimator.get_params().keys() - {"probability"}
    estimator.set_params(**{key: value for key, value in model.get_params().items() if key in parameters})
    kernel = model._kernel
    if kernel is None:
        estimator._gamma = 0.0
    elif type(kernel) in NAMED_KERNELS:
        name, keys = NAMED_KERNELS[type(kernel)]
        estimator.set_params(kernel=name, **{key: getattr(kernel, key) for key in keys})
        estimator._gamma = float(getattr(kernel, "gamma", 0.0))
    else:
        raise ValueError(f"scikit-learn's class cannot hold the kernel {model.kernel!r}")
    # 2) the rows; those of a linear kernel are measured from where `intercept_` expects them
    rows = model.support_vectors_
    if isinstance(kernel, Linear):
        rows = measured_from(rows, model._origin)
    coef = np.array(model.dual_coef_, order="C")
    estimator._sparse = sparse.issparse(rows)
    if estimator._sparse:
        rows, coef = sparse.csr_matrix(rows), _with_zeros(coef)
    estimator.support_vectors_, estimator.support_ = rows.copy(), model.support_.copy()
    # 3) coefficients as they are shown, and as LIBSVM reads them
    estimator.dual_coef_, estimator._dual_coef_ = coef, sign * coef
    estimator.intercept_, estimator._intercept_ = model.intercept_.copy(), sign * model.intercept_
    estimator._n_support = np.array(n_support, dtype=np.int32)
    estimator._probA = estimator._probB = np.empty(0)
    estimator._effective_probability = False
    # 4) facts of the fit
    estimator._num_iter = np.atleast_1d(model.n_iter_).astype(np.int32)
    for name in ("fit_status_", "shape_fit_", "n_features_in_", "feature_names_in_"):
        if name in vars(model):
            setattr(estimator, name, getattr(model, name))
    return estimator


def _with_zeros(coef):
    """Return a CSR matrix in which zeros are stored, too: LIBSVM reads its values as those of a dense one."""
    k, n = coef.shape
    return sparse.csr_matrix((coef.ravel(), np.tile(np.arange(n), k), n * np.arange(k + 1)), shape=coef.shape)
