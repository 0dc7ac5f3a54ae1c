"""The command `predict`."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.utils import get_tags

from svmselect.atomic import replacing
from svmselect.cli.arguments import is_number
from svmselect.cli.columns import LABEL_NAMES, is_number_column, refuse_missing
from svmselect.cli.output import Share, counted, name_of, show, text, visible, warn
from svmselect.cli.read import Table, opened
from svmselect.cli.tasks import task_of_model
from svmselect.sklearn import load_model

__all__ = ["predict"]

# of rows that are told by name, or by place; unknown categories have a remark of the command
IGNORED = ("Found unknown categories", "X does not have valid feature names")


def predict(arguments):
    """Run the command `predict`: predictions of a file's rows by a saved model, and their errors."""
    # 1) the model, and the rows and their labels
    model = load_model(arguments.model, zero_based=arguments.zero_based)
    last, task = model[-1] if hasattr(model, "steps") else model, task_of_model(model)
    best = getattr(last, "best_estimator_", last)
    _check_model(arguments, model, best, task)
    names, doubts = [*map(str, getattr(model, "feature_names_in_", ()))], []
    source = opened(arguments, names)
    read = _rows_of_table if isinstance(source, Table) else _rows_of_libsvm
    X, labels, column = read(arguments, source, model, names, doubts)
    if task.name == "classification" and labels is not None:
        labels = _known_labels(labels, model.classes_, arguments.file, doubts)
    for doubt in doubts:
        warn(doubt)
    # 2) predictions, and the values beside them
    with warnings.catch_warnings():
        for beginning in IGNORED:
            warnings.filterwarnings("ignore", beginning)
        predicted = model.predict(X)
        beside = _beside(arguments, model, best, X)
    # 3) errors
    facts, lines = {}, []
    if labels is not None or task.name == "one-class":
        facts, lines = _errors(task, predicted, labels)
    # 4) output
    is_class = task.name == "classification"
    result = {"model": arguments.model, "file": arguments.file, "rows": predicted.size}
    result |= {"label": column if facts else None, "doubts": doubts, **facts}
    words = [*map(name_of, predicted.tolist())] if is_class else predicted
    if arguments.output:
        with replacing(Path(arguments.output)) as file:
            file.write(_table(words, beside, model).to_csv(index=False, lineterminator="\n").encode())
        lines = [f"{counted(predicted.size, 'row', 'rows')} predicted: {arguments.output}", *lines]
        result["output"] = arguments.output
    else:
        result |= {"predictions": words, **beside}
        result |= {"classes": [*map(name_of, model.classes_.tolist())]} if is_class else {}
        shown = _table([*map(visible, words)] if is_class else words, beside, model)
        lines = [*shown.to_csv(index=False, header=False, lineterminator="\n").splitlines(), *lines]
    show(result, arguments.json, lines)


def _check_model(arguments, model, best, task):
    """Raise a ValueError for a model that has not what the options ask for."""
    kind, lack = type(best).__name__, None
    if not hasattr(model, "predict"):
        lack = f"a {type(model).__name__} predicts nothing"
    elif getattr(best, "kernel", None) == "precomputed":
        lack = "a model of a precomputed kernel takes kernel values, and no rows of a file"
    elif arguments.probabilities and not hasattr(model, "predict_proba"):
        how = ": train it with --calibration, or by svm-train -b 1" if task.name == "classification" else ""
        lack = f"a {kind} has no probabilities here{how}"
    elif arguments.decision_values and not hasattr(model, "decision_function"):
        lack = f"a {kind} has predictions, no decision values"
    elif arguments.intervals and "_left_out_models" not in vars(best):
        lack = (
            "the model has no intervals: a regression has them by 'svmselect train --intervals', or in "
            "Python if predict_interval was called before it was saved"
        )
    if lack:
        raise ValueError(f"{arguments.model}: {lack}")


def _beside(arguments, model, best, X):
    """Return the values that the options ask for beside predictions, by their names in JSON."""
    beside = {}
    if arguments.decision_values:
        if hasattr(best, "decision_function_shape"):
            best.decision_function_shape = "ovr"
        beside["decision_values"] = model.decision_function(X)
    if arguments.probabilities:
        beside["probabilities"] = model.predict_proba(X)
    if arguments.intervals:
        X = model[:-1].transform(X) if len(getattr(model, "steps", ())) > 1 else X
        beside["intervals"] = best.predict_interval(X, arguments.intervals)
    return beside


def _table(predicted, beside, model):
    """Return predictions and the values beside them as a DataFrame."""
    columns = {"predicted": predicted}
    for key, values in beside.items():
        name = {"decision_values": "decision value", "probabilities": "probability"}.get(key)
        if values.ndim == 1:
            columns[name] = values
        elif name is None:
            columns |= dict(zip(("lower", "upper"), values.T, strict=True))
        else:
            columns |= {
                f"{name} of {name_of(c)}": v for c, v in zip(model.classes_.tolist(), values.T, strict=True)
            }
    return pd.DataFrame(columns)


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
    encoded = {given.index(c) if isinstance(c, str) else c: kinds for c, kinds in _encoded(model)}
    text = {features[k] for k, kinds in encoded.items() if isinstance(kinds[0], str)}
    apart = {label} - {None}
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
            if strange.any():
                example = example or f"{str(frame[j][strange.idxmax()])!r} in column {table.title(j)}"
            unknown |= strange.to_numpy()
        elif not is_number_column(table, frame[j]):
            n = int(frame[j].notna().to_numpy().argmax())
            raise ValueError(
                f"{table.cell(n, j)}: {frame[j][n]!r} is not a number, as the model was trained on"
            )
    if example is not None:
        doubts.append(
            f"{counted(unknown.sum(), 'row has', 'rows have')} a category that the model was not trained on, "
            f"such as {example}: it counts as none of those that it knows"
        )
    # 2) labels
    X = frame[features].set_axis(given, axis=1)
    return (
        (X, None, None)
        if label is None
        else (X, frame[label].fillna("").tolist(), f"column {table.title(label)}")
    )


