"""Files as strangers write them, what the command does with each, and a table of it: strangers.py TABLE.

The files are variants of a small table and of LIBSVM text that this program makes, and the files of the data
sets' mirror, which SVMSELECT_MIRROR names. The table is docs/strangers.csv.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import sys
import tempfile
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svmselect.cli import COMMANDS, main
from svmselect.cli.arguments import parser
from svmselect.cli.columns import load

MOST = 160  # characters of a sentence in the table
SAME, REMARK, REFUSED = "same numbers", "remark", "refused"
COLUMNS = ("file", "what it did", "what it said")
# results that are those of the rows, and not of how a file has them
RESULTS = ("rows", "features", "classes", "loo_error", "misclassified_rows", "support_vectors")

RNG = np.random.default_rng(8)
M = 40
LABELS = np.arange(M) % 2
VALUES = (RNG.normal(size=(M, 3)) + LABELS[:, None]).round(3)
COUNTS = RNG.integers(1, 6, size=(M, 3)) + LABELS[:, None]  # as a questionnaire has them
WORDS = np.array(["ill", "well"])[LABELS]
NAMES = ["age", "dose", "weight", "state"]
ARFF = """% from a clinic
@RELATION rows
@attribute age numeric
@attribute dose REAL
@attribute weight numeric
@attribute state {ill,well}
@data
"""


@dataclass(frozen=True)
class Stranger:
    """A file and what the command has to do with it.

    Attributes
    ----------
    name : str
        What distinguishes it, for people.
    content : bytes
    outcome : {"same numbers", "remark", "refused"}
        Results as those of the plain file of its family and no remark; a remark; or one sentence.
    says : tuple of str
        What the remarks or the sentence name.
    words : tuple of str
        Options.
    same : bool
        Whether the results are those of the plain file beside a remark, too.
    family : {"table", "libsvm"}
    """

    name: str
    content: bytes
    outcome: str = SAME
    says: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    same: bool = True
    family: str = "table"


def text_of(columns, names=NAMES, mark=",", end="\n"):
    """Return a table of columns of words or numbers as text."""
    rows = [mark.join(map(str, row)) for row in zip(*columns, strict=True)]
    return end.join([*([mark.join(names)] if names else []), *rows, ""])


def plain(values=VALUES, labels=WORDS):
    """Return the columns of the plain table."""
    return [*np.asarray(values).T.tolist(), list(labels)]


def changed(n, row, word):
    """Return the columns of the plain table with another word in row `row` of column n."""
    columns = [[*map(str, column)] for column in plain()]
    columns[n][row] = word
    return columns


def tables():
    """Return the variants of a table with a header, three features and a label."""
    base = text_of(plain())
    ids = np.random.default_rng(1).integers(10**7, 10**8, M).tolist()
    dates = [f"2026-{1 + n % 12:02}-{1 + n % 28:02}" for n in range(M)]
    price = [f'"{1000 + 37 * n:,}"' for n in range(M)]
    coded = VALUES.copy()
    coded[[3, 9], 1] = -999
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("rows.csv", base)

    def with_column(column, name, place=0):
        columns, names = plain(), [*NAMES]
        columns.insert(place, column)
        names.insert(place, name)
        return text_of(columns, names).encode()

    records = [dict(zip(NAMES, row, strict=True)) for row in zip(*plain(), strict=True)]
    return [
        Stranger("a table as it should be", base.encode()),
        # forms that change no value
        *(Stranger(name, content) for name, content in clothes(base, ",").items()),
        Stranger("one space", base.replace(",", " ").encode()),
        Stranger("columns of spaces", base.replace(",", "    ").replace("\n", "\n   ").encode()),
        Stranger("bars", base.replace(",", "|").encode(), REFUSED, ("--delimiter",)),
        Stranger("bars, with --delimiter", base.replace(",", "|").encode(), words=("--delimiter", "|")),
        Stranger("a comma at the end of each row", base.replace("\n", ",\n").encode(), REFUSED, ("column",)),
        Stranger("Excel's line sep=;", ("sep=;\n" + base.replace(",", ";")).encode(), REFUSED, ("line 2",)),
        # quotes and ends of lines
        Stranger(
            "quotes around names and words", base.replace("ill", '"ill"').replace("age", '"age"').encode()
        ),
        Stranger(
            "single quotes around all cells",
            "'{}'\n".format(base.strip().replace(",", "','").replace("\n", "'\n'")).encode(),
            REFUSED,
            ("line 2", "\"'age'\"", "--ignore"),
        ),
        Stranger(
            "a quote that is not closed",
            base.replace("ill", '"ill', 1).encode(),
            REFUSED,
            ("line 2", "quote"),
        ),
        # encodings and packings
        Stranger("UTF-16", base.encode("utf-16"), REFUSED, ("UTF-8",)),
        Stranger("Latin-1 beyond ASCII", base.replace("age", "größe").encode("latin-1"), REFUSED, ("UTF-8",)),
        Stranger("zip", archive.getvalue(), REFUSED, ("zip",)),
        Stranger(
            "gzip of 10 MB, with --max-bytes 1000000",
            gzip.compress(bytes(10**7), mtime=0),
            REFUSED,
            ("1000000 bytes", "--max-bytes"),
            ("--max-bytes", "1000000"),
        ),
        # headers
        Stranger("no header", text_of(plain(), None).encode()),
        Stranger(
            "numbers as names, as pandas writes them",
            text_of(plain(), ["0", "1", "2", "state"]).encode(),
            REFUSED,
            ("line 1", "--header"),
        ),
        Stranger(
            "an index without a name, as pandas writes it",
            with_column(range(M), ""),
            REFUSED,
            ("column 1 has no name", "--ignore 1"),
        ),
        Stranger(
            "names one short of the columns, as R writes them",
            text_of([range(1, M + 1), *plain()], NAMES).encode(),
            REFUSED,
            ("line 2", "5 cells", "4"),
        ),
        Stranger(
            "two columns of one name",
            text_of(plain(), ["a", "a", "b", "state"]).encode(),
            REFUSED,
            ("columns 1 and 2", "'a'"),
        ),
        Stranger(
            "no number in any cell",
            text_of([WORDS[::-1], WORDS], ["a", "b"]).encode(),
            REMARK,
            ("words in column 'a'",),
            same=False,
        ),
        Stranger("a comment in the first line", ("# from a clinic\n" + base).encode(), REFUSED, ("line 2",)),
        # labels
        Stranger(
            "the label first, called class", text_of([WORDS, *plain()[:3]], ["class", *NAMES[:3]]).encode()
        ),
        Stranger(
            "the label first, with --label 1",
            text_of([WORDS, *plain()[:3]], None).encode(),
            words=("--label", "1"),
        ),
        Stranger(
            "the label first, and fractions last",
            text_of([WORDS, *plain()[:3]], None).encode(),
            REFUSED,
            ("--task regression", "--label"),
        ),
        Stranger(
            "the label first, and counts last",
            text_of([LABELS, *COUNTS.T.tolist()], None).encode(),
            REMARK,
            ("taken for the label", "--label"),
            same=False,
        ),
        Stranger(
            "labels that differ by case",
            text_of(plain(labels=np.where(np.arange(M) % 4 == 0, "Ill", WORDS))).encode(),
            REMARK,
            ("'Ill' and 'ill'",),
            same=False,
        ),
        Stranger(
            "labels 0 and 00",
            text_of(plain(labels=np.where(np.arange(M) % 4 == 0, "00", LABELS))).encode(),
            REMARK,
            ("'0' and '00'",),
            same=False,
        ),
        Stranger(
            "a label that is missing",
            text_of(changed(3, 5, "")).encode(),
            REFUSED,
            ("line 7", "'state'", "--drop-missing"),
        ),
        Stranger(
            "a label called NA",
            text_of(plain(labels=np.where(LABELS, "NA", "ill"))).encode(),
            REMARK,
            ("'NA'",),
            same=False,
        ),
        Stranger(
            "numbers to predict",
            text_of(plain(labels=VALUES[:, 0] * 3)).encode(),
            REFUSED,
            ("--task regression", "'state'"),
        ),
        Stranger("one class", text_of(plain(labels=["ill"] * M)).encode(), REFUSED, ("one class only",)),
        # missing values
        *(
            Stranger(
                f"a missing value, {word or 'an empty cell'}",
                text_of(changed(1, 4, word)).encode(),
                REFUSED,
                ("line 6", "'dose'", "--impute"),
            )
            for word in ("", "?", "NA", "NaN", "null")
        ),
        Stranger(
            "-999 for missing values", text_of(plain(coded)).encode(), REMARK, ("--standardise",), same=False
        ),
        Stranger(
            "a value beyond measure, <0.1",
            text_of(changed(1, 4, "<0.1")).encode(),
            REFUSED,
            ("line 6", "'<0.1'"),
        ),
        Stranger(
            "a value with its unit, 2 cm",
            text_of(changed(1, 4, "2 cm")).encode(),
            REFUSED,
            ("line 6", "'2 cm'"),
        ),
        Stranger(
            "an infinite value", text_of(changed(1, 4, "inf")).encode(), REFUSED, ("line 6", "not finite")
        ),
        # numbers
        Stranger(
            "decimal commas between semicolons",
            base.replace(",", ";").replace(".", ",").encode(),
            REFUSED,
            ("line 2", "'age'", "decimal=','"),
        ),
        Stranger(
            "decimal commas in quotes",
            text_of(
                [[f'"{v}"'.replace(".", ",") for v in column] for column in plain()[:3]] + [list(WORDS)]
            ).encode(),
            REFUSED,
            ("line 2", "'age'", "another dress"),
        ),
        Stranger(
            "commas of thousands in quotes",
            with_column(price, "price"),
            REFUSED,
            ("line 2", "'price'", "thousands=','"),
        ),
        Stranger(
            "a sign of money",
            text_of([[f"${v}" for v in plain()[0]], *plain()[1:]]).encode(),
            REFUSED,
            ("line 2", "'age'", "another dress"),
        ),
        Stranger(
            "a per cent sign",
            text_of([[f"{v}%" for v in plain()[0]], *plain()[1:]]).encode(),
            REFUSED,
            ("line 2", "'age'", "another dress"),
        ),
        Stranger(
            "exponents",
            text_of(
                [[f"{v * 1000:.0f}e-3" for v in column] for column in plain()[:3]] + [list(WORDS)]
            ).encode(),
        ),
        Stranger(
            "numbers as 1_000",
            text_of(changed(1, 4, "1_000")).encode(),
            REFUSED,
            ("line 6", "'1_000'", "another dress"),
        ),
        # ids and dates
        Stranger(
            "a column called id",
            with_column([v % 7 / 4 for v in ids], "id"),
            REMARK,
            ("'id'", "--ignore"),
            same=False,
        ),
        Stranger(
            "a column called User ID",
            with_column(ids, "User ID"),
            REMARK,
            ("'User ID'", "--ignore"),
            same=False,
        ),
        Stranger(
            "a column called User ID, with --ignore",
            with_column(ids, "User ID"),
            words=("--ignore", "User ID"),
        ),
        Stranger(
            "a number of 8 digits in each row",
            with_column(ids, "code"),
            REMARK,
            ("'code'", "--ignore"),
            same=False,
        ),
        Stranger("row numbers", with_column(range(1, M + 1), "nr"), REMARK, ("'nr'", "--ignore"), same=False),
        Stranger(
            "names of persons",
            with_column([f"Mr {chr(65 + n % 26)} {n}" for n in range(M)], "name"),
            REMARK,
            ("'name'", "--ignore"),
            same=False,
        ),
        Stranger("dates", with_column(dates, "day"), REMARK, ("'day'", "words"), same=False),
        Stranger(
            "categories that differ by case",
            with_column(np.array(["Oslo", "oslo", "Rome"])[np.arange(M) % 3], "city"),
            REMARK,
            ("'city'", "3 values"),
            same=False,
        ),
        # other formats
        Stranger("JSON", json.dumps(records).encode(), REFUSED, ("JSON",)),
        Stranger(
            "JSON, a record in each line", "\n".join(map(json.dumps, records)).encode(), REFUSED, ("JSON",)
        ),
        Stranger("ARFF of Weka", (ARFF + text_of(plain(), None)).encode()),
        Stranger("ARFF, cut off", (ARFF + "1,2").encode(), REFUSED, ("ARFF",)),
        # what pandas does in silence
        Stranger(
            "a row that is longer", base.replace("ill", "ill,1", 1).encode(), REFUSED, ("line 2", "5 cells")
        ),
        Stranger(
            "a row that is shorter", base.replace(",ill", "", 1).encode(), REFUSED, ("line 2", "3 cells")
        ),
        Stranger(
            "a whole number above 2^53",
            text_of(changed(1, 4, 2**53 + 1)).encode(),
            REFUSED,
            ("line 6", "'dose'", str(2**53 + 1)),
        ),
        Stranger(
            "blanks between thousands",
            with_column([f"12 {n}" for n in range(100, 100 + M)], "n"),
            REFUSED,
            ("line 2", "'12 100'"),
        ),
        Stranger(
            "dates with a time",
            with_column([f"2026-11-{1 + n % 9:02} 10:00:00" for n in range(M)], "t"),
            REMARK,
            ("'t'", "words"),
            same=False,
        ),
        Stranger("HTML", b"<html><body><table><tr><td>1</td></tr></table></body></html>", REFUSED, ("HTML",)),
        Stranger("an empty file", b"", REFUSED, ("empty",)),
    ]


def libsvm_texts():
    """Return the variants of LIBSVM text with two labels and three features."""

    def lines(first=1, label="{}", mark=" ", values=VALUES):
        for row, y in zip(values.tolist(), LABELS, strict=True):
            pairs = [f"{j}:{v}" for j, v in enumerate(row, first) if v]
            yield mark.join([label.format(y), *pairs])

    def text(**options):
        return "\n".join([*lines(**options), ""])

    def stranger(name, content, *arguments, **more):
        return Stranger(f"LIBSVM text, {name}", content.encode(), *arguments, **more, family="libsvm")

    def rows_without(name, zero):
        content = f"0{zero}\n1{zero}\n" * 30 + base
        return Stranger(f"LIBSVM text, {name}", content.encode(), family="empty rows")

    base, zero = text(), text(first=0)
    return [
        stranger("as it should be", base),
        stranger("features from 0, as scikit-learn writes them", zero, REFUSED, ("line 1", "--zero-based")),
        stranger("features from 0, with --zero-based", zero, words=("--zero-based",)),
        stranger("Windows line ends", base.replace("\n", "\r\n")),
        stranger("no line end at the end", base.rstrip()),
        stranger("comments", "# a comment\n" + base.replace("\n", " # a comment\n")),
        stranger("a byte order mark", "\ufeff" + base),
        stranger("+ before labels and qid", base.replace("\n1 ", "\n+1 qid:1 ")),
        stranger("tabs", base.replace(" ", "\t")),
        stranger("several labels", text(label="{},2"), REFUSED, ("line 1", "'0,2'")),
        stranger("weights of rows", text(label="{}:2"), REFUSED, ("line 1", "'0:2'")),
        stranger("a colon after the label", text(label="{}:"), REFUSED, ("line 1", "'0:'")),
        stranger("commas", text(mark=","), REFUSED, ("line 1", "nearly a pair")),
        stranger("semicolons", text(mark=";"), REFUSED, ("line 1", "nearly a pair")),
        stranger("words as labels", text(label="c{}"), REFUSED, ("line 1", "'c0'")),
        stranger(
            "features that do not increase", base.replace("1:", "9:", 1), REFUSED, ("line 1", "increase")
        ),
        stranger("a feature twice", base.replace("2:", "1:", 1), REFUSED, ("line 1", "increase")),
        stranger("a feature -1", base.replace(" 1:", " -1:", 1), REFUSED, ("line 1", "got -1")),
        stranger("nan", base.replace(f"1:{VALUES[0, 0]}", "1:nan", 1), REFUSED, ("row 1", "not finite")),
        stranger("no value", base.replace(f"1:{VALUES[0, 0]}", "1:", 1), REFUSED, ("line 1", "'1:'")),
        rows_without("rows without a feature, written as 1:0", " 1:0"),
        rows_without("60 rows without a feature first", ""),
        stranger("names of features", base.replace(" 1:", " age:"), REFUSED, ("line 1", "'age:-1.738'")),
    ]


def clothes(text, mark):
    """Return a table without quotes in forms that change no value, by name; `mark` separates its columns."""
    rows = [line.split(mark) for line in text.split("\n")]

    def joined(mark, end="\n", quote=""):
        return end.join(
            mark.join(f"{quote}{cell}{quote}" for cell in row) if row != [""] else "" for row in rows
        )

    plain_text = joined(",")
    return {
        "commas": plain_text.encode(),
        "semicolons": joined(";").encode(),
        "tabs": joined("\t").encode(),
        "quotes around all cells": joined(",", quote='"').encode(),
        "a comma and a space": joined(", ").encode(),
        "Windows line ends": joined(",", "\r\n").encode(),
        "old line ends": joined(",", "\r").encode(),
        "no line end at the end": plain_text.rstrip("\n").encode(),
        "blank lines": joined(",", "\n\n").encode(),
        "a byte order mark": plain_text.encode("utf-8-sig"),
        "gzip": gzip.compress(plain_text.encode(), mtime=0),
        "bzip2": bz2.compress(plain_text.encode()),
        "xz": lzma.compress(plain_text.encode()),
    }


def mirror_files(folder):
    """Return the text files of the mirror that are small enough for a test."""
    paths = sorted(path for path in Path(folder).glob("*/*") if path.stat().st_size < 200_000)
    return [path for path in paths if path.suffix not in (".json", ".mat", ".asc") or path.stem == "data"]


def mirror_rows(folder):
    """Return the rows of the table for the files of the mirror: how each is read, or why it is not."""
    rows = []
    for path in mirror_files(folder):
        name = path.relative_to(folder).as_posix()
        arguments = parser(COMMANDS).parse_args(["loo", str(path), "--standardise"])
        try:
            with redirect_stderr(io.StringIO()):
                data = load(arguments)
        except ValueError as error:
            rows.append((name, REFUSED, str(error).replace(str(path), "FILE")))
        else:
            m, d = data.frame.shape
            labels = (
                "numbers to predict" if data.task == "regression" else f"{np.unique(data.y).size} classes"
            )
            said = "; ".join([f"label: {data.label}", *data.doubts]).replace(str(path), "FILE")
            rows.append((name, f"{m} rows, {d} features, {labels}", said))
    return rows


def call(*words):
    """Return the status, the output and the remarks of a command."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main([*map(str, words)])
        except SystemExit as end:
            status = end.code
    sentences = [line.removeprefix("svmselect: ") for line in err.getvalue().splitlines()]
    return status, out.getvalue(), sentences


