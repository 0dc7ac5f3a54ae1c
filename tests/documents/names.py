"""The dialect of names of "make lint": a leading underscore means that nothing outside of the module uses it.

It holds for the functions and classes of the library's modules. Constants, in capitals, have none. Called
without arguments, it prints each that breaks it, and ends with the exit status 1 if there are any.
`test_names.py` has modules in which it must find something.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USERS = ("src", "workflow", "benchmarks", "docs", "tests")
CODE = (".py", ".pyx", ".pxd", ".smk", ".md", ".rst")
IMPORT = re.compile(r"^\s*(?:>>> )?from\s+(svmselect[\w.]*)\s+c?import\s+(\([^)]*\)|[^\n]*)", re.M)


def name_of(path, top):
    """The module that a file of the library is."""
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(text):
    """What a file takes from the library by name: pairs of the module and the name."""
    for module, names in IMPORT.findall(text):
        for name in re.sub(r"#.*", "", names).strip("() \n").split(","):
            if name.strip():
                yield module, name.split()[0]


def uses(text, modules):
    """The same, with the attributes of modules that it has imported, or sets.

    Parameters
    ----------
    text : str
    modules : set of str
        The library's.

    Returns
    -------
    set of (str, str)
    """
    found = set(imports(text))
    for package, module in [pair for pair in found if ".".join(pair) in modules]:
        alias = re.search(rf"\b{module}\s+as\s+(\w+)", text)
        called = rf"""\b{alias[1] if alias else module}(?:\.|, ")(\w+)"""
        found |= {(f"{package}.{module}", name) for name in re.findall(called, text)}
    return found


def named_by_strings(text):
    """The words that are strings of a file: functions that are looked up by their names."""
    return set(re.findall(r"""["'](\w+)["']""", text))


def mentioned(name, text):
    """Whether a text says of something that it is an object of a class."""
    return re.search(rf"(: |\b(of|to|The|its) |`){name}\b|^ +{name}$", text, re.M) is not None


def exported(tree):
    """The names in `__all__`, None without it."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == ["__all__"]:
            return set(ast.literal_eval(node.value))
    return None


def faults(texts):
    """What breaks the rule.

    Parameters
    ----------
    texts : dict of str
        Texts by their paths from the root of the repository.

    Returns
    -------
    list of (path, line, str)
    """
    texts = {Path(path): text for path, text in texts.items()}
    top = Path("src")
    modules = {
        path: name_of(path, top) for path in texts if path.suffix == ".py" and path.is_relative_to(top)
    }
    used = {path: uses(text, set(modules.values())) for path, text in texts.items()}
    found = []
    for path, module in modules.items():
        tree = ast.parse(texts[path])
        listed = exported(tree)
        others = set().union(*(names for user, names in used.items() if user != path))
        neighbours = [texts[other] for other in texts if other.parent == path.parent and other != path]
        by_string = set().union(*map(named_by_strings, neighbours))
        for node in tree.body:
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name) and re.fullmatch(r"_[A-Z][A-Z0-9_]*", target.id):
                    found.append((path, node.lineno, f"{target.id} is a constant: {target.id[1:]}"))
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            outside = (module, node.name) in others or {node.name, path.stem} <= by_string
            if isinstance(node, ast.ClassDef) and not outside:
                outside = any(mentioned(node.name, text) for text in neighbours)
            if node.name.startswith("_"):
                if outside:
                    found.append(
                        (path, node.lineno, f"{node.name} is used elsewhere: without the underscore")
                    )
            elif not outside and not node.name.startswith("__"):
                found.append((path, node.lineno, f"{node.name} is used here alone: _{node.name}"))
            elif listed is not None and node.name not in listed:
                found.append((path, node.lineno, f"{node.name} is used elsewhere, but not in __all__"))
    return found


def main(root=ROOT):
    """Print what breaks the rule; the exit status."""
    paths = [
        path
        for folder in USERS
        for path in (root / folder).rglob("*")
        if path.suffix in CODE and "auto_examples" not in path.parts and "generated" not in path.parts
    ]
    found = faults(
        {path.relative_to(root).as_posix(): path.read_text() for path in [*paths, root / "Snakefile"]}
    )
    lines = [f"{path}:{line}: {fault}" for path, line, fault in found]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
