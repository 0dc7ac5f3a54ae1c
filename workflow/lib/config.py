"""Checks of the workflow's configuration, and the grids that it describes. A mistake raises a `ValueError`,
whose message is a sentence."""

import math
import os
import shlex
from pathlib import Path
from types import NoneType

import yaml
from jsonschema.exceptions import best_match
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

from data.yaml_file import read_yaml
from lib.environment import PROJECT

WORKFLOW = Path(__file__).resolve().parents[1]
SCHEMA = WORKFLOW / "schemas/config.schema.yaml"  # of the keys that all papers share
# Mistakes about which the library's message says less than the schema's description.
DESCRIBED = ("anyOf", "oneOf", "not", "pattern")


def complete_config(config, schemas):
    """Check the configuration and fill in its defaults, in place.

    Parameters
    ----------
    config : dict
    schemas : dict
        Name of each paper that there is -> path of the schema of its section, or None. The sections of the
        papers that run must be there.
    """
    general = read_yaml(SCHEMA)["properties"]
    if unknown := [key for key in config if key not in (*general, *schemas)]:
        raise ValueError(_unknown_keys(unknown, [*general, *schemas], "configuration", "top level"))
    check_config(config, SCHEMA)
    for key, folder in config["folders"].items():
        config["folders"][key] = os.path.expanduser(folder)
    check_names("papers", config["papers"] or [], schemas)
    for paper, schema in schemas.items():
        if paper in config:
            check_config(config[paper], schema, section=paper)
        elif paper in (config["papers"] or schemas):
            raise ValueError(f"The configuration's top level lacks the section {paper!r}.")


def check_config(config, schema, name="configuration", section=""):
    """Check settings against a JSON schema as `check_settings` does, and fill in its defaults, in place."""
    check_settings(config, schema, name, section)
    # defaults cannot be laid into what is no object, so they come after the check
    validate(config, str(schema))


def check_settings(config, schema, name="configuration", section=""):
    """Check settings against a JSON schema, in place.

    A text where the schema wants something else is read as YAML first, because Snakemake passes what its
    option ``--config`` has in braces or brackets as text.

    Parameters
    ----------
    config : dict
    schema : path
    name, section : str
        What the sentence calls the settings, and the key under which they stand.

    Raises
    ------
    ValueError
        For the first key that is unknown, missing, or has a value that the schema does not allow.
    """
    first = {}  # place -> the mistake before its text was read
    while True:
        try:
            validate(config, str(schema), set_default=False)
            break
        except WorkflowError as error:
            mistake = best_match([error.__context__])
        # what is of the wrong type is named as it was given; any other mistake is about what was read
        before = first.setdefault(tuple(mistake.absolute_path), mistake)
        mistake = before if mistake.validator == before.validator else mistake
        if not _read_again(config, mistake):
            raise ValueError(_sentence(mistake, name, section))
    _use_whole_numbers(config, name, section)


def _read_again(config, mistake):
    """Replace a value of the wrong type by what its text means; return whether that changed it."""
    if not isinstance(mistake.instance, str):
        return False
    *parents, key = mistake.absolute_path
    for parent in parents:
        config = config[parent]
    read = _read(mistake.instance)
    changed = read != config[key]
    config[key] = read
    return changed


def _read(text):
    """Return what a text means in YAML, and a number where YAML wants a point (1e-3)."""
    try:
        value = yaml.safe_load(text)
        return float(value) if isinstance(value, str) else value
    except (ValueError, yaml.YAMLError):
        return text


def _use_whole_numbers(config, name, where):
    """Turn numbers such as 3.0, which are whole to a JSON schema, into integers, and refuse NaN and infinity,
    which it lets pass."""
    for key, value in config.items() if isinstance(config, dict) else enumerate(config):
        place = f"{where}.{key}" if where else str(key)
        if isinstance(value, dict | list):
            _use_whole_numbers(value, name, place)
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise ValueError(f"The {name}'s {place} is {value}; it must be a finite number.")
            if value.is_integer():
                config[key] = int(value)


def _sentence(mistake, name, section):
    where = ".".join([section, *map(str, mistake.absolute_path)]).strip(".") or "top level"
    if mistake.validator == "additionalProperties" and mistake.validator_value is False:
        valid = mistake.schema["properties"]
        return _unknown_keys([key for key in mistake.instance if key not in valid], valid, name, where)
    container = isinstance(mistake.instance, dict | list | NoneType)
    if mistake.validator == "type" and mistake.validator_value == "string" and not container:
        return (
            f"The {name}'s {where} was read as {mistake.instance!r}, which is no text: choose a name with a "
            "letter, or quote it in a file for --configfile."
        )
    sentence = f"The {name}'s {where} is not valid: {mistake.message}"
    if mistake.validator in DESCRIBED and "description" in mistake.schema:
        sentence += f"; it must be: {mistake.schema['description']}"
    return sentence.rstrip(".") + "."


def _unknown_keys(unknown, valid, name, where):
    keys = f"{'key' if len(unknown) == 1 else 'keys'} {', '.join(map(repr, unknown))}"
    return f"Unknown {keys} in the {name}'s {where}; the valid keys are: {', '.join(sorted(valid))}."


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
                f"Cannot write to the folder {place}: mend its permissions, or make another folder the "
                "working directory (--directory FOLDER), to which results, data, logs and records go."
            )


def check_scale(config):
    """Check that a configuration does not compute over rows of the papers' full scale if it is not of it."""
    folder = Path(config["folders"]["results"], config["preset"])
    stored = folder / "config.yaml"
    if not config["compute"] or config["full_scale"] or not stored.is_file():
        return
    # a file without the key is older than the key: then the preset `paper` alone was of full scale
    if read_yaml(stored).get("full_scale", config["preset"] == "paper"):
        raise ValueError(
            f"{folder} has rows of the papers' full scale, and this configuration, with full_scale: false, "
            f"would compute others over them; give it another preset than {config['preset']!r}."
        )


def check_cache(folder):
    """Check that the folder of Snakemake's cache exists, if there is to be one (None: there is not)."""
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"The cache {folder} (SNAKEMAKE_OUTPUT_CACHE) is not a folder; make it first.")


def call_of(config, results, *, is_demo):
    """Return the call of snakemake, but for its targets, that makes files of a configuration again.

    Parameters
    ----------
    config : dict
        The complete configuration.
    results : str
        The folder of its results; ``config.yaml`` in it has the whole configuration.
    is_demo : bool
        Whether it is the demo's, which needs no file.
    """
    program = ".venv/bin/snakemake"
    words = [program if Path(program).exists() else "snakemake", "--cores", "1"]
    # options take no word that follows them before "--"
    at_home, files = Path.cwd() == PROJECT, []
    if not at_home:
        words += ["--snakefile", str(PROJECT / "Snakefile")]
    if config["preset"] == "paper":
        files = ["config/paper.yaml" if at_home else str(PROJECT / "config/paper.yaml")]
    elif not is_demo:
        files = [f"{results}/config.yaml"]
    return shlex.join([*words, *(["--configfile", *files, "--"] if files else [])])


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
