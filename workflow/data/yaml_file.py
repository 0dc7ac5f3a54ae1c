"""Reading of YAML files."""

from pathlib import Path

import yaml

# that of libyaml is ten times faster, and not in every build of PyYAML
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path):
    """Return the content of a YAML file."""
    return LOADER(Path(path).read_text(encoding="utf-8")).get_single_data()
