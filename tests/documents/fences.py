"""The documents' fenced blocks, found by a Markdown parser: a new block is run without being listed."""

import re
import shlex
import subprocess
from dataclasses import dataclass

from checkouts import ROOT
from markdown_it import MarkdownIt

SHELL = ("", "sh", "bash")
TEMPLATES = re.compile(r"results/|/story\.md$|^workflow/report/")


@dataclass(frozen=True)
class Block:
    """A fenced block: its document, the line where its text begins, its language and its text."""

    document: str
    line: int
    language: str
    text: str


def documents() -> dict[str, str]:
    """Text of each Markdown file that people wrote and readers open.

    What is under ``results`` is written by programs. One page there is made of `TEMPLATES`, whose links lead
    from that page.
    """
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return {name: (ROOT / name).read_text() for name in listed.split() if not TEMPLATES.search(name)}


def blocks() -> list[Block]:
    """Every fenced block."""
    return [
        Block(name, token.map[0] + 2, token.info.strip(), token.content)
        for name, text in documents().items()
        for token in MarkdownIt().parse(text)
        if token.type == "fence"
    ]


def programs() -> dict[str, list[Block]]:
    """The blocks in Python of each document, which a reader runs one after the other."""
    result: dict[str, list[Block]] = {}
    for block in blocks():
        if block.language == "python":
            result.setdefault(block.document, []).append(block)
    return result


def commands() -> list[str]:
    """Every command line of the blocks for a shell, once, without its comment."""
    lines = [
        shlex.join(shlex.split(line, comments=True))
        for block in blocks()
        if block.language in SHELL
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    return list(dict.fromkeys(line for line in lines if line))


def inline(program: str) -> list[str]:
    """Every command line of ``program`` that stands in a sentence."""
    return sorted(
        {
            child.content
            for text in documents().values()
            for token in MarkdownIt().enable("table").parse(text)
            for child in token.children or ()
            if child.type == "code_inline" and child.content.startswith(f"{program} ")
        }
    )
