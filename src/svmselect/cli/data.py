"""The file of a command, the model of its options, and the lines of reports, without scikit-learn."""

import numpy as np
import scipy.sparse

from svmselect.cli.encoding import name_of
from svmselect.cli.output import warn
from svmselect.cli.read import read
from svmselect.sklearn.kernels import resolved_gamma

__all__ = [
    "common_options",
    "constant_class",
    "constant_remark",
    "described",
    "file_in_words",
    "heading",
    "load",
    "model_options",
]

UNEVEN = 100  # from this ratio of the features' deviations on, the command makes a remark


def load(arguments):
    """Read the file of the arguments: return its features, its Table, and facts for reports."""
    data = read(
        arguments.file,
        arguments.format,
        arguments.label,
        arguments.ignore,
        arguments.header,
        arguments.delimiter,
        arguments.drop_missing,
        arguments.strict,
        arguments.categorical,
        arguments.impute,
        arguments.standardise,
        getattr(arguments, "groups", None),
        arguments.zero_based,
        arguments.max_bytes,
        arguments.task,
    )
    # remarks on the file
    for doubt in data.doubts:
        warn(doubt)
    X = data.X
    if arguments.kernel != "linear" and not arguments.standardise and not scipy.sparse.issparse(X):
        with np.errstate(over="ignore", invalid="ignore"):  # the kernel refuses such values
            deviation = X.std(axis=0)
        deviation[data.encoding.is_category] = 0.5  # of a category that half of the rows have
        deviation = deviation[(deviation > 0) & np.isfinite(deviation)]
        if deviation.size and deviation.max() > UNEVEN * deviation.min():
            warn(
                f"the features' deviations differ by a factor of {deviation.max() / deviation.min():.3g}, "
                "and the largest decide alone: --standardise makes them equal"
            )
    if data.dropped:
        warn(f"{data.dropped} rows with a missing value are left out")
    # facts for reports
    if data.labels is None:
        about = {}
    elif arguments.task == "regression":
        z = data.labels
        about = {"targets": {"least": z.min(), "mean": z.mean(), "largest": z.max(), "deviation": z.std()}}
    else:
        classes, counts = np.unique(data.labels, return_counts=True)
        about = {"classes": {name_of(label): int(n) for label, n in zip(classes, counts, strict=True)}}
    facts = {
        "file": arguments.file,
        "rows": X.shape[0],
        "features": X.shape[1],
        **about,
        "label": data.label_column,
        "dropped_rows": data.dropped,
        "doubts": data.doubts,
        "standardised": arguments.standardise,
        **({} if data.groups is None else {"groups": np.unique(data.groups).size}),
    }
    return X, data, facts


def heading(facts, model):
    """Return the first lines of every report."""
    return [f"{facts['file']}: {file_in_words(facts)}", model, ""]


def file_in_words(facts):
    """Return the numbers of rows, features and groups, and the classes or the range of numbers to predict."""
    parts = [f"{facts['rows']} rows, {facts['features']} features"]
    if "targets" in facts:
        targets = facts["targets"]
        parts.append(f"numbers from {targets['least']:.6g} to {targets['largest']:.6g}")
    elif "classes" in facts:
        sizes = ", ".join(f"{label} ({n})" for label, n in facts["classes"].items())
        parts.append(f"classes {sizes}")
    parts.append("no label" if facts["label"] is None else f"label: {facts['label']}")
    if "groups" in facts:
        parts.append(f"{facts['groups']} groups")
    return "; ".join(parts)


def common_options(arguments):
    """Return the options that the models of all tasks have, as parameters of an estimator, but for gamma."""
    return {
        "kernel": arguments.kernel,
        "degree": arguments.degree,
        "coef0": arguments.coef0,
        "tol": arguments.tol,
        "cache_size": arguments.memory,
    }


def model_options(arguments):
    """Return the options of a model as parameters of an SVC, but for C and gamma."""
    return common_options(arguments) | {"class_weight": "balanced" if arguments.balanced else None}


def described(model, X):
    """Return the parameters of an SVC, SVR or OneClassSVM as a dict, and as a line for people."""
    parameters = {"kernel": model.kernel}
    parameters |= {name: float(getattr(model, name)) for name in ("nu", "C") if hasattr(model, name)}
    if model.kernel != "linear":
        parameters["gamma"] = float(resolved_gamma(model.gamma, X))
    if model.kernel == "poly":
        parameters["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        parameters["coef0"] = model.coef0
    words = [f"{model.kernel} kernel"]
    words += [f"{name} {value:.6g}" for name, value in parameters.items() if name != "kernel"]
    if hasattr(model, "epsilon"):
        parameters["epsilon"] = float(model.epsilon)
        words.append(f"epsilon {model.epsilon:.6g}")
        return parameters, "SVR: " + ", ".join(words)
    if "nu" in parameters:
        return parameters, "One-class SVM: " + ", ".join(words)
    parameters["class_weight"] = model.class_weight
    if model.class_weight:
        words.append("balanced classes")
    return parameters, "SVM: " + ", ".join(words)


def constant_class(predicted):
    """Return the name of the class if all rows are given one, else None."""
    return name_of(predicted.tolist()[0]) if (predicted == predicted[0]).all() else None


def constant_remark(predicted):
    """Return a line that names the class if all rows are given one, else no line."""
    label = constant_class(predicted)
    return [] if label is None else [f"the model is constant: it gives every row the class {label}"]
