"""Checks on the workflow's configuration, whose messages are sentences, and the grids that it describes."""

from __future__ import annotations

import math
import os
from pathlib import Path

from jsonschema import Draft202012Validator

__all__ = ["check_cache", "check_config", "check_datasets", "check_writable", "grid"]


def check_config(config, schema, name="configuration"):
    """Check a configuration, or another file of settings, against its JSON schema.

    Parameters
    ----------
    config : dict
        The merged configuration.
    schema : dict
        JSON schema (draft 2020-12) in which every property has a description.
    name : str
        What the sentences call it.

    Raises
    ------
    ValueError
        With one sentence per mistake: an unknown key (and the valid ones), a missing key, or a value that is
        not what the schema's description asks for.
    """
    errors = sorted(
        Draft202012Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.path))
    )
    sentences = [_sentence(error, name) for error in errors] + list(_not_finite(config, name))
    if sentences:
        raise ValueError("\n".join(dict.fromkeys(sentences)))


def _not_finite(value, name, where=""):
    """Sentences about the numbers that no schema minds: NaN and infinity."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _not_finite(item, name, f"{where}.{key}" if where else str(key))
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"The {name}'s {where} is {value}; wanted: a finite number."


def _sentence(error, name):
    where = ".".join(str(part) for part in error.absolute_path)
    if error.validator == "additionalProperties":
        valid = ", ".join(sorted(error.schema["properties"]))
        unknown = [key for key in error.instance if key not in error.schema["properties"]]
        where = where or "top level"
        return f"Unknown {_keys(unknown)} in the {name}'s {where}; the valid keys are: {valid}."
    if error.validator == "required":
        missing = [key for key in error.validator_value if key not in error.instance]
        return f"The {name}'s {where or 'top level'} lacks the {_keys(missing)}."
    if error.validator == "enum":
        valid = ", ".join(map(str, error.validator_value))
        return f"The {name}'s {where} is {error.instance!r}; the valid values are: {valid}."
    wanted = error.schema.get("description", error.message).rstrip(".")
    return f"The {name}'s {where} is {error.instance!r}, which is not valid; wanted: {wanted}."


def _keys(names):
    return f"{'key' if len(names) == 1 else 'keys'} {', '.join(map(repr, names))}"


def check_datasets(named, known):
    """Check that all data sets that a configuration names are registered.

    Parameters
    ----------
    named : dict of str to list of str
        Configuration key -> the data sets named there.
    known : collection of str

    Raises
    ------
    ValueError
        One sentence with the first key that names unknown data sets, those data sets, and the known ones.
    """
    for key, datasets in named.items():
        unknown = [dataset for dataset in datasets if dataset not in known]
        if unknown:
            names = ", ".join(map(repr, unknown))
            valid = ", ".join(sorted(known))
            raise ValueError(
                f"Unknown data set {names} in the configuration's {key}; the known ones are: {valid}."
            )


def check_writable(folders):
    """Check that files can be written below some folders, or below what exists of their paths.

    Raises
    ------
    ValueError
        One sentence with the first folder that cannot be written to.
    """
    for folder in folders:
        place = Path(folder).absolute()
        while not place.exists():
            place = place.parent
        if not os.access(place, os.W_OK | os.X_OK):
            raise ValueError(
                f"Cannot write to the folder {place}; mend its permissions, or work in another checkout."
            )


def check_cache(folder):
    """A ValueError unless the folder of Snakemake's cache, if there is one (None: no), exists.

    Raises
    ------
    ValueError
        One sentence.
    """
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"The cache {folder} (SNAKEMAKE_OUTPUT_CACHE) is not a folder; make it first.")


def grid(spec):
    """Values of a grid: a list as it is, or ``{first, last, count}``, a geometric progression.

    Examples
    --------
    >>> grid({"first": 1, "last": 100, "count": 3})
    [1.0, 10.0, 100.0]
    """
    if isinstance(spec, list):
        return [float(value) for value in spec]
    first, last, count = float(spec["first"]), float(spec["last"]), spec["count"]
    if count == 1:
        return [first]
    middle = [first * (last / first) ** (i / (count - 1)) for i in range(1, count - 1)]
    return [first, *middle, last]
