"""Rules for names, which "make lint" checks; each line that it prints is a breach.

- A leading underscore says that nothing outside of the module uses a function or class of the library.
  Constants, in capitals, have none.
- A name is a noun or a verb of the field. Pronouns and leftovers of sentences, `BANNED`, name no variable,
  argument, attribute, function, class or file.
- A file of Python code has its name in at most two folders.

`test_names.py` has modules in which it must find each breach.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
USERS = ("src", "workflow", "benchmarks", "docs", "tests")
CODE = (".py", ".pyx", ".pxd", ".smk", ".md", ".rst")
BANNED = re.compile("_*(own|found|kept|wanted|asked|made|what|these|there|others|at|of|of_.*|judged?)")
# their names are being mended
EXEMPT = ("src/", "tests/workflow/")
# folders in which a file's name says what it has to be
NAMED_ALIKE = re.compile("workflow/papers/.*|.*(__init__|conftest)")
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
    result = set(imports(text))
    for package, module in [pair for pair in result if ".".join(pair) in modules]:
        alias = re.search(rf"\b{module}\s+as\s+(\w+)", text)
        called = rf"""\b{alias[1] if alias else module}(?:\.|, ")(\w+)"""
        result |= {(f"{package}.{module}", name) for name in re.findall(called, text)}
    return result


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
    top = Path("src")  # beside the package it has a program of the build
    modules = {
        path: name_of(path, top)
        for path in texts
        if path.suffix == ".py" and path.is_relative_to(top) and path.parent != top
    }
    used = {path: uses(text, set(modules.values())) for path, text in texts.items()}
    results = []
    for path, module in modules.items():
        tree = ast.parse(texts[path])
        listed = exported(tree)
        rest = set().union(*(names for user, names in used.items() if user != path))
        neighbours = [texts[other] for other in texts if other.parent == path.parent and other != path]
        by_string = set().union(*map(named_by_strings, neighbours))
        for node in tree.body:
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if isinstance(target, ast.Name) and re.fullmatch(r"_[A-Z][A-Z0-9_]*", target.id):
                    results.append((path, node.lineno, f"{target.id} is a constant: {target.id[1:]}"))
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            outside = (module, node.name) in rest or {node.name, path.stem} <= by_string
            if isinstance(node, ast.ClassDef) and not outside:
                outside = any(mentioned(node.name, text) for text in neighbours)
            if node.name.startswith("_"):
                if outside:
                    results.append(
                        (path, node.lineno, f"{node.name} is used elsewhere: without the underscore")
                    )
            elif not outside and not node.name.startswith("__"):
                results.append((path, node.lineno, f"{node.name} is used here alone: _{node.name}"))
            elif listed is not None and node.name not in listed:
                results.append((path, node.lineno, f"{node.name} is used elsewhere, but not in __all__"))
    return results


def bound_names(tree):
    """Yield each name that a module binds, with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.ClassDef() | ast.ExceptHandler(name=str()):
                yield node.name, node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.Attribute(ctx=ast.Store()):
                yield node.attr, node.lineno
            case ast.arg():
                yield node.arg, node.lineno
            case ast.alias(asname=str()):
                yield node.asname, node.lineno


def banned_names(texts):
    """Return the breaches of the rule on words, as `faults` does."""
    results = []
    for path, text in texts.items():
        path = Path(path)
        if path.suffix != ".py":
            continue
        names = [(path.stem.removeprefix("test_"), 1), *bound_names(ast.parse(text))]
        results += [(path, line, f"{name} is no name") for name, line in names if BANNED.fullmatch(name)]
    return results


def repeated_files(paths):
    """Return the breaches of the rule on names of files, as `faults` does."""
    folders = {}
    for path in map(Path, paths):
        if path.suffix == ".py" and not NAMED_ALIKE.fullmatch(path.with_suffix("").as_posix()):
            folders.setdefault(path.name, []).append(path)
    return [
        (path, 1, f"{name} is in {len(alike)} folders")
        for name, alike in folders.items()
        if len(alike) > 2
        for path in alike
    ]


def main(root=ROOT):
    """Print what breaks a rule; return the exit status."""
    paths = [
        path
        for folder in USERS
        for path in (root / folder).rglob("*")
        if path.suffix in CODE and "auto_examples" not in path.parts and "generated" not in path.parts
    ]
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in [*paths, root / "Snakefile"]}
    checked = {path: text for path, text in texts.items() if path.startswith(("src/", "workflow/", "tests/"))}
    breaches = [*faults(texts), *banned_names(checked), *repeated_files(checked)]
    lines = [f"{path}:{line}: {fault}" for path, line, fault in breaches]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