def _places(arguments, table, model, names, doubts):
    """Return the columns of the model's features in a table, and the one of the label or None."""
    d, path, width = model.n_features_in_, table.path, table.width
    label = None if arguments.label is None else table.number_of(arguments.label)
    # 1) by name
    if names and table.names is not None:
        absent = [repr(name) for name in names if name not in table.names]
        if absent:
            known = ", ".join(map(repr, table.names))
            raise ValueError(
                f"{path}: the model was trained on {', '.join(absent)}, none of the columns {known}"
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
            listed = ", ".join(map(table.title, surplus[:8]))
            doubts.append(f"columns {listed} are none of the model's; --label says which has labels")
        return features, label
    # 2) by place
    if width == d and label is None:
        return list(range(d)), None
    if width != d + 1:
        expected = f"{d} features, and the table has {width} columns: {d}, or {d + 1} with labels, are wanted"
        raise ValueError(f"{path}: the model was trained on {expected}")
    if label is None:
        likely = [j for j, name in enumerate(table.names or ()) if name.lower() in LABEL_NAMES]
        label = likely[0] if len(likely) == 1 else width - 1
    return [j for j in range(width) if j != label], label


def _rows_of_libsvm(arguments, source, model, names, doubts):
    """Return the features of LIBSVM text as a matrix, the labels, and where they stand."""
    if arguments.label is not None:
        raise ValueError(f"{source.path}: --label is for tables, and this one is LIBSVM text")
    if any(True for _ in _encoded(model)):
        raise ValueError(
            f"{source.path}: the model was trained on categories, which LIBSVM text does not have"
        )
    X, d = source.X, model.n_features_in_
    rows, surplus = X[:, d:].nonzero()
    if rows.size:
        first = d + surplus.min() + (0 if arguments.zero_based else 1)
        doubts.append(
            f"{counted(np.unique(rows).size, 'row has', 'rows have')} features that the model was not "
            f"trained on, such as {first}: they count nothing"
        )
    X = X[:, :d]
    X = scipy.sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    labels = [*map(name_of, source.labels.tolist())]
    kinds, classes = {*labels}, [*map(name_of, getattr(model, "classes_", np.zeros(0)).tolist())]
    if classes and len(kinds) == 1 and not kinds & {*classes}:
        doubts.append(f"every label is {labels[0]}, which is no class of the model: it stands for none")
        labels = None
    return X if get_tags(model).input_tags.sparse else X.toarray(), labels, "first of each line"


def _known_labels(words, classes, path, doubts):
    """Return the class of each row, or its word where it is none; None if no row has a label.

    Raise a ValueError if no label is known: the file means something else by them.
    """
    names = {name_of(label): label for label in classes.tolist()}
    if classes.dtype.kind in "iuf":  # 1 and 1.0 are one class
        names = {float(name): label for name, label in names.items()}
        words = [float(word) if is_number(word) else word for word in words]
    labels = np.array([names.get(word, word) for word in words], dtype=object)
    empty = np.array([word == "" for word in words])
    strange = ~empty & np.array([word not in names for word in words])
    if empty.all():
        return None
    example, known = (
        name_of(labels[strange][0]) if strange.any() else "",
        ", ".join(map(name_of, classes.tolist())),
    )
    if (empty | strange).all():
        raise ValueError(
            f"{path}: no label, such as {example!r}, is a class of the model ({known}); see --label"
        )
    if strange.any():
        doubts.append(
            f"{counted(strange.sum(), 'row has', 'rows have')} a label that is no class of the model "
            f"({known}), such as {example!r}: each counts as an error"
        )
    if empty.any():
        doubts.append(
            f"{counted(empty.sum(), 'row has', 'rows have')} no label: the error is that of the others"
        )
    return labels


def _errors(task, predicted, labels):
    """Return the errors of predictions, for JSON and as lines; `labels` are words, or classes."""
    if task.name == "one-class":
        labels = None if labels is None else np.array(labels, dtype=str)
        by_class, n = (
            task.results("test", predicted, labels)["test_rejected_by_class"],
            int((predicted < 0).sum()),
        )
        line = "; ".join(
            [f"{n} of {predicted.size} rejected", *(f"{k} of class {c}" for c, k in by_class.items())]
        )
        return {"rejected": n, "rejected_by_class": by_class}, [line]
    if task.name == "regression":
        known = np.array([is_number(str(label)) for label in labels], dtype=bool)
        if not known.any():
            return {}, []
        z = np.array([float(label) for label, is_known in zip(labels, known, strict=True) if is_known])
        facts = task.results("test", predicted[known], z)
        line = f"mean absolute error {facts['test_mean_absolute_error']:.6g}, r2 {facts['test_r2']:.6g}"
        return facts | {"rows_with_label": z.size}, [f"{line} ({z.size} rows)"]
    given = labels != ""
    n, wrong = int(given.sum()), int((given & (labels != predicted.astype(object))).sum())
    facts = {"error": Share(wrong / n), "errors": wrong, "rows_with_label": n}
    return facts, [f"error {text(facts['error'])} ({wrong} of {n} rows)"]
