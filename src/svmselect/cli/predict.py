"""The command `predict`."""

import csv
import io
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.utils import get_tags

from svmselect.atomic import replacing
from svmselect.cli.arguments import is_number
from svmselect.cli.columns import LABEL_NAMES, is_number_column, refuse_missing
from svmselect.cli.output import counted, name_of, percent, show, visible, warn
from svmselect.cli.read import Table, opened
from svmselect.cli.tasks import task_of_model
from svmselect.sklearn import load_model

__all__ = ["predict"]

JSON_KEYS = {"decision value": "decision_values", "probability": "probabilities", "interval": "intervals"}


def predict(arguments):
    """Run the command `predict`: predictions of a file's rows by a saved model, and their errors."""
    # 1) the model, and what it can do
    model = load_model(arguments.model, zero_based=arguments.zero_based)
    last, task = model[-1] if hasattr(model, "steps") else model, task_of_model(model)
    best = getattr(last, "best_estimator_", last)
    _check_model(arguments, model, best, task)
    # 2) the rows and their labels
    names = getattr(model, "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    source = opened(
        arguments.file,
        arguments.header,
        arguments.delimiter,
        arguments.zero_based,
        arguments.max_bytes,
        arguments.label,
        names or (),
    )
    read = _rows_of_table if isinstance(source, Table) else _rows_of_libsvm
    doubts = []
    X, labels, column = read(arguments, source, model, names, doubts)
    facts, lines = {}, []
    if labels is not None:
        codes = (
            _codes_of(labels, model.classes_, arguments.file, doubts)
            if task.name == "classification"
            else None
        )
    for doubt in doubts:
        warn(doubt)
    # 3) predictions, and the values beside them
    with warnings.catch_warnings():
        for message in (
            "Found unknown categories",
            "X does not have valid feature names",
        ):  # told by name, or by place
            warnings.filterwarnings("ignore", message)
        beside = {}
        predicted = model.predict(X)
        if arguments.decision_values:
            if hasattr(best, "decision_function_shape"):
                best.decision_function_shape = "ovr"
            beside["decision value"] = model.decision_function(X)
        if arguments.probabilities:
            beside["probability"] = model.predict_proba(X)
        if arguments.intervals:
            X_last = model[:-1].transform(X) if hasattr(model, "steps") and len(model.steps) > 1 else X
            beside["interval"] = best.predict_interval(X_last, arguments.intervals)
    # 4) errors
    if task.name == "one-class":
        facts, lines = _rejections(task, predicted, labels)
    elif labels is not None and task.name == "regression":
        facts, lines = _number_errors(task, predicted, labels)
    elif labels is not None and codes is not None:
        facts, lines = _class_errors(predicted, codes, model.classes_)
    # 5) output
    result = {"model": arguments.model, "file": arguments.file, "rows": predicted.size}
    result |= {"label": column if facts else None, "doubts": doubts, **facts}
    is_class = task.name == "classification"
    words = [name_of(label) if is_class else repr(label) for label in predicted.tolist()]
    if arguments.output:
        _write(
            Path(arguments.output),
            words,
            beside,
            [*map(name_of, model.classes_.tolist())] if is_class else [],
        )
        lines = [f"{counted(predicted.size, 'row', 'rows')} predicted: {arguments.output}", *lines]
        result["output"] = arguments.output
    else:
        result["predictions"] = words if is_class else predicted
        if is_class:
            result["classes"] = [name_of(label) for label in model.classes_.tolist()]
        result |= {JSON_KEYS[quantity]: values for quantity, values in beside.items()}
        shown = [visible(word) for word in words]
        lines = [*(_csv_text(_cells(shown, beside)).splitlines() if beside else shown), *lines]
    show(result, arguments.json, lines)


def _check_model(arguments, model, best, task):
    """Raise a ValueError for a model that has not what the options ask for."""
    path, kind = arguments.model, type(best).__name__
    if not hasattr(model, "predict"):
        raise ValueError(f"{path}: a {type(model).__name__} predicts nothing")
    if getattr(best, "kernel", None) == "precomputed":
        raise ValueError(
            f"{path}: a model of a precomputed kernel takes kernel values, and no rows of a file"
        )
    if arguments.probabilities and not hasattr(model, "predict_proba"):
        how = ": train it with --calibration, or by svm-train -b 1" if task.name == "classification" else ""
        raise ValueError(f"{path}: a {kind} has no probabilities here{how}")
    if arguments.decision_values and not hasattr(model, "decision_function"):
        raise ValueError(f"{path}: a {kind} has predictions, no decision values")
    if arguments.intervals and "_left_out_models" not in vars(best):
        raise ValueError(
            f"{path}: the model has no intervals: a regression has them by 'svmselect train --intervals', or "
            "in Python if predict_interval was called before it was saved"
        )


