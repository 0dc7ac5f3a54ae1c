"""The content of a user's file: plain or compressed, a file, a pipe or standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import stat
import sys
import zlib
from itertools import islice
from pathlib import Path

__all__ = ["MAX_BYTES", "check_no_foreigner", "check_size", "first_lines", "text_of", "unpacked"]

SAMPLE = 20
# Cells of text take several times the bytes of their file, so more would not fit into most machines.
MAX_BYTES = 2**30
CHUNK = 2**20

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# the first bytes or words of files that are neither a table nor LIBSVM text, and what helps
FOREIGN = {
    rb"PK\x03\x04": "a zip archive or a spreadsheet: unpack it, or save it as CSV",
    rb"\s*(\[\s*)?[{\[]": "JSON: write it as CSV",
    rb"\s*<[!?a-zA-Z]": "HTML or XML: write it as CSV",
    rb"\s*@relation\b": "ARFF of Weka: write it as CSV",
}
# the first bytes of compressed files, none of which is text
MAGIC = {".gz": rb"\x1f\x8b", ".bz2": rb"BZh[1-9]1AY&SY", ".xz": rb"\xfd7zXZ\x00"}


def unpacked(path, max_bytes=MAX_BYTES):
    """Return the bytes of a file, unpacked.

    Parameters
    ----------
    path : str or Path
        A file or a pipe; "-" is standard input. What is compressed with gzip, bzip2 or xz, by the end of its
        name or by its first bytes, is unpacked.
    max_bytes : int
        The most that it may have, packed or not. No more is ever held, however much is packed.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        There is no such file, it has more bytes, or it cannot be read or unpacked.
    """
    raw = _bytes_of(path, max_bytes)
    endings = [ending for ending, magic in MAGIC.items() if re.match(magic, raw)]
    ending = Path(path).suffix if Path(path).suffix in OPENERS else endings[0] if endings else None
    if ending is not None:
        try:
            with OPENERS[ending](io.BytesIO(raw)) as file:
                raw = _limited(file, path, max_bytes)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{path}: cannot be unpacked ({' '.join(str(error).split())})") from None
    return raw


def check_no_foreigner(path, raw):
    """Raise a ValueError if the beginning of a file's bytes is that of a format that is not read."""
    for beginning, kind in FOREIGN.items():
        if re.match(beginning, raw.removeprefix(b"\xef\xbb\xbf"), flags=re.IGNORECASE):
            raise ValueError(f"{path}: looks like {kind}")


def text_of(path, raw):
    """The text of a file's bytes, without the byte order mark and with line ends as they are; a ValueError
    unless it is UTF-8."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ValueError(f"{path}: not a text file in UTF-8")
    return text


def check_size(path, n_bytes, max_bytes):
    """Raise a ValueError if a file has more bytes, unpacked, than are allowed."""
    if n_bytes > max_bytes:
        raise ValueError(
            f"{path}: has more than {max_bytes} bytes, unpacked; --max-bytes allows more where the memory is "
            "there"
        )


def _limited(file, path, max_bytes):
    """Return what a binary file holds, without reading much more than is allowed."""
    parts, size = [], 0
    while part := file.read(CHUNK):
        size += len(part)
        check_size(path, size, max_bytes)
        parts.append(part)
    return b"".join(parts)


def _bytes_of(path, max_bytes):
    if str(path) == "-":
        return _limited(sys.stdin.buffer, path, max_bytes)
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) or stat.S_ISFIFO(mode):
            with path.open("rb") as file:
                return _limited(file, path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror or error})") from None
    raise ValueError(f"{path}: is a {'folder' if stat.S_ISDIR(mode) else 'device'}, not a file")


def first_lines(text):
    """The first lines of a text that are not blank, from which its format is told."""
    # an end of a line is CR or LF, and no other character that Unicode calls so
    lines = io.StringIO(text, newline="")
    return list(islice((line for line in lines if line.strip()), SAMPLE))
