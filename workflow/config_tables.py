"""Write the tables of keys in config/README.md from the JSON schemas of the configuration.

config_tables.py [config/README.md]

A table stands behind a comment ``<!-- keys of SECTION -->``, where SECTION is the folder of a paper or
"all papers", and is replaced as far as the next empty line.
"""

import re
import sys
from pathlib import Path

import yaml

from lib.config import SCHEMA, WORKFLOW
from lib.files import write_text

README = WORKFLOW.parent / "config/README.md"


def key_rows(schema, definitions, prefix="", required=True):
    """Yield key, meaning and default of each value that a schema describes, as texts. Keys of the objects in
    a list stand behind its name and ``[]``."""
    schema = resolved(schema, definitions)
    for item in [schema.get("items", {}), *schema.get("oneOf", [])]:
        if "properties" in item:
            yield from key_rows(item, definitions, f"{prefix}[]" if item is schema.get("items") else prefix)
    for name, declared in schema.get("properties", {}).items():
        entry = resolved(declared, definitions)
        key = f"{prefix}.{name}".lstrip(".")
        if "properties" not in entry:
            yield key, entry["description"], default_of(name, entry, schema)
        if "oneOf" not in entry:
            yield from key_rows(entry, definitions, key)


def resolved(schema, definitions):
    """Return a schema with the definition that it refers to; keys beside the reference come first."""
    while "$ref" in schema:
        definition = definitions[schema["$ref"].removeprefix("#/$defs/")]
        schema = {**definition, **{key: value for key, value in schema.items() if key != "$ref"}} | (
            {"$ref": definition["$ref"]} if "$ref" in definition else {}
        )
    return schema


def default_of(name, entry, schema):
    """Return what a key is where it is left out: its default, "required", or "none"."""
    if "default" in entry:
        text = yaml.safe_dump(entry["default"], default_flow_style=True).removesuffix("...\n").strip()
        return f"`{text}`"
    return "required" if name in schema.get("required", []) else "none"


def table(section):
    """Return the lines of the table of a paper, or of all papers."""
    schema = yaml.safe_load(
        (SCHEMA if section == "all papers" else WORKFLOW / f"papers/{section}/config.schema.yaml").read_text()
    )
    prefix = "" if section == "all papers" else section
    rows = key_rows(schema, schema.get("$defs", {}), prefix)
    lines = ["| `{}` | {} | {} |".format(*(text.replace("|", "\\|") for text in row)) for row in rows]
    return ["| key | meaning | default |", "|---|---|---|", *lines]


def with_tables(text):
    """Return the text of config/README.md with its tables made anew."""
    return re.sub(
        r"(?m)^(<!-- keys of (.*) -->\n)(?:\|.*\n)*",
        lambda match: match[1] + "\n".join(table(match[2])) + "\n",
        text,
    )


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else README
    write_text(path, with_tables(path.read_text()))
