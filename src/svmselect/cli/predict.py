"""The command `predict`."""

import csv
import io
from pathlib import Path

import numpy as np

from svmselect.atomic import replacing
from svmselect.cli.csv_table import Layout
from svmselect.cli.encoding import Column, Encoding, codes_of, counted, name_of
from svmselect.cli.one_class import rejections_of_file
from svmselect.cli.output import percent, show, visible, warn
from svmselect.cli.read import read_rows
from svmselect.cli.targets import errors_of_file
from svmselect.sklearn.machine import Machine, OneClassSVM
from svmselect.sklearn.model_file import read_model

__all__ = ["encoding_of", "predict"]

JSON_KEYS = {"decision value": "decision_values", "probability": "probabilities"}


def predict(arguments):
    """Run the command `predict`: classes of a file's rows by a saved model, and their errors."""
    # the model and the rows
    saved = read_model(arguments.model, zero_based=arguments.zero_based or "auto")
    model, encoding = saved.model, encoding_of(saved, arguments.model)
    if arguments.probabilities and not (isinstance(model, Machine) or hasattr(model, "predict_proba")):
        how = "svm-train -b 1 gives it some" if saved.format == "libsvm" else "train it with --calibration"
        raise ValueError(f"{arguments.model}: the model has no probabilities: {how}")
    rows = read_rows(
        arguments.file,
        encoding,
        arguments.format,
        arguments.label,
        arguments.header,
        arguments.delimiter,
        arguments.zero_based,
        arguments.max_bytes,
    )
    vars(model).pop("feature_names_in_", None)  # the rows have no names any more
    if isinstance(model, Machine):
        _predict_values(arguments, model, rows)
        return
    # their labels, where the file has some
    doubts = list(rows.doubts)
    codes = None if rows.labels is None else codes_of(rows.labels, model.classes_, arguments.file, doubts)
    if arguments.strict and doubts:
        raise ValueError(f"{arguments.file}: {doubts[0]} (refused by --strict)")
    for doubt in doubts:
        warn(doubt)
    # predictions, and the values beside them
    predicted = model.predict(rows.X)
    beside = {}
    if arguments.decision_values:
        model.decision_function_shape = "ovr"
        beside["decision value"] = model.decision_function(rows.X)
    if arguments.probabilities:
        beside["probability"] = model.predict_proba(rows.X)
    # errors and output
    result = {
        "model": arguments.model,
        "file": arguments.file,
        "rows": predicted.size,
        "label": None if codes is None else rows.label_column,
        "doubts": doubts,
    }
    lines = []
    if codes is not None:
        labelled = codes >= -1
        truth = np.where(codes < 0, None, model.classes_[np.maximum(codes, 0)].astype(object))
        wrong = int(np.count_nonzero(labelled & (truth != predicted.astype(object))))
        n = int(np.count_nonzero(labelled))
        result.update(error=wrong / n, errors=wrong, rows_with_label=n)
        lines = [f"error {percent(wrong / n)} ({wrong} of {n} rows)"]
    if arguments.output:
        _write(Path(arguments.output), map(name_of, predicted.tolist()), beside, model.classes_.tolist())
        lines = [f"{counted(predicted.size, 'row', 'rows')} predicted: {arguments.output}", *lines]
        result["output"] = arguments.output
    else:
        names = [name_of(label) for label in predicted.tolist()]
        result["predictions"] = names
        result["classes"] = [name_of(label) for label in model.classes_.tolist()]
        result |= {JSON_KEYS[quantity]: values for quantity, values in beside.items()}
        lines = [*_table_of([visible(name) for name in names], beside), *lines]
    show(result, arguments.json, lines)


def _predict_values(arguments, model, rows):
    """Predict the rows of a file by a regression or a one-class model, and show the predictions."""
    if arguments.probabilities:
        raise ValueError(f"{arguments.model}: a {type(model).__name__} has no probabilities")
    one_class = isinstance(model, OneClassSVM)
    if arguments.decision_values and not one_class:
        raise ValueError(f"{arguments.model}: a {type(model).__name__} has predictions, no decision values")
    if arguments.strict and rows.doubts:
        raise ValueError(f"{arguments.file}: {rows.doubts[0]} (refused by --strict)")
    for doubt in rows.doubts:
        warn(doubt)
    predicted = model.predict(rows.X)
    beside = {"decision value": model.decision_function(rows.X)} if arguments.decision_values else {}
    facts, lines = (rejections_of_file if one_class else errors_of_file)(predicted, rows.labels)
    result = {
        "model": arguments.model,
        "file": arguments.file,
        "rows": predicted.size,
        "doubts": rows.doubts,
        **facts,
    }
    words = [repr(value) for value in predicted.tolist()]
    if arguments.output:
        _write(Path(arguments.output), words, beside, [])
        lines = [f"{counted(predicted.size, 'row', 'rows')} predicted: {arguments.output}", *lines]
        result["output"] = arguments.output
    else:
        result |= {"predictions": predicted} | {JSON_KEYS[name]: values for name, values in beside.items()}
        lines = [*_table_of(words, beside), *lines]
    show(result, arguments.json, lines)


def encoding_of(saved, path):
    """Return the Encoding that turns the rows of a file into those of the model."""
    model = saved.model
    d = model.n_features_in_
    if model.kernel == "precomputed":
        raise ValueError(
            f"{path}: a model of a precomputed kernel takes kernel values, and no rows of a file"
        )
    if saved.encoding is not None:
        try:
            return Encoding.from_dict(saved.encoding, d)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    names = vars(model).get("feature_names_in_")
    if names is None or len({*names}) < d:
        return Encoding(d, zero_based=saved.zero_based)
    return Encoding(d, Layout(tuple(names), tuple(range(d)), None, d, d + 1), (Column(),) * d)


def _columns_of(names, beside):
    """Return rows of cells: the class, and the values beside it with all digits."""
    columns = [values if values.ndim == 2 else values[:, None] for values in beside.values()]
    numbers = np.column_stack(columns).tolist() if columns else [[] for _ in names]
    return [[name, *map(repr, row)] for name, row in zip(names, numbers, strict=True)]


def _csv_text(rows):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def _table_of(names, beside):
    """Return lines of CSV without a header; classes alone stay as they are."""
    return _csv_text(_columns_of(names, beside)).splitlines() if beside else names


def _write(path, names, beside, classes):
    """Write a CSV file with a header, complete or not at all."""
    header = ["predicted"]
    for quantity, values in beside.items():
        columns_of_classes = [f"{quantity} of {name_of(label)}" for label in classes]
        header += [quantity] if values.ndim == 1 else columns_of_classes
    rows = _columns_of(list(names), beside)
    with replacing(path) as file:
        file.write(_csv_text([header, *rows]).encode())