def _encoded(model):
    """Yield the number or the name of each column that a Pipeline encodes as categories, and these."""
    for _, step in getattr(model, "steps", []):
        for _, part, columns in getattr(step, "transformers_", []):
            for one in [one for _, one in part.steps] if hasattr(part, "steps") else [part]:
                if hasattr(one, "categories_"):
                    yield from zip(columns, one.categories_, strict=True)


def _imputes(model):
    """Return whether a step of a Pipeline, or one within its columns, fills in missing values."""
    parts = [step for _, step in getattr(model, "steps", [])]
    parts += [part for _, part, _ in getattr(model, "transformers_", [])]
    return type(model).__name__.endswith("Imputer") or any(map(_imputes, parts))


def _rows_of_table(arguments, table, model, names, doubts):
    """Return the features of a table as a DataFrame, the labels or None, and their column for people."""
    features, label = _places(arguments, table, model, names, doubts)
    given = names or list(range(len(features)))
    encoded = {
        (given.index(column) if isinstance(column, str) else column): kinds
        for column, kinds in _encoded(model)
    }
    text = {
        features[j] for j, kinds in encoded.items() if kinds.dtype.kind in "OU" and isinstance(kinds[0], str)
    }
    apart = set() if label is None else {label}
    table.check_names(sorted({*features, *apart}))
    frame = table.frame(sorted({*features, *apart}), text | apart, apart)
    # 1) numbers and categories
    missing = frame[features].isna()
    if missing.to_numpy().any() and not _imputes(model):
        refuse_missing(table, missing, "train the model with --impute")
    unknown, example = np.zeros(len(frame), dtype=bool), None
    for k, j in enumerate(features):
        if k in encoded:
            strange = frame[j].notna() & ~frame[j].isin(encoded[k])
            if strange.any() and example is None:
                example = frame[j][strange.idxmax()], table.title(j)
            unknown |= strange.to_numpy()
        elif not is_number_column(table, frame[j]):
            n = int(frame[j].notna().to_numpy().argmax())
            raise ValueError(
                f"{table.cell(n, j)}: {frame[j][n]!r} is not a number, as the model was trained on"
            )
    if example is not None:
        doubts.append(
            f"{counted(unknown.sum(), 'row has', 'rows have')} a category that the model was not trained on, "
            f"such as {str(example[0])!r} in column {example[1]}: it counts as none of those that it knows"
        )
    # 2) labels
    labels = None if label is None else frame[label].fillna("").tolist()
    return (
        frame[features].set_axis(given, axis=1),
        labels,
        None if label is None else f"column {table.title(label)}",
    )


def _places(arguments, table, model, names, doubts):
    """Return the columns of the model's features in a table, and the one of the label or None."""
    d, path, width = model.n_features_in_, table.path, table.width
    label = None if arguments.label is None else table.number_of(arguments.label)
    if names is not None and table.names is not None:
        absent = [name for name in names if name not in table.names]
        if absent:
            more = f" and {len(absent) - 1} others" if len(absent) > 1 else ""
            raise ValueError(
                f"{path}: there is no column {absent[0]!r}{more}, which the model was trained on (the names "
                f"are {', '.join(map(repr, table.names))})"
            )
        features = [table.names.index(name) for name in names]
        if label in features:
            raise ValueError(
                f"{path}: column {table.title(label)} is a feature of the model, so it has no labels"
            )
        surplus = [j for j in range(width) if j not in features]
        if label is None and len(surplus) == 1:
            return features, surplus[0]
        if label is None and surplus:
            doubts.append(
                f"columns {', '.join(map(table.title, surplus[:8]))} are none of the model's; --label says "
                "which has labels"
            )
        return features, label
    if width == d and label is None:
        return list(range(d)), None
    if width == d + 1:
        if label is None:
            likely = [j for j, name in enumerate(table.names or ()) if name.lower() in LABEL_NAMES]
            label = likely[0] if len(likely) == 1 else width - 1
        return [j for j in range(width) if j != label], label
    raise ValueError(
        f"{path}: the model was trained on {d} features, and the table has {width} columns: {d}, or {d + 1} "
        "with labels, are wanted"
    )


def _rows_of_libsvm(arguments, source, model, names, doubts):
    """Return the features of LIBSVM text as a matrix, the labels, and where they stand."""
    if arguments.label is not None:
        raise ValueError(f"{source.path}: --label is for tables, and this one is LIBSVM text")
    if any(True for _ in _encoded(model)):
        raise ValueError(
            f"{source.path}: the model was trained on categories, which LIBSVM text does not have"
        )
    X, d = source.X, model.n_features_in_
    if X.shape[1] > d:
        rows, surplus = X[:, d:].nonzero()
        if rows.size:
            first = d + surplus.min() + (0 if arguments.zero_based else 1)
            doubts.append(
                f"{counted(np.unique(rows).size, 'row has', 'rows have')} features that the model was not "
                f"trained on, such as {first}: they count nothing"
            )
        X = X[:, :d]
    X = scipy.sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    return X if get_tags(model).input_tags.sparse else X.toarray(), source.labels, "first of each line"


