"""MATLAB 5 files, walked before SciPy reads them.

`scipy.io.loadmat` follows the types and counts that a file claims, and a damaged one can take the process
down with it. Here every element is held against the format first ("MAT-File Format", The MathWorks, chapter
1).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from math import prod

__all__ = ["check_mat"]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
LEAVES = {1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18}  # numbers and text
CELLS, STRUCTURE, SPARSE = 1, 2, 5
CLASSES = {CELLS, STRUCTURE, *range(4, 16)}  # not objects and functions
COMPLEX = 0x0800
MOST_NESTED = 20
MOST_UNPACKED = 2**30  # bytes of one variable


def check_mat(content: bytes) -> None:
    """Raise a `ValueError` unless a file is whole and of the MATLAB 5 format.

    Parameters
    ----------
    content : bytes
        The file.
    """
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        raise ValueError("no header of MATLAB 5")
    for kind, data in _elements(memoryview(content)[HEADER:], order):
        if kind == COMPRESSED:
            data = _unpacked(data)
            ((kind, data),) = _counted(data, order, 1)
        if kind != MATRIX:
            raise ValueError(f"a variable of type {kind}")
        _check_matrix(data, order, 0)


def _unpacked(data: memoryview) -> memoryview:
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if not stream.eof:
        raise ValueError("a compressed variable that does not end")
    return memoryview(content)


def _elements(data: memoryview, order: str) -> Iterator[tuple[int, memoryview]]:
    """Type and content of each element, one after the other."""
    start_of_tag = 0
    while start_of_tag < len(data):
        if len(data) - start_of_tag < 8:
            raise ValueError("an element is cut off")
        kind, size = struct.unpack_from(f"{order}2I", data, start_of_tag)
        if kind >> 16:  # at most four bytes, within the tag
            kind, size, start, after = kind & 0xFFFF, kind >> 16, start_of_tag + 4, start_of_tag + 8
        else:
            start = start_of_tag + 8
            after = start + size + (-size % 8 if kind != COMPRESSED else 0)
        if start + size > len(data) or (start == start_of_tag + 4 and size > 4):
            raise ValueError("an element is cut off")
        yield kind, data[start : start + size]
        start_of_tag = after


def _counted(data: memoryview, order: str, count: int | None = None) -> list[tuple[int, memoryview]]:
    """All elements, which have to be so many."""
    elements = list(_elements(data, order))
    if count is not None and len(elements) != count:
        raise ValueError(f"{len(elements)} elements in the place of {count}")
    return elements


def _integers(element: tuple[int, memoryview], order: str, kind: int) -> tuple[int, ...]:
    """The 32-bit integers of an element of type `kind`, 5 (signed) or 6."""
    actual_kind, data = element
    if actual_kind != kind or len(data) % 4:
        raise ValueError(f"an element of type {actual_kind} and {len(data)} bytes in the place of integers")
    return struct.unpack(f"{order}{len(data) // 4}{'i' if kind == 5 else 'I'}", data)


def _check_matrix(data: memoryview, order: str, depth: int) -> None:
    if len(data) == 0:
        return
    if depth > MOST_NESTED:
        raise ValueError(f"arrays nested more than {MOST_NESTED} times")
    parts = _counted(data, order)
    if len(parts) < 3:
        raise ValueError("an array without a size and a name")
    flags, shape = _integers(parts[0], order, 6), _integers(parts[1], order, 5)
    if len(flags) != 2 or flags[0] & 0xFF not in CLASSES:
        raise ValueError(f"an array of the flags {flags[:2]}")
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"an array of the shape {shape[:8]}")
    kind, head, n_parts = flags[0] & 0xFF, 3, 1
    if kind == CELLS:
        n_parts = prod(shape)
    elif kind == STRUCTURE:
        if len(parts) < 5:
            raise ValueError("a structure without names")
        (length,) = _integers(parts[3], order, 5) or (0,)
        if length <= 0 or len(parts[4][1]) % length:
            raise ValueError(f"names of {length} bytes")
        head, n_parts = 5, prod(shape) * (len(parts[4][1]) // length)
    else:
        n_parts = (3 if kind == SPARSE else 1) + bool(flags[0] & COMPLEX)
    if len(parts) != head + n_parts:
        raise ValueError(f"an array of {len(parts)} parts in the place of {head + n_parts}")
    for number, (part_kind, part) in enumerate(parts):
        if number >= head and kind in (CELLS, STRUCTURE):
            if part_kind != MATRIX:
                raise ValueError(f"an element of type {part_kind} in the place of an array")
            _check_matrix(part, order, depth + 1)
        elif part_kind not in LEAVES:
            raise ValueError(f"an element of type {part_kind}")
