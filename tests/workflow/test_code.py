"""What reruns a job: the code that it runs, and nothing else of the library or of the workflow."""

import ast
import importlib
import re
import shutil
from functools import cache

import pytest
from checkouts import ROOT, Checkout
from lib.library import check_installed, code_of, library_id
from lib.rows import read_rows
from lib.run import planned

from svmselect.digest import Code, difference, read_module, read_package

SOURCES, WORKFLOW = ROOT / "src/svmselect", ROOT / "workflow"
PAPERS, *_ = planned()
# One for each kind of job that computes numbers, with the modules that it runs.
KINDS = {"scripts.prepare_data": ["scripts.prepare_data"]} | {
    ".".join([paper.key, run.verb, *cell.modules]): paper.modules_of(run, name)
    for paper in PAPERS.values()
    for run in paper.plan.runs
    for name, cell in run.cells.items()
}
COMPILED = {".pyx", ".pxd", ".c", ".h"}


@pytest.fixture(scope="module")
def modules():
    return read_package(SOURCES)


@pytest.fixture
def copy(tmp_path):
    """The sources of the library, to be changed."""
    shutil.copy(ROOT / "meson.build", tmp_path)
    shutil.copytree(SOURCES, tmp_path / "src/svmselect", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "src/svmselect"


def rewrite(folder, change):
    """Change the text of every file of code: the function is given the text and the path."""
    for path in (folder.parents[1] / "meson.build", *folder.rglob("*")):
        if path.suffix in {".py", ".build", *COMPILED} and path.parent.name != "__pycache__":
            path.write_text(change(path.read_text(), path))


# What a module uses, found otherwise than by svmselect.digest: by Python's own parser, and by asking each
# imported object in which module it is defined.


def home(module, name):
    """Module in which what another imports is defined."""
    try:
        return importlib.import_module(f"{module}.{name}").__name__
    except ImportError:
        pass
    found = getattr(importlib.import_module(module), name, None)
    # an object has the module of its class, which is not where it is defined
    place = getattr(found, "__module__", None) if hasattr(found, "__qualname__") else None
    place = place or module
    return place if place.startswith(("svmselect", "data.", "lib.", "papers.")) else module


def used_by_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and re.match(r"(svmselect|data|lib|papers)\b", node.module):
            yield from (home(node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
            yield from (name for name in names if re.match(r"(svmselect|data|lib|papers)\.", name))


@cache
def used(name):
    """Modules and C files that a module uses itself."""
    if "/" in name:
        path = SOURCES.parent / name
        # beside the file, or at the top
        headers = {
            next(place for place in (path.parent / header, SOURCES / header) if place.exists())
            .relative_to(SOURCES.parent)
            .as_posix()
            for header in re.findall(r'^#include "(.*)"', path.read_text(), re.M)
        }
        return headers | ({name.replace(".h", ".c")} if path.with_suffix(".c").exists() else set())
    place = name.replace(".", "/")
    for path in (
        WORKFLOW / f"{place}.py",
        SOURCES.parent / f"{place}.py",
        SOURCES.parent / f"{place}/__init__.py",
    ):
        if path.exists():
            return set(used_by_python(path.read_text()))
    found = {"meson.build"}
    for path in SOURCES.parent.glob(f"{place}.p*"):
        for line in path.read_text().splitlines():
            if match := re.match(r"from (svmselect\S*) c?import (.*)", line):
                is_package = (SOURCES.parent / match[1].replace(".", "/")).is_dir()
                names = re.findall(r"\w+", match[2]) if is_package else [""]
                found |= {f"{match[1]}.{of}".rstrip(".") for of in names}
            elif match := re.match(r'cdef extern from "(.*)"', line):
                found.add(f"svmselect/{match[1]}")
    return found


def users(name):
    """Kinds of jobs that use a module, through others or not."""
    return {kind for kind, run in KINDS.items() if any(name in reached(module) for module in run)}


@cache
def reached(name):
    found, ahead = set(), [name]
    while ahead:
        if (name := ahead.pop()) not in found:
            found.add(name)
            ahead += () if name == "meson.build" else used(name)
    return found


def named(path, folder=WORKFLOW):
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


@cache
def of_the_workflow():
    paths = [
        path for folder in ("data", "lib", "papers", "scripts") for path in WORKFLOW.glob(f"{folder}/**/*.py")
    ]
    return {named(path): read_module([path], named(path), path.name == "__init__.py") for path in paths}


def digests(modules):
    code = Code({**of_the_workflow(), **modules})
    return {kind: code.digest(run) for kind, run in KINDS.items()}


def last_word_changed(text, path):
    """The last name or number of a file, changed; it has to be code."""
    return re.sub(r"(\w)(\W*)\Z", r"\1_\2", text)


def test_a_changed_token_of_a_module_reruns_the_jobs_that_use_it_and_no_other(modules, copy):
    rewrite(copy, last_word_changed)
    changed, before = read_package(copy), digests(modules)
    assert len(KINDS) == 28 and len(modules) > 80
    exports = {name for name, module in modules.items() if module.exports is not None}
    assert {"svmselect", "svmselect.bounds", "svmselect.svm"} & exports == {"svmselect", "svmselect.bounds"}
    flipped = {}
    for name in sorted({*modules} - exports):
        assert changed[name].digest != modules[name].digest, name
        after = digests({**modules, name: changed[name]})
        flipped[name] = {kind for kind in KINDS if after[kind] != before[kind]}
    assert flipped == {name: users(name) for name in flipped}
    # so that it is seen what this means
    spans = {"chapelle1999", "comparison", "sarafis2018"}
    assert {kind.split(".")[0] for kind in flipped["svmselect.bounds.span_rule"]} == spans
    assert (
        flipped["svmselect/solver/_vec_avx512.h"]
        == flipped["svmselect.solver._smo"]
        == flipped["meson.build"]
    )
    # LIBSVM's runs too: a solver chose the models that they are of
    assert {*KINDS} - flipped["svmselect.solver._smo"] == {"scripts.prepare_data"}
    assert flipped["svmselect.standardise"] == {"scripts.prepare_data"}
    assert not any(
        flipped[name] for name in flipped if name.startswith(("svmselect.cli", "svmselect.sklearn"))
    )


def test_every_module_of_the_workflow_reruns_the_jobs_that_import_it(tmp_path, modules):
    before = digests(modules)
    for path in sorted(
        path for name in ("data", "lib", "papers") for path in WORKFLOW.glob(f"{name}/**/[!_]*.py")
    ):
        (tmp_path / "changed.py").write_text(f"{path.read_text()}CHANGED = 1\n")
        name = named(path)
        after = digests({**modules, name: read_module([tmp_path / "changed.py"], name)})
        assert {kind for kind in KINDS if after[kind] != before[kind]} == users(name), name


def remarks(text, path):
    """Each empty line a comment, or another docstring if it is in one."""
    remark = "/* if (a) { b } */" if path.suffix in (".c", ".h") else "# 1 if a else 'b"
    return re.sub(r"(?m)(?<!\\\n)^$\n", f"{remark}\n", f"{text}\n")


def broken(text, path):
    """A line break where brackets or semicolons allow it, but in lines with comments and texts."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if path.suffix in (".c", ".h"):
            if not re.search(r'^ *#|\\\n|"|//|/\*|^ *\*', line):
                lines[number] = re.sub(r"; ?|\{ ?", lambda match: f"{match[0].strip()}\n\n   ", line)
        elif not re.search(r"[\"'#\\]", line):
            lines[number] = re.sub(r"(?<=[\w)\]])\((?=\w)", "(\n", line)
    return "".join(lines)


@pytest.mark.parametrize("change", [remarks, broken])
def test_remarks_docstrings_and_layout_rerun_nothing(copy, modules, change):
    originals = {path: path.read_text() for path in copy.rglob("*.*") if path.suffix in {".py", *COMPILED}}
    rewrite(copy, change)
    assert sum(path.read_text() != text for path, text in originals.items()) > 0.6 * len(originals)
    assert read_package(copy) == modules
    assert difference(copy) == []


@pytest.mark.parametrize(("first", "second", "same"), [
    ("x = 1\n", "x = 1  # one\n", True),
    ("def f():\n    return 1\n", 'def f():\n  """One."""\n\n  return 1\n', True),
    ("class A:\n    '''A.'''\n", "class A:\n    'B.'\n    '''C'''\n", True),
    ("x = 'a # b'\n", "x = 'a # c'\n", False),
    ("x = 'a'\n", "x = 'b'\n", False),
    ("f(a, b)\n", "f(\n    a,\n    b,\n)\n", True),
    ("f(a)\n", "f(\n    a,\n)\n", True),
    ("x = [a]\n", "x = [\n  a,\n]\n", True),
    ("x = (a)\n", "x = (a,)\n", False),
    ("return (a)\n", "return (a,)\n", False),
    ("x[a]\n", "x[a,]\n", False),
    ("x[a, b]\n", "x[a, b,]\n", True),
    ("x = a + \\\n    b\n", "x = a + b\n", True),
    ("if a:\n    b\nc\n", "if a:\n  b\nc\n", True),
    ("if a:\n    b\nc\n", "if a:\n    b\n    c\n", False),
    ("if a:\n    if b:\n        c\n    d\n", "if a:\n    if b:\n        c\nd\n", False),
    ("x = 1e-12\n", "x = 1e-13\n", False),
    ("a = b\nc = d\n", "a = b; c = d\n", False),
    ("cdef double x = a<b\n", "cdef double x = a < b\n", True),
    ("# cython: wraparound=True\nx = 1\n", "x = 1\n", False),
    ("cdef extern from *:\n    'int a;'\n", "cdef extern from *:\n    'int b;'\n", False),
    ("cdef extern from *:\n    'int a;'\n", "cdef extern from *:\n    'int  a ; // b'\n", True),
    ("from a import b\n", "from a import c\n", False),
    ("x = (1\n", "x = (2\n", False),
])  # fmt: skip
def test_what_counts_as_the_same_code(tmp_path, first, second, same):
    found = []
    for text in (first, second):
        (tmp_path / "module.pyx").write_text(text)
        found.append(read_module([tmp_path / "module.pyx"], "package.module"))
    assert (found[0] == found[1]) == same


@pytest.mark.parametrize(("first", "second", "same"), [
    ("int a; // b\n", "int\n  a /* c\n */ ;\n", True),
    ("a = b+++c;\n", "a = b++ + c;\n", True),
    ("a = b+++c;\n", "a = b + ++c;\n", False),
    ("#define f(x) x\n", "#  define  f(x)   x\n", True),
    ("#define f(x) x\n", "#define f (x) x\n", False),
    ("#define f(x) x\n", "#define f(x)\nx\n", False),
    ("#define f(x) \\\n  x\n", "#define f(x) x\n", True),
    ('char *a = "// b";\n', 'char *a = "// c";\n', False),
    ("#pragma GCC ivdep\n", "", False),
])  # fmt: skip
def test_what_counts_as_the_same_c(tmp_path, first, second, same):
    folder = tmp_path / "src/package"
    folder.mkdir(parents=True)
    (tmp_path / "meson.build").touch()
    found = []
    for text in (first, second):
        (folder / "file.c").write_text(text)
        found.append(read_package(folder))
    assert (found[0] == found[1]) == same


@pytest.mark.parametrize(("text", "imports"), [
    ("import numpy as np, a.b as c, d.e\n", ("a.b", "d.e", "numpy")),
    ("from a.b import (\n    c,\n    d as e,\n)\n", ("a.b:c", "a.b:d")),
    ("from a import *\n", ("a",)),
    ("from . import b\nfrom .c import d\nfrom .. import e\n", ("p.q.c:d", "p.q:b", "p:e")),
    ("def f():\n    import a; from b import c\n", ("a", "b:c")),
    ("try: import a\nexcept ImportError: from b import c\n", ("a", "b:c")),
    ("from a cimport B, c\ncimport d\n", ("a:B", "a:c", "d")),
    ('cdef extern from "h.h" nogil:\n    int f()\ninclude "i.pxi"\n', ('"h.h"', '"i.pxi"')),
    ("raise A from b\nyield from c\nimportant = 1\nx = {a: b}\n", ()),
])  # fmt: skip
def test_imports_that_are_followed(tmp_path, text, imports):
    (tmp_path / "module.pyx").write_text(text)
    assert read_module([tmp_path / "module.pyx"], "p.q.module").imports == imports


def test_an_export_reruns_the_jobs_that_import_it_by_that_name(copy, modules):
    path = copy / "bounds/__init__.py"
    text = path.read_text()
    path.write_text(
        text.replace("import span_rule", "import span_rule, sv_count").replace(
            "span_rule import SpanRule, span_rule", "xi_alpha import xi_alpha as span_rule"
        )
    )
    before, after = digests(modules), digests(read_package(copy))
    flipped = {kind.split(".")[0] for kind in KINDS if before[kind] != after[kind]}
    # the comparison's estimators import the declarations from their own modules
    assert flipped == {"chapelle1999", "sarafis2018"}


def test_no_module_is_imported_in_a_way_that_is_not_followed():
    dynamic = re.compile(r"import_module|__import__|runpy|spec_from_file")
    paths = [path for path in (*SOURCES.rglob("*.py*"), *WORKFLOW.rglob("*.py")) if path.suffix != ".pyc"]
    found = {path.name for path in paths if dynamic.search(path.read_text())}
    # these import modules of the paper, which their rules give to `code_of`; estimator.py those of its
    # folder; main.py is the command, which no job runs
    exhibits = {"make_exhibits.py", "plot_figures.py", "make_causes.py"}
    assert found == {*exhibits, "job.py", "estimator.py", "papers.py", "causes.py", "main.py"}
    text = "".join((WORKFLOW / f"rules/{name}.smk").read_text() for name in ("exhibits", "causes"))
    assert text.count("*paper.modules(") + text.count("*paper.modules_of_causes(") == len(exhibits)
    causes, *_ = planned(ROOT / "config/paper.yaml")
    # the order is a parameter of a rule: it has to be the same in every process
    of_causes = [f"papers.franc2008.{name}" for name in ("causes", "exhibits", "whole", "bounds")]
    assert causes["franc2008"].modules_of_causes() == of_causes
    assert '"code": code_of(*paper.modules_of(run, name))' in (WORKFLOW / "lib/run.py").read_text()
    assert {key for key, paper in PAPERS.items() if paper.modules()} == {"comparison"}


def test_every_c_file_is_reached_by_a_compiled_module(modules):
    compiled = [name for name in modules if (SOURCES.parent / f"{name.replace('.', '/')}.pyx").exists()]
    assert {name for name in modules if "/" in name} <= set(Code(modules).reached(compiled))
    flags = re.findall(r"'-[DOWfm]\S*'", (SOURCES / "meson.build").read_text())
    assert flags == [], "flags belong in the meson.build above, which is digested"


def test_a_header_that_is_nowhere_is_named(copy):
    (copy / "gram/_columns.pyx").write_text('cdef extern from "_nowhere.h":\n    pass\n')
    with pytest.raises(
        ValueError, match=r'_columns.pxd includes "_nowhere.h", which is neither beside it nor in'
    ):
        read_package(copy)


def test_a_changed_added_or_removed_module_differs_from_what_is_installed(copy):
    assert difference(copy) == []
    (copy / "svm.py").write_text((copy / "svm.py").read_text().replace("1e-3", "1e-4"))
    (copy / "path.py").rename(copy / "route.py")
    (copy / "solver/_vec.h").write_text("")
    assert difference(copy) == [
        "svmselect.path",
        "svmselect.route",
        "svmselect.svm",
        "svmselect/solver/_vec.h",
    ]
    with pytest.raises(
        ValueError,
        match=r"differs in svmselect.path, svmselect.route, svmselect.svm and 1 more: run `make env`",
    ):
        check_installed(copy)


def test_a_job_refuses_code_that_is_not_what_was_planned():
    code = code_of("scripts.run_cells", "papers.franc2008.cells")
    version, digest = library_id(code).split("+")
    assert digest == code["digest"] and version
    with pytest.raises(
        RuntimeError, match=r"code of scripts.run_cells, papers.franc2008.cells has changed since snakemake"
    ):
        library_id({**code, "digest": "0" * 12})
    with pytest.raises(ValueError, match=r"there is no module scripts.run in "):
        code_of("scripts.run")


def test_every_rule_has_the_code_of_its_script():
    without = set()
    for path in sorted(WORKFLOW.rglob("*.smk")):
        for text in re.split(r"\n *rule(?: \w+)?:\n", path.read_text())[1:]:
            if script := re.search(r'script:\n +"(\S+)\.py"', text):
                file = (path.parent / script[1]).resolve().relative_to(WORKFLOW)
                module = ".".join(file.parts)
                code = re.search(r'code=code_of\("(.*?)"', text)
                if code is None:
                    without.add(module)
                else:
                    assert code[1] == module
    # how a file of a known hash is fetched changes nothing in it; verify writes nothing that is kept
    assert without == {"scripts.download_data", "scripts.verify"}


CELL = {
    "preset": "edited",
    "minutes_per_job": None,
    "franc2008": {
        "datasets": ["titanic-table"],
        "methods": ["unlearn"],
        "linear": {"C": [0.1]},
        "rbf": {"C": [1], "gamma": [1]},
    },
}
OUTPUT = "results/edited/franc2008/cells/titanic-table/realisation-1/linear.parquet"


def edit(path, before, after):
    text = path.read_text()
    assert before in text, path
    path.write_text(text.replace(before, after))


@pytest.mark.slow
def test_edits_of_a_checkout(tmp_path):
    """A comment runs nothing, code of the workflow its jobs, code of the library none until it is built."""
    checkout = Checkout(tmp_path)
    for name in ("src", "workflow"):  # links to those of this checkout
        (tmp_path / name).unlink()
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))

    def snakemake(*arguments):
        return checkout.snakemake("--cores", "1", *arguments, "--", OUTPUT, config=CELL)

    done = snakemake("--quiet", "rules", "progress")
    assert done.returncode == 0, done.stderr
    rows = read_rows([tmp_path / OUTPUT])
    assert set(rows["library"]) == {library_id(code_of("scripts.run_cells", "papers.franc2008.cells"))}

    workflow, sources = tmp_path / "workflow", tmp_path / "src/svmselect"
    edit(workflow / "scripts/run_cells.py", "checkpoints = []\n", "# a remark\ncheckpoints = []\n")
    edit(workflow / "papers/franc2008/cells.py", '"""\n\nfrom', ' Or so."""\n\nfrom')
    for name in ("path.py", "gram/matrix.py", "solver/_smo.pyx"):
        edit(sources / name, "\nimport numpy as np\n", "\n# a remark\nimport numpy as np\n")
    done = snakemake("--dry-run")
    assert "Nothing to be done" in done.stdout + done.stderr

    edit(workflow / "papers/franc2008/cells.py", "    return 2 * eps", "    return eps * 2")
    done = snakemake("--dry-run", "--quiet", "rules")
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"^(\w+) +1$", done.stdout, re.M)) == {"franc2008_run_loo", "total"}
    assert "params have changed" in done.stdout

    edit(sources / "bounds/span_rule.py", ">= (y *", "> (y *")
    done = snakemake("--dry-run")
    assert done.returncode == 1
    output = done.stdout + done.stderr
    assert (
        f"The installed svmselect was not built from the sources in {sources}, from which it differs in "
        "svmselect.bounds.span_rule: run `make env` first." in output
    )
    assert "Traceback" not in output
