"""Small faults put into a source, Python or Cython: what a slip of the hand would be.

Both languages are read with Python's tokenizer, so that comments, docstrings and strings are left alone. A
mutant that does not compile says nothing about the tests, and is not counted.
"""

from __future__ import annotations

import io
import re
import token
import tokenize
from dataclasses import dataclass

# what stands between two values
BINARY = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("/",),
    "/": ("*",),
    "//": ("*",),
    "**": ("*",),
    "%": ("+",),
    "@": ("*",),
    "&": ("|",),
    "|": ("&",),
    "<<": (">>",),
    ">>": ("<<",),
    "+=": ("-=",),
    "-=": ("+=",),
    "*=": ("/=",),
    "/=": ("*=",),
    "&=": ("|=",),
    "|=": ("&=",),
    "and": ("or",),
    "or": ("and",),
}
# what stands before one
UNARY = {"-": "", "~": "", "not": ""}
WORDS = {
    "True": "False",
    "False": "True",
    "break": "continue",
    "continue": "break",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "any": "all",
    "all": "any",
}
WITHOUT = ("abs", "fabs", "sqrt")  # of a value, the value itself
KEYWORDS = {"and", "or", "not", "in", "is", "if", "elif", "else", "while", "return", "lambda", "yield", "for"}
# a Cython cast, and what may stand before it
CAST = re.compile(
    r"(?:^|[(\[,=:&|+*/<>-]|\breturn)\s*"
    r"(<\s*(?:const\s+)?[A-Za-z_][\w.]*[\s*]*(?:\[[^\]]*\])?\s*>)"
    r"\s*[\w(&*-]"
)
# statements that declare, import, explain, or end in an error's sentence
LEFT_ALONE = re.compile(r"(from|import|cimport|class|def|raise|ctypedef|global|nonlocal|assert|__all__)\b|@")
BLOCK = re.compile(r"(cdef|cpdef)\b.*:$", re.DOTALL)
DECLARATION = re.compile(r"cdef\b[^=]*$", re.DOTALL)
# statements whose loss leaves a program that still runs: a change of something that exists, a call, a jump
CHANGE = r"[\w.]+(?:\[.*\])?\s*(?:[-+*/@|&]|//|\*\*)=(?!=)|[\w.]+\[.*\]\s*=(?!=)|\w+\.[\w.]+\s*=(?!=)"
DELETABLE = re.compile(
    rf"(?!(?:cdef|return|yield|del|with|for|if|while)\b)(?:{CHANGE}|[\w.]+\(|continue$|break$)", re.DOTALL
)


@dataclass(frozen=True)
class Mutation:
    """One fault: ``old``, at a line (from 1) and column (from 0) of a source, becomes ``new``."""

    line: int
    column: int
    old: str
    new: str


def apply(source: str, mutation: Mutation) -> str:
    """The source with the fault."""
    begin = place(source, (mutation.line, mutation.column))
    if not source.startswith(mutation.old, begin):
        raise ValueError(f"line {mutation.line} has no {mutation.old!r} at column {mutation.column}")
    return source[:begin] + mutation.new + source[begin + len(mutation.old) :]


def place(source: str, position: tuple[int, int]) -> int:
    """Where a line (from 1) and column (from 0) is in a text."""
    line, column = position
    return sum(map(len, source.splitlines(keepends=True)[: line - 1])) + column


def mutations(source: str) -> list[Mutation]:
    """Every fault of a source, in order of place; not one of them has the source's own text."""
    results = []
    for tokens in statements(source):
        begin, end = place(source, tokens[0].start), place(source, tokens[-1].end)
        results += statement_faults(source[begin:end], tokens)
    return sorted(set(results), key=lambda fault: (fault.line, fault.column, fault.old, fault.new))


def statements(source: str) -> list[list[tokenize.TokenInfo]]:
    """The tokens of each statement that is more than a string."""
    result, current = [], []
    for item in tokenize.generate_tokens(io.StringIO(source).readline):
        if item.type == token.NEWLINE:
            result.append(current)
            current = []
        elif item.type not in (token.NL, token.INDENT, token.DEDENT, token.COMMENT, token.ENDMARKER):
            current.append(item)
    return [tokens for tokens in result if any(item.type != token.STRING for item in tokens)]


