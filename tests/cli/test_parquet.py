"""Parquet files, which are read as the CSV file of the same table."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

from svmselect.cli import main
from svmselect.cli.read import read

pytest.importorskip("pyarrow")

FRAME = pd.DataFrame(
    {
        "größe": [0.1, 1 / 3, None, 1e-300, 2.5, 7],
        "city": pd.Categorical(["Oslo", "Rome", None, " Oslo", "Rome", "Rome"]),
        "smokes": [True, False, True, True, False, False],
        "n": pd.array([4, 5, None, 9, 2, 1], dtype="Int64"),
        "state": ["ill", "well", "ill", "well", "ill", "well"],
    }
)


def packed(frame):
    file = io.BytesIO()
    frame.to_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize("options", [{"impute": True}, {"drop_missing": True, "standardise": True}])
def test_as_the_csv_file_of_the_same_table(file, options):
    table, expected = (
        read(file(content, name), **options)
        for content, name in ((packed(FRAME), "rows"), (FRAME.to_csv(index=False), "rows.csv"))
    )
    np.testing.assert_array_equal(table.X, expected.X)
    assert table.labels.tolist() == expected.labels.tolist() and table.doubts == expected.doubts
    assert table.encoding.as_dict() == expected.encoding.as_dict()
    assert table.numbers.tolist() == expected.numbers.tolist()


def test_standard_input(run, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed(FRAME))))
    assert json.loads(run("loo", "-", "--impute", "--json")[1])["rows"] == 6


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        (packed(FRAME)[:200], {}, "not a Parquet file"),
        (b"PAR1", {}, "not a Parquet file"),
        (packed(FRAME[:0]), {}, "no row of data"),
        (packed(FRAME[["n"]]), {}, "found one column"),
        (packed(FRAME), {}, "line 3, column 'größe': the value is missing"),
        (packed(FRAME), {"delimiter": ";"}, "--delimiter is for CSV files, and this one is Parquet"),
        (packed(FRAME), {"header": False}, "--header is for CSV files, and this one is Parquet"),
        (packed(FRAME), {"format": "csv"}, "not a text file in UTF-8"),
        (
            packed(pd.DataFrame({"a": np.zeros(10**5), "y": np.zeros(10**5)})),
            {"max_bytes": 10**5},
            "has more than 100000 bytes, unpacked",
        ),
        (packed(FRAME.assign(city=[[1]] * 6)), {}, "column 'city': a value of type list is neither a number"),
        (packed(FRAME.assign(city=[b"x"] * 6)), {}, "column 'city': a value of type bytes is neither"),
    ],
)
def test_what_is_wrong_is_one_sentence(file, content, options, sentence):
    path = file(content, "rows.parquet")
    with pytest.raises(ValueError, match=sentence) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_without_pyarrow(file, monkeypatch, capsys):
    path = file(packed(FRAME), "rows")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert main(["loo", str(path)]) == 2
    assert "a Parquet file, which needs pyarrow: install it, or write CSV instead" in capsys.readouterr().err
