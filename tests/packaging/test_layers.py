"""What may import what: the library, the workflow and the benchmarks."""

import ast
import re
import sys
from pathlib import Path

import pytest

# a statement of Cython or Snakemake, in one line or in brackets
STATEMENT = re.compile(
    r"^ *(?:from +([\w.]+) +c?import +(\([^)]*\)|[^\n]*)|c?import +([^\n]*))", re.MULTILINE
)


def imports(path: Path) -> set[str]:
    """Return what a file imports, as "module" or "module:name"; a relative import is of svmselect."""
    if path.suffix == ".py":
        return _imports_of_python(ast.parse(path.read_text()))
    uses = set()
    for module, names, modules in STATEMENT.findall(path.read_text()):
        parts = [
            part.split()[0] for part in re.sub(r"[()\n#]", " ", names or modules).split(",") if part.strip()
        ]
        module = f"svmselect{module}" if module.startswith(".") else module
        uses |= {f"{module}:{part}" for part in parts} if module else set(parts)
    return uses


def _imports_of_python(tree: ast.AST) -> set[str]:
    uses = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            uses |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = f"svmselect.{node.module or ''}" if node.level else node.module
            uses |= {f"{module}:{alias.name}" for alias in node.names}
    return uses


def is_workflow_import(use: str, root: Path) -> bool:
    """Whether it is a module below the folder workflow."""
    top = root / "workflow" / re.split("[.:]", use)[0]
    return top.is_dir() or top.with_suffix(".py").is_file()


def private(use: str) -> bool:
    """Whether it is a private module, or a private name, of the library."""
    return use.startswith("svmselect") and re.search(r"[.:]_", use) is not None


def sources(root: Path, folder: str) -> list[Path]:
    paths = [path for path in (root / folder).rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".smk")]
    assert len(paths) > 10
    return paths


@pytest.mark.parametrize(("folder", "allowed"), [("benchmarks", {"data"}), ("src", set())])
def test_nothing_of_the_workflow_is_imported(root, folder, allowed):
    """The benchmarks import its data sets alone."""
    modules = {re.split("[.:]", use)[0] for path in sources(root, folder) for use in imports(path)}
    assert {name for name in modules if is_workflow_import(name, root)} == allowed


def test_the_workflow_imports_nothing_private_of_the_library(root):
    result = {
        path.relative_to(root).as_posix(): sorted(filter(private, imports(path)))
        for path in sources(root, "workflow")
    }
    assert {path: uses for path, uses in result.items() if uses} == {}
    # those that are used by their full name, too
    written = {path for path in result if re.search(r"\bsvmselect(\.\w+)*\._\w", (root / path).read_text())}
    assert written == set()


# what the packages of modules are called, and those without which single features are missing and say so
PACKAGE = {"sklearn": "scikit-learn"}
OPTIONAL = {"matplotlib", "pyarrow"}


def packages(path: Path) -> set[str]:
    """The packages that a file of Python needs beside Python and svmselect."""
    modules = {re.split("[.:]", use)[0] for use in imports(path)}
    return {PACKAGE.get(name, name) for name in modules - {*sys.stdlib_module_names, "svmselect"}}


def test_the_library_declares_what_it_imports(root, pyproject):
    """A package that comes with another one alone is gone when that one needs it no more."""
    needed = set().union(*(packages(path) for path in sources(root, "src") if path.suffix == ".py"))
    declared = {re.match(r"[a-z-]+", line)[0] for line in pyproject["project"]["dependencies"]}
    assert needed - OPTIONAL == declared


@pytest.mark.parametrize(
    ("line", "in_workflow", "in_library"),
    [
        ("from lib.figures import figure", True, False),
        ("def f():\n    from papers.bakir2004 import cells", True, False),
        ("import lib.rows as r, os", True, False),
        ("from svmselect.solver import _active_set", False, True),
        ("from svmselect.solver._smo import Dual", False, True),
        ("import svmselect._columns as c", False, True),
        ("from svmselect.gram import Gram, _Slots", False, True),
        ("from svmselect import Gram\nfrom library import lib", False, False),
        ('rule a:\n    params:\n        b="_c",\n\n\nfrom lib.papers import load_papers', True, False),
    ],
)
def test_such_imports_are_seen(root, tmp_path, line, in_workflow, in_library):
    path = tmp_path / ("file.smk" if line.startswith("rule") else "file.py")
    path.write_text(f"{line}\n")
    assert any(is_workflow_import(use, root) for use in imports(path)) == in_workflow
    assert any(map(private, imports(path))) == in_library
