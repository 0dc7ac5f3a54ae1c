"""Checks of the workflow's configuration, and the grids that it describes. A mistake raises a `ValueError`,
whose message has a sentence for each mistake."""

import math
import os
from copy import deepcopy
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators

WORKFLOW = Path(__file__).resolve().parents[1]

# To JSON schemas 3.0 is an integer; the functions of plans take none of these.
Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def load_schema(workflow=WORKFLOW):
    """Return the schema of the configuration: the keys that all papers share, and a section for each paper.

    `workflow` is the folder with ``schemas/config.schema.yaml`` and ``papers/<paper>/schema.yaml``. All of
    these files can refer to a definition in the ``$defs`` of any of them as ``#/$defs/<name>``, see
    `written_out`; none may define what is defined already.
    """
    schema = yaml.safe_load((workflow / "schemas/config.schema.yaml").read_text())
    definitions, properties = schema["$defs"], schema["properties"]
    for path in sorted(workflow.glob("papers/*/schema.yaml")):
        section, paper = yaml.safe_load(path.read_text()), path.parent.name
        for name, definition in section.pop("$defs", {}).items():
            if name in definitions:
                raise ValueError(f"The definition {name!r} in {path} is there already; give it another name.")
            definitions[name] = definition
        properties[paper] = section
    return written_out(schema, definitions)


def read_schema(name):
    """Return a schema of the folder ``schemas/`` that refers to its own definitions alone."""
    schema = yaml.safe_load((WORKFLOW / f"schemas/{name}.schema.yaml").read_text())
    return written_out(schema, schema.get("$defs", {}))


def written_out(schema, definitions):
    """Complete a schema, or a part of one, with what our files leave out, as the head of
    ``schemas/config.schema.yaml`` explains it; `definitions` are for what refers to them as
    ``#/$defs/<name>``."""
    if isinstance(schema, list):
        return [written_out(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    complete = {key: value for key, value in schema.items() if key != "$ref"}
    if "$ref" in schema:
        complete = {**definitions[schema["$ref"].removeprefix("#/$defs/")], **complete}
        return written_out(complete, definitions)
    complete = {key: written_out(value, definitions) for key, value in complete.items() if key != "$defs"}
    if "properties" in complete:
        optional = complete.pop("optional", [])
        needed = [
            name
            for name, value in complete["properties"].items()
            if "default" not in value and name not in optional
        ]
        complete = {"type": "object", "additionalProperties": False, "required": needed, **complete}
    return complete


def fill_defaults(config, schema):
    """Set the keys that a valid configuration lacks and for which the schema has a ``default``, in place."""

    def properties(validator, properties, instance, schema):
        for name, declared in properties.items():
            if "default" in declared and isinstance(instance, dict):
                instance.setdefault(name, deepcopy(declared["default"]))
        yield from Validator.VALIDATORS["properties"](validator, properties, instance, schema)

    validators.extend(Validator, {"properties": properties})(schema).validate(config)


def check_config(config, schema, name="configuration"):
    """Check a configuration, or another file of settings, which sentences call by its `name`, against its
    JSON schema (draft 2020-12), in which every property has a description.

    There is one sentence per mistake: an unknown key (and the valid ones), a missing key, or a value that is
    not what the schema's description asks for.
    """
    errors = sorted(Validator(schema).iter_errors(config), key=lambda error: list(map(str, error.path)))
    # a value of another type may be too large as well
    mistyped = {tuple(error.absolute_path) for error in errors if error.validator == "type"}
    sentences = [
        _sentence(error, name)
        for error in errors
        if error.validator == "type" or tuple(error.absolute_path) not in mistyped
    ] + list(_not_finite(config, name))
    if sentences:
        raise ValueError("\n".join(dict.fromkeys(sentences)))


def read_texts(config, schema):
    """Read, in place, texts that stand where the schema wants another type, and numbers where it wants a
    text: Snakemake guesses what its option ``--config`` says (``preset=2026``), and all that it finds in
    braces or brackets is a text to it (``franc2008={realisations: 3}``)."""
    for error in list(Validator(schema).iter_errors(config)):
        if not error.absolute_path:
            continue
        number = isinstance(error.instance, int | float) and error.schema.get("type") == "string"
        value = str(error.instance) if number else _read(error.instance)
        if Validator(error.schema).is_valid(value):
            *parents, key = error.absolute_path
            holder = config
            for parent in parents:
                holder = holder[parent]
            holder[key] = value


def _read(value):
    """Return a value in which every text is read as YAML, and as a number where YAML wants a point (1e-3)."""
    if isinstance(value, dict):
        return {key: _read(item) for key, item in value.items()}
    if isinstance(value, list):
        return list(map(_read, value))
    if not isinstance(value, str):
        return value
    try:
        read = yaml.safe_load(value)
        return float(read) if isinstance(read, str) else read
    except (ValueError, yaml.YAMLError):
        return value


def _not_finite(value, name, where=""):
    """Yield a sentence for each number that is NaN or infinite, which a JSON schema lets pass."""
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
    expected = error.schema.get("description", error.message).rstrip(".")
    if error.validator == "maximum" and f"{error.validator_value:,}" not in expected:
        expected += f"; at most {error.validator_value:,}"
    return f"The {name}'s {where} is {error.instance!r}, which is not valid; wanted: {expected}."


def _keys(names):
    return f"{'key' if len(names) == 1 else 'keys'} {', '.join(map(repr, names))}"


def check_datasets(named, known):
    """Check that all data sets that keys of the configuration name are registered."""
    for key, datasets in named.items():
        check_names(key, datasets, sorted(known), "data set ")


def check_names(key, named, known, kind=""):
    """Check that everything that a key of the configuration names is known."""
    unknown = [name for name in named if name not in known]
    if unknown:
        names, valid = ", ".join(map(repr, unknown)), ", ".join(known)
        raise ValueError(f"Unknown {kind}{names} in the configuration's {key}; the known ones are: {valid}.")


def check_writable(folders):
    """Check that files can be written below some folders, or below what exists of their paths."""
    for folder in folders:
        place = Path(folder).absolute()
        while not place.exists():
            place = place.parent
        if not os.access(place, os.W_OK | os.X_OK):
            raise ValueError(
                f"Cannot write to the folder {place}; mend its permissions, or work in another checkout."
            )


def check_cache(folder):
    """Check that the folder of Snakemake's cache exists, if there is to be one (None: there is not)."""
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"The cache {folder} (SNAKEMAKE_OUTPUT_CACHE) is not a folder; make it first.")


def grid(spec):
    """Return the values of a grid: of a list as it is, or of ``{first, last, count}``, a geometric
    progression.

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


def project_file(path, project):
    """Return the path of a file that the configuration names: below the working directory if it is there, or
    else below the project's folder."""
    return Path(path) if Path(path).exists() else Path(project, path)