def _codes_of(labels, classes, path, doubts):
    """Return the number of each row's class: -1 if the model does not know the label, -2 if there is none.

    It is None if no row has a label. Raise a ValueError if no label is known: the file means something else
    by them.
    """
    are_numbers = classes.dtype.kind in "iuf"
    numbers = {(float(label) if are_numbers else str(label)): k for k, label in enumerate(classes.tolist())}
    words = [name_of(label) for label in labels.tolist()] if isinstance(labels, np.ndarray) else labels
    keys = [float(word) if are_numbers and is_number(word) else word for word in words]
    codes = np.array(
        [-2 if word == "" else numbers.get(key, -1) for word, key in zip(words, keys, strict=True)]
    )
    if (codes == -2).all():
        return None
    unknown = sorted({word for word, code in zip(words, codes, strict=True) if code == -1})
    known = ", ".join(name_of(label) for label in classes.tolist())
    if (codes < 0).all():
        if isinstance(labels, np.ndarray) and len(unknown) == 1:
            doubts.append(
                f"every label is {unknown[0]}, which is no class of the model ({known}): they stand for none"
            )
            return None
        raise ValueError(
            f"{path}: no label, such as {unknown[0]!r}, is a class of the model ({known}); see --label"
        )
    if unknown:
        doubts.append(
            f"{counted(np.count_nonzero(codes == -1), 'row has', 'rows have')} a label that is no class of "
            f"the model ({known}), such as {unknown[0]!r}: each counts as an error"
        )
    if (codes == -2).any():
        n = np.count_nonzero(codes == -2)
        doubts.append(f"{counted(n, 'row has', 'rows have')} no label: the error is that of the others")
    return codes


def _class_errors(predicted, codes, classes):
    """Return the error of predicted classes, for JSON and as lines."""
    truth = np.where(codes < 0, None, classes[np.maximum(codes, 0)].astype(object))
    n = int(np.count_nonzero(codes >= -1))
    wrong = int(np.count_nonzero((codes >= -1) & (truth != predicted.astype(object))))
    facts = {"error": wrong / n, "errors": wrong, "rows_with_label": n}
    return facts, [f"error {percent(wrong / n)} ({wrong} of {n} rows)"]


def _number_errors(task, predicted, labels):
    """Return the errors of predicted numbers where the label is one, for JSON and as lines."""
    known = np.array([is_number(str(label)) for label in labels], dtype=bool)
    if not known.any():
        return {}, []
    z = np.array([float(label) for label, is_known in zip(labels, known, strict=True) if is_known])
    facts, _ = task.results("test", "test", predicted[known], z)
    error, r2 = facts["test_mean_absolute_error"], facts["test_r2"]
    return facts | {"rows_with_label": z.size}, [
        f"mean absolute error {error:.6g}, r2 {r2:.6g} ({z.size} rows)"
    ]


def _rejections(task, predicted, labels):
    """Return the numbers of rejected rows, for JSON and as lines; by label where the file has several."""
    kinds = None if labels is None else np.array([name_of(label) for label in labels], dtype=str)
    facts, rows = task.results("test", "test", predicted, kinds)
    counts = [f"{how.removesuffix(' rows')} {name}" for name, _, how in rows[1:]]
    n = int((predicted < 0).sum())
    result = {"rejected": n, "rejected_by_class": facts["rejected_by_class"]}
    return result, ["; ".join([f"{n} of {predicted.size} rejected", *counts])]


def _cells(names, beside):
    """Return rows of cells: the prediction, and the values beside it with all digits."""
    columns = [values if values.ndim == 2 else values[:, None] for values in beside.values()]
    numbers = np.column_stack(columns).tolist() if columns else [[] for _ in names]
    return [[name, *map(repr, row)] for name, row in zip(names, numbers, strict=True)]


def _csv_text(rows):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _write(path, names, beside, classes):
    """Write a CSV file with a header, complete or not at all."""
    header = ["predicted"]
    for quantity, values in beside.items():
        if quantity == "interval":
            header += ["lower", "upper"]
        else:
            header += [quantity] if values.ndim == 1 else [f"{quantity} of {label}" for label in classes]
    with replacing(path) as file:
        file.write(_csv_text([header, *_cells(names, beside)]).encode())
