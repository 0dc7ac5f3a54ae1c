"""Numbers as files and options write them."""

from __future__ import annotations

import re

__all__ = ["DECIMAL_COMMA", "bare_numbers", "is_marked_number", "is_number"]

# Python's float also takes 1_000, digits of other scripts and words
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DECIMAL_COMMA = re.compile(r"[+-]?([0-9]+,[0-9]+|,[0-9]+)([eE][+-]?[0-9]+)?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")
MONEY = "$€£¥"
WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>[{MONEY}]?)\s?(?P<number>-?[0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)?)"
    rf"\s?(?P<after>[%{MONEY}]?)"
)
MARKS = re.compile(rf"[%,{MONEY}]")


def is_number(word: str) -> bool:
    """Whether a word is a number in digits 0 to 9, with a decimal point and an exponent where need be."""
    return NUMBER.fullmatch(word.strip()) is not None


def is_marked_number(word: str) -> bool:
    """Return whether a word may be a number with commas, a sign of money or a per cent sign."""
    return WITH_UNIT.fullmatch(word) is not None


def bare_numbers(words, thousands):
    """Return numbers without a sign of money, a per cent sign and commas.

    Parameters
    ----------
    words : list of str
    thousands : bool
        Whether commas may group thousands; else they are decimal commas only.

    Returns
    -------
    list of str or None
        None unless all words are numbers that are written in one such way.
    """
    if not MARKS.search("".join(words)):
        return None
    matches = [WITH_UNIT.fullmatch(word) for word in words]
    if not all(matches) or len({(match["before"], match["after"]) for match in matches}) > 1:
        return None
    numbers = [match["sign"] + match["number"] for match in matches]
    with_comma = [number for number in numbers if "," in number]
    if with_comma and thousands and all(map(THOUSANDS.fullmatch, with_comma)):
        numbers = [number.replace(",", "") for number in numbers]
    elif with_comma and all(map(DECIMAL_COMMA.fullmatch, with_comma)) and "." not in "".join(numbers):
        numbers = [number.replace(",", ".") for number in numbers]
    return numbers if all(map(is_number, numbers)) else None
