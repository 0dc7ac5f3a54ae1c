"""Digests of code: whether what a number depends on is what it was when the number was computed.

A module is digested by its tokens, without comments, docstrings and layout, and followed through what it
imports. Imports and cimports lead to modules, an ``#include`` or ``cdef extern from`` to a header, a header
to the C file of its name, and every compiled module to ``meson.build``, which has the flags of its compiler.
An ``__init__.py`` that only exports is looked through: ``from svmselect import span_rule`` depends on
``svmselect.bounds.span_rule`` alone, and on nothing else that the package exports. That Python runs the
``__init__.py`` of the packages above a module as well is left out of account.

The build runs this file as a program, which writes what it finds in the sources to
``svmselect/_digests.json``. So the installed library knows its own code, whatever becomes of the sources.
"""

from __future__ import annotations

import hashlib
import json
import keyword
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["Code", "difference", "main", "read_module", "read_package"]

# Digits of a digest: with 12, two of a million codes are the same with a chance of 1 in 500.
DIGITS = 12
_CYTHON, _C_FILES = (".pyx", ".pxd"), (".c", ".h")
FLAGS = "meson.build"

STRING = r"""(?s:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3})|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
NUMBER = r"\d(?:[eEpP][-+]\d|[\w.])*"
# Comments that begin with "cython:" or "distutils:" are directives.
PYTHON_TOKENS = re.compile(
    rf"""(?P<skip>(?:[ \t\f\r]|\\\r?\n|\#(?![ \t]*(?:cython|distutils):)[^\n]*)+)
    |(?P<end>\n)
    |(?P<open>[\[({{])
    |(?P<close>[\])}}])
    |(?P<string>[A-Za-z]{{0,2}}(?:{STRING}))
    |(?P<token>{NUMBER}|\w+|\*\*=?|//=?|>>=?|<<=?|->|:=|\.\.\.|[-+*/%@&|^=<>!]=|.)""",
    re.VERBOSE,
)
# Whether a parenthesis follows a macro's name at once decides what it is. A line's end ends a directive.
C_TOKENS = re.compile(
    rf"""(?P<skip>(?:[ \t\f\r]|\\\r?\n|//[^\n]*|(?s:/\*.*?\*/))+)
    |(?P<end>\n)
    |(?P<token>(?:L|u8|u|U)?(?:{STRING})|\#[ \t]*define[ \t]+\w+\(?|{NUMBER}|\w+|<<=|>>=|\.\.\.|->|\+\+|--
        |<<|>>|&&|\|\||\#\#|[-+*/%&|^=<>!]=|.)""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Module:
    """What is known of one module, or of one C file.

    Attributes
    ----------
    digest : str
        The digest of its own tokens.
    imports : tuple of str
        What it uses, in alphabetical order: ``package.module`` as a whole, a name ``package.module:name`` of
        a module, which may be a module itself, or a C file ``package/file.h``.
    exports : dict of str to str or None
        For an ``__init__.py`` that only exports: name -> where it comes from, written as in `imports`. None
        for a module with code of its own.
    """

    digest: str
    imports: tuple[str, ...] = ()
    exports: dict[str, str] | None = None


@dataclass(frozen=True)
class Code:
    """Modules, and what they reach through their imports.

    Parameters
    ----------
    modules : dict of str to _Module
        Name -> module. Imports of packages that have no module here are not followed.
    roots : tuple of Path
        Folders whose Python modules are read when something imports them, by their names below the folder.
    """

    modules: dict[str, _Module]
    roots: tuple[Path, ...] = ()
    _read: dict[str, _Module | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def installed(cls, roots: Iterable[Path] = ()) -> Code:
        """The modules of the installed library, as they were when it was built.

        Raises
        ------
        FileNotFoundError
            If the library was not built but imported from its sources.
        """
        return cls(_load(Path(__file__).with_name("_digests.json")), tuple(roots))

    def module(self, name: str) -> _Module | None:
        """A module by its name; None if it is neither given nor below a root."""
        if name in self.modules:
            return self.modules[name]
        if name not in self._read:
            place = name.replace(".", "/")
            files = [root / f"{place}{end}" for root in self.roots for end in (".py", "/__init__.py")]
            file = next((file for file in files if file.is_file()), None)
            is_package = file is not None and file.name == "__init__.py"
            self._read[name] = None if file is None else read_module([file], name, is_package)
        return self._read[name]

    def reached(self, uses: Iterable[str]) -> dict[str, str]:
        """Everything that is reached, directly or through imports.

        Parameters
        ----------
        uses : iterable of str
            Written as `Module.imports` are.

        Returns
        -------
        dict of str to str
            Module -> digest of its own tokens, and exported name -> where it comes from, sorted.

        Raises
        ------
        ValueError
            If a package that is known lacks a module that is imported from it.
        """
        found: dict[str, str] = {}
        ahead = list(uses)
        while ahead:
            use = ahead.pop()
            if use in found:
                continue
            name, _, part = use.partition(":")
            module = self.module(name)
            if module is None:
                if self.module(re.split(r"[./]", name)[0]) is not None:
                    raise ValueError(f"there is no module {name}, which is imported")
            elif part and module.exports and part in module.exports:
                found[use] = module.exports[part]
                ahead.append(module.exports[part])
            elif part and self.module(f"{name}.{part}") is not None:
                ahead.append(f"{name}.{part}")
            elif part:
                ahead.append(name)
            else:
                found[name] = module.digest
                ahead += module.imports
        return dict(sorted(found.items()))

    def digest(self, uses: Iterable[str]) -> str:
        """Digest of everything that is reached, as hexadecimal digits; see `reached` for `uses`."""
        return _digest(f"{name} {of}" for name, of in self.reached(uses).items())


def read_module(files: Iterable[Path], name: str, is_package: bool = False) -> _Module:
    """Read a module from its files: one of Python, or a ``.pyx`` and its ``.pxd``.

    Parameters
    ----------
    files : iterable of Path
    name : str
        The module's name, with its package; relative imports start from it.
    is_package : bool, default=False
        Whether the file is an ``__init__.py``.

    Returns
    -------
    _Module
        Headers among its `imports` are in quotation marks, without a folder.
    """
    package = name if is_package else name.rpartition(".")[0]
    tokens: list[str] = []
    imports: list[str] = []
    exports: dict[str, str] | None = {} if is_package else None
    for file in sorted(files):
        for level, statement in _statements(file.read_text(encoding="utf-8")):
            tokens += [str(level), *statement, "\n"]
            found = list(_imports(statement, package))
            imports += [use for _, use in found]
            only_exports = statement[0] in ("from", "import", "__all__") and not {"*", ";"} & {*statement}
            exports = exports | dict(found) if only_exports and exports is not None else None
    return _Module(_digest(tokens), tuple(sorted(set(imports))), exports)


def read_package(folder: Path) -> dict[str, _Module]:
    """Read all modules and C files of a package, and the ``meson.build`` two folders above it.

    Parameters
    ----------
    folder : Path
        The package's folder; its last part is the package's name.

    Returns
    -------
    dict of str to _Module
        Imports of other packages are left out.

    Raises
    ------
    ValueError
        If a header in quotation marks is neither beside the file that includes it nor in `folder`.
    """
    flags = folder.parents[1] / FLAGS
    tokens = [token for _, line in _statements(flags.read_text(encoding="utf-8")) for token in (*line, "\n")]
    modules = {FLAGS: _Module(_digest(tokens))}
    for name, files in _files(folder).items():
        if files[0].suffix in _C_FILES:
            module = _read_c(files[0])
        else:
            module = read_module(files, name, files[0].name == "__init__.py")
        imports = {_header(use, files[0], folder) if use[0] == '"' else use for use in module.imports}
        if files[0].suffix in _CYTHON:
            imports.add(FLAGS)
        elif files[0].suffix == ".h" and files[0].with_suffix(".c").is_file():
            imports.add(name.replace(".h", ".c"))
        own = tuple(sorted(use for use in imports if re.split("[./:]", use)[0] in (folder.name, "meson")))
        modules[name] = _Module(module.digest, own, module.exports)
    return modules


def difference(folder: Path) -> list[str]:
    """Modules and C files of which the installed library has other code than the sources, by name.

    Comments, docstrings and layout make no difference.

    Parameters
    ----------
    folder : Path
        Where the sources of the package ``svmselect`` are.
    """
    return _changed(Code.installed().modules, read_package(folder))


def _changed(before: dict[str, _Module], after: dict[str, _Module]) -> list[str]:
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _digest(tokens: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(tokens).encode()).hexdigest()[:DIGITS]


def _files(folder: Path) -> dict[str, list[Path]]:
    """The files of each module of a package, and each of its C files by its own name."""
    files: dict[str, list[Path]] = {}
    for file in sorted(folder.rglob("*")):
        place = file.relative_to(folder.parent)
        if file.suffix in (".py", *_CYTHON):
            files.setdefault(".".join(place.with_suffix("").parts).removesuffix(".__init__"), []).append(file)
        elif file.suffix in _C_FILES:
            files[place.as_posix()] = [file]
    return files


def _header(use: str, file: Path, folder: Path) -> str:
    """Name of the header that a file includes."""
    for place in (file.parent, folder):
        header = place / use.strip('"')
        if header.is_file():
            return header.relative_to(folder.parent).as_posix()
    raise ValueError(f"{file} includes {use}, which is neither beside it nor in {folder}")


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Statements of Python or Cython: how deep each is indented, and its tokens.

    A string that is a statement is left out, unless it is the C code of a ``cdef extern``, and so is a comma
    before a closing bracket that says nothing.
    """
    widths: list[int] = [0]
    statement: list[str] = []
    brackets: list[list[int]] = []
    only_strings, of_extern = True, False
    position = 0  # where the line begins
    for match in PYTHON_TOKENS.finditer(text + "\n"):
        kind, token = match.lastgroup, match.group()
        if kind == "skip":
            continue
        if kind == "end":
            position = match.end()
            if statement and not brackets:
                if not only_strings:
                    yield len(widths) - 1, statement
                elif of_extern:
                    code = "".join(string.strip("\"'") for string in statement)
                    yield len(widths) - 1, [token for line in _c_lines(code) for token in line]
                of_extern = statement[:2] == ["cdef", "extern"]
                statement, only_strings = [], True
            continue
        if not statement:
            width = len(text[position : match.start()].expandtabs())
            while width < widths[-1]:
                widths.pop()
            if width > widths[-1]:
                widths.append(width)
        if kind == "open":
            before = statement[-1] if statement else ""
            of_name = before in ("]", ")") or (
                before.isidentifier() and not keyword.iskeyword(before) and before not in ("match", "case")
            )
            # "(a,)" and "x[a,]" are tuples, "f(a,)", "[a,]" and "{a,}" are not
            brackets.append([token == "{" or (token == "(") == of_name, 0])
        elif kind == "close" and brackets:
            idle, commas = brackets.pop()
            if statement[-1] == "," and (idle or commas > 1):
                statement.pop()
        elif token == "," and brackets:
            brackets[-1][1] += 1
        only_strings = only_strings and kind == "string"
        statement.append(token)
    if statement:  # in a bracket that is not closed
        yield len(widths) - 1, statement


def _imports(statement: list[str], package: str) -> Iterator[tuple[str, str]]:
    """What a statement imports: the name that it binds, and what is used, as `Module.imports` has it."""
    starts = [0, *(i for i, before in enumerate(statement[:-1], 1) if before in (":", ";"))]
    for start in starts:
        word, rest = statement[start], statement[start + 1 :]
        verbs = [i for i, token in enumerate(rest) if token in ("import", "cimport")]
        if word in ("import", "cimport"):
            for part in _parts(rest):
                dotted = part[: part.index("as")] if "as" in part else part
                yield (part[-1] if "as" in part else part[0]), "".join(dotted)
        elif word == "from" and verbs:
            origin = _absolute("".join(rest[: verbs[0]]), package)
            for part in _parts(rest[verbs[0] + 1 :]):
                yield part[-1], origin if part == ["*"] else f"{origin}:{part[0]}"
    for place in (1, 3):
        if statement[:place] in (["include"], ["cdef", "extern", "from"]) and statement[place] != "*":
            header = statement[place][1:-1]
            yield header, f'"{header}"'


def _absolute(origin: str, package: str) -> str:
    """Name of a module that may be relative to a package."""
    name = origin.lstrip(".")
    dots = len(origin) - len(name)
    if not dots:
        return name
    above = package.split(".")[: package.count(".") + 2 - dots]
    return ".".join([*above, *filter(None, [name])])


def _parts(tokens: list[str]) -> Iterator[list[str]]:
    """Parts of a list between commas, up to the end of its statement."""
    part: list[str] = []
    for token in tokens:
        if token in (",", ";"):
            yield part
            part = []
            if token == ";":
                return
        elif token not in ("(", ")"):
            part.append(token)
    if part:
        yield part


def _read_c(file: Path) -> _Module:
    """Read a C file; what it includes is written as `read_module` writes headers."""
    lines = list(_c_lines(file.read_text(encoding="utf-8")))
    includes = {line[2] for line in lines if line[:2] == ["#", "include"] and line[2][0] == '"'}
    return _Module(_digest(token for line in lines for token in line), tuple(sorted(includes)))


def _c_lines(text: str) -> Iterator[list[str]]:
    """Tokens of the lines of C; that of a directive has an end."""
    line: list[str] = []
    for match in C_TOKENS.finditer(f"{text}\n"):
        kind, token = match.lastgroup, match.group()
        if kind == "token":
            line.append(" ".join(token.replace("#", "# ").split()) if token[0] == "#" else token)
        elif kind == "end" and line:
            yield [*line, "\n"] if line[0][0] == "#" else line
            line = []


def _load(file: Path) -> dict[str, _Module]:
    entries = json.loads(file.read_text(encoding="utf-8"))
    return {
        name: _Module(entry["digest"], tuple(entry["imports"]), entry["exports"])
        for name, entry in entries.items()
    }


def _bake(folder: Path, output: Path) -> None:
    """Write what the installed library is to know of its sources.

    Raises
    ------
    ValueError
        If a compiled file was changed since the last build but is dated before it, so that the build, which
        looks at dates, does not compile it again.
    """
    modules = read_package(folder)
    before = _load(output) if output.is_file() else {}
    own = f"{folder.name}.{Path(__file__).stem}"
    # another version of this file may digest the same code otherwise
    if before.get(own) == modules.get(own):
        files = {FLAGS: [folder.parents[1] / FLAGS], **_files(folder)}
        for name in _changed(before, modules):
            of = [file for file in files.get(name, []) if file.suffix != ".py"]
            if of and max(file.stat().st_mtime for file in of) < output.stat().st_mtime:
                files_of = ", ".join(map(str, of))
                raise ValueError(f"changed since the last build, but dated before it: touch {files_of}")
    entries = {name: asdict(module) for name, module in modules.items()}
    output.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> str | None:
    """Write the digests of the sources in a folder to a file; without a file, compare with those installed.

    Returns
    -------
    str or None
        What is wrong, for `sys.exit`.
    """
    folder, *output = map(Path, arguments)
    try:
        if output:
            _bake(folder, output[0])
            return None
        changed = difference(folder)
    except (OSError, ValueError) as error:
        return str(error)
    return f"The installed svmselect differs from {folder} in {', '.join(changed)}" if changed else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