def results_of(out):
    """Return the results that do not depend on how a file has the rows."""
    said = json.loads(out)
    return {key: said[key] for key in RESULTS}


def tried(stranger, base):
    """Return a row of the table: what the command does with a file; `base` is the plain file's result."""
    Path("FILE").write_bytes(stranger.content)
    status, out, sentences = call("loo", "FILE", "--json", "--quiet", *stranger.words)
    if status:
        return stranger.name, REFUSED, " ".join(sentences).removeprefix("error: ")
    same = results_of(out) == base
    outcome = SAME if same else "other numbers"
    return stranger.name, f"{outcome}, {REMARK}" if sentences else outcome, "; ".join(sentences)


def table(strangers):
    """Return the rows of the table for files, in the working directory."""
    base = {}
    rows = []
    for stranger in strangers:
        if stranger.family not in base:
            Path("FILE").write_bytes(stranger.content)
            base[stranger.family] = results_of(call("loo", "FILE", "--json", "--quiet")[1])
        rows.append(tried(stranger, base[stranger.family]))
    return rows


def shortened(rows):
    """Return rows of the table as they are printed: with the beginning of a long sentence."""
    return [(*row[:2], row[2] if len(row[2]) <= MOST else f"{row[2][:MOST]} ...") for row in rows]


def main_program(path):
    """Write the table."""
    path, mirror = Path(path).resolve(), os.environ.get("SVMSELECT_MIRROR")
    if not mirror or not Path(mirror).is_dir():
        sys.exit(
            "SVMSELECT_MIRROR must name the folder of the data sets' mirror, whose files are in the table"
        )
    mirror = Path(mirror).resolve()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = table([*tables(), *libsvm_texts()])
        os.chdir("/")
    rows += mirror_rows(mirror)
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *shortened(rows)])


if __name__ == "__main__":
    main_program(sys.argv[1])