def statement_faults(text: str, tokens: list[tokenize.TokenInfo]) -> list[Mutation]:
    """Every fault of one statement."""
    if LEFT_ALONE.match(text) or BLOCK.match(text) or DECLARATION.match(text):
        return []
    results = []
    if DELETABLE.match(text):
        results.append(Mutation(*tokens[0].start, text, "pass"))
    if tokens[0].string in ("if", "elif", "while"):
        results += negated(text, tokens)
    skipped = [*casts(text, tokens), *annotation(tokens)]
    for number, item in enumerate(tokens):
        if not any(first <= item.start < last for first, last in skipped):
            before = tokens[number - 1] if number else None
            after = tokens[number + 1].string if number + 1 < len(tokens) else ""
            results += [Mutation(*item.start, item.string, new) for new in replacements(item, before, after)]
    return results


def replacements(item: tokenize.TokenInfo, before: tokenize.TokenInfo | None, after: str) -> list[str]:
    """What may stand in a token's place."""
    if item.type == token.NUMBER:
        return changed_numbers(item.string)
    word = item.string
    attribute = before is not None and before.string == "."
    if item.type == token.NAME and word in WORDS:
        return [] if before is not None and after == "=" else [WORDS[word]]
    if item.type == token.NAME and word in WITHOUT:
        return [""] if after == "(" and not attribute else []
    if word == "is":
        return [] if after == "not" else ["is not"]
    value_before = before is not None and (
        (before.type == token.NAME and before.string not in KEYWORDS)
        or before.type in (token.NUMBER, token.STRING)
        or before.string in (")", "]", "}")
    )
    if word in BINARY and value_before:
        return list(BINARY[word])
    if word in UNARY and (not value_before or word == "not"):
        return [UNARY[word]]
    return []


def changed_numbers(text: str) -> list[str]:
    """Off by one for a whole number; twice as large a fraction; a tolerance of half as many digits."""
    digits = text.replace("_", "").lower()
    if digits.isdecimal():
        number = int(digits)
        return [str(number + 1), *([str(number - 1)] if number else [])]
    if re.fullmatch(r"[\d.]+e[-+]?\d+", digits):
        mantissa, exponent = digits.split("e")
        half = int(int(exponent) / 2)
        return [f"{mantissa}e{half}"] if half != int(exponent) else []
    if re.fullmatch(r"\d*\.\d*", digits):
        return [repr(2 * float(digits) or 1.0)]
    return []


def negated(text: str, tokens: list[tokenize.TokenInfo]) -> list[Mutation]:
    """The negation of a condition that no other fault of it gives."""
    depth = 0
    for number, item in enumerate(tokens):
        depth += (item.string in ("(", "[", "{")) - (item.string in (")", "]", "}"))
        if item.string == ":" and depth == 0:
            condition = tokens[1:number]
            break
    else:
        return []
    if any(item.string in BINARY or item.string in ("not", "is", "in") for item in condition):
        return []
    keyword = tokens[0]
    return [Mutation(*keyword.start, keyword.string, f"{keyword.string} not")]


def casts(text: str, tokens: list[tokenize.TokenInfo]) -> list[tuple]:
    """From where to where the casts of a statement on one line go."""
    (line, column), (last, _) = tokens[0].start, tokens[-1].end
    if line != last:
        return []
    return [
        ((line, column + result.start(1)), (line, column + result.end(1))) for result in CAST.finditer(text)
    ]


def annotation(tokens: list[tokenize.TokenInfo]) -> list[tuple]:
    """From where to where the annotation of an assignment, or the type of a declaration, goes."""
    if len(tokens) > 2 and tokens[0].type == token.NAME and tokens[1].string == ":":
        end = next((item.start for item in tokens if item.string == "="), tokens[-1].end)
        return [(tokens[1].start, end)]
    if tokens[0].string == "cdef":
        end = next(item.start for item in tokens if item.string == "=")
        return [(tokens[0].start, end)]
    return []
