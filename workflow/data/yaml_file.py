"""Reading of YAML files that people edit."""

from pathlib import Path

import yaml

# that of libyaml is ten times faster, and not in every build of PyYAML
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 100  # libyaml ends the process at some 20,000


def read_yaml(path):
    """Return the content of a YAML file.

    Raises
    ------
    ValueError
        The file is no YAML, is nested too deep, or has a key twice in one mapping; the sentence names the
        file, the key and the lines.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        depth = 0
        for event in yaml.parse(text, Loader=LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"it is nested more than {DEEPEST} deep in line {event.start_mark.line + 1}")
        loader = LOADER(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_keys(loader, node, set())
        return loader.construct_document(node)
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error


def _check_keys(loader, node, seen):
    """Raise a `ValueError` if a mapping below a node has a key twice: the later one would count, silently."""
    if id(node) in seen:  # an alias
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            _check_keys(loader, child, seen)
    elif isinstance(node, yaml.MappingNode):
        lines = {}
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                name, line = loader.construct_object(key), key.start_mark.line + 1
                if name in lines:
                    raise ValueError(f"the key {name!r} is there twice, in lines {lines[name]} and {line}")
                lines[name] = line
            _check_keys(loader, value, seen)
