"""The word list of "make lint": habits of speech that a reader has to decode.

Called with files, it prints each place with what to write instead, and ends with the exit status 1 if there
are any. `test_prose.py` has sentences that it must find, and sentences that it must leave alone.
"""

import re
import sys
from pathlib import Path

# what is found anywhere -> what to write instead
WORDS = {
    r"\bmanieth\b": '"n-th"',
    r"\bat hand\b": '"stored", "available", or "given"',
    r"\bsaid by\b": "who says it, as the subject",
    r"\b(is|are) to be said\b": "what is said",
    r"\bas much again\b": "the factor",
    r"\bso far from it is\b": "the usual order of words",
    r"\b[Tt]hose of another\b": "what they are",
    r"\bby how much\b.*\bis off\b": '"the error of ..."',
}
# how no comment and no description of a parameter begins: it would continue the name above or before it
BEGINNINGS = r"([Oo]f|[Tt]hose|[Mm]ost|[Ss]o (many|much)|[Aa]s (many|much))\b"
CODE = (".py", ".pyx", ".pxd", ".smk")


def comment(line):
    """Text of the comment in a line of Python or Cython; None without one."""
    found = re.search(r"(?:^\s*|\S {2,})#:? (.*)", line)
    return found and found.group(1)


def faults(text, code):
    """What is wrong with a text: pairs of the line's number and what to do about it.

    Parameters
    ----------
    text : str
    code : bool
        Whether comments and docstrings are looked at for how they begin.
    """
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        for words, instead in WORDS.items():
            if found := re.search(words, line):
                yield number, f'"{found.group()}": write {instead}'
        before = lines[number - 2].strip() if number > 1 else ""
        goes_on = line.lstrip().startswith("#") and before.startswith("#")
        remark = comment(line) if code and not goes_on else None
        described = line.strip() if code and re.match(r"\w[\w, *]* : ", before) else None
        opened = re.match(r'\s*"""(.*)', line)
        for what in (remark, described, opened and code and opened.group(1)):
            if what and (found := re.match(BEGINNINGS, what)):
                yield number, f'"{found.group()} ..." continues the name above it: begin with a noun'


def main(paths):
    """Print the faults of some files; the exit status."""
    found = [
        f"{path}:{number}: {fault}"
        for path in paths
        for number, fault in faults(Path(path).read_text(), path.endswith(CODE))
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
