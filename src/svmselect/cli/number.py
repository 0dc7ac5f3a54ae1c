"""What counts as a number in a file or an option."""

from __future__ import annotations

import re

__all__ = ["DECIMAL_COMMA", "is_number"]

# Python's float also takes 1_000, digits of other scripts and words
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+,[0-9]+|,[0-9]+)([eE][+-]?[0-9]+)?")


def is_number(word: str) -> bool:
    """Whether a word is a number in digits 0 to 9, with a decimal point and an exponent where need be."""
    return NUMBER.fullmatch(word.strip()) is not None
