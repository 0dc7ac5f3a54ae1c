"""Tables that are read, and others that are refused in one sentence by row, column and value."""

import gzip
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from svmselect.cli import COMMANDS
from svmselect.cli.arguments import parser
from svmselect.cli.columns import load
from svmselect.cli.read import MISSING

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=Y)


def loaded(path, *words):
    return load(parser(COMMANDS).parse_args(["loo", str(path), *words]))


def refusal(path, *words):
    with pytest.raises(ValueError) as error:
        loaded(path, *words)
    text = str(error.value)
    assert text.startswith(str(path)) and "\n" not in text
    return text.removeprefix(str(path))


@settings(max_examples=40, deadline=None)
@given(
    cells=st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False),
            st.integers(-(2**53), 2**53),
            st.sampled_from(["Oslo", "New York, NY", 'the "Hague"']),
            st.sampled_from(["ill", "well"]),
        ),
        min_size=2,
        max_size=20,
    ).filter(lambda rows: len({row[-1] for row in rows}) == 2),
    mark=st.sampled_from(",;\t"),
)
def test_a_clean_table_is_read_to_the_last_bit(tmp_path_factory, cells, mark):
    frame = pd.DataFrame(cells, columns=["x", "n", "city", "label"])
    path = tmp_path_factory.mktemp("clean") / "rows.csv"
    frame.to_csv(path, sep=mark, index=False)
    data = loaded(path)
    np.testing.assert_array_equal(data.frame[["x", "n"]].to_numpy(float), frame[["x", "n"]].to_numpy(float))
    assert data.frame["city"].tolist() == frame["city"].tolist()
    assert data.y.tolist() == frame["label"].tolist()


def test_other_formats_hold_the_same_rows(tmp_path):
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    FRAME.to_parquet(tmp_path / "rows.parquet")
    FRAME.to_csv(tmp_path / "rows.xz", index=False)
    attributes = "".join(f"@attribute {name} numeric\n" for name in "abc")
    body = FRAME.to_csv(index=False, header=False)
    for name, head in {"rows.arff": "% by me\n", "bom.arff": "\ufeff% by me\n\n"}.items():
        text = f"{head}@RELATION rows\n{attributes}@ATTRIBUTE label {{0,1}}\n@data\n{body}"
        (tmp_path / name).write_text(text, encoding="utf-8")
    for path in tmp_path.iterdir():
        data = loaded(path)
        np.testing.assert_array_equal(data.X, X, err_msg=path.name)
        assert data.y.tolist() == Y.tolist() and data.label == "column 'label'"


def test_libsvm_text_stays_sparse(tmp_path):
    rows = np.where(RNG.random(X.shape) < 0.5, 0, X)
    dump_svmlight_file(rows, Y, str(tmp_path / "rows"), zero_based=False)
    data = loaded(tmp_path / "rows", "--standardise")
    assert data.X.format == "csr" and data.X.shape[0] == 30
    np.testing.assert_allclose(data.X.toarray(), rows / rows.std(axis=0))


def test_names_or_places_say_which_column_is_the_label(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME[["label", "c", "a"]].to_csv(path, index=False)
    assert loaded(path).label == "column 'label'" and list(loaded(path).frame) == ["c", "a"]
    FRAME[["label", "c", "a"]].to_csv(path, index=False, header=False)
    assert loaded(path, "--label", "1").y.tolist() == Y.tolist()
    assert list(loaded(path, "--label", "-3").frame) == [0, 1]
    assert "no column 'x'" in refusal(path, "--label", "x")


PLAIN = "age,dose,label\n1,0.5,0\n2,1.5,1\n4,2.5,0\n7,1.5,1\n"
# a change of the table, and what the sentence names
REFUSED = {
    "a longer row": (("2,1.5,1", "2,1.5,1,9"), ("line 3", "4 cells")),
    "a shorter row": (("2,1.5,1", "2,1.5"), ("line 3", "2 cells")),
    "a name twice": (("dose", "age"), ("columns 1 and 2", "'age'")),
    "no name": (("age", ""), ("column 1", "--ignore 1")),
    "None": (("2.5", "None"), ("line 4", "'dose'", "missing", "--impute")),
    "NA": (("2.5", "NA"), ("line 4", "'dose'", "missing", "--drop-missing")),
    "an empty cell": (("2.5", ""), ("line 4", "'dose'", "1 of 4 rows")),
    "an empty label": (("2.5,0", "2.5,"), ("line 4", "'label'", "--drop-missing")),
    "a large integer": (("2,1.5", "9007199254740993,1.5"), ("line 3", "'age'", "9007199254740993", "2^53")),
    "a very large integer": (("2,1.5", f"{10**30 + 1},1.5"), ("line 3", "'age'", str(10**30 + 1))),
    "a large integer among fractions": (
        ("1.5,1", "9007199254740993,1", 1),
        ("line 3", "'dose'", "9007199254740993"),
    ),
    "a decimal comma": (("2.5", '"2,5"'), ("line 4", "'dose'", "'2,5'", "decimal=','")),
    "thousands": (("2.5", '"1,234"'), ("line 4", "'dose'", "'1,234'", "thousands=','")),
    "blanks between thousands": (("2.5", "12 345"), ("line 4", "'dose'", "'12 345'")),
    "money": (("2.5", "$3"), ("line 4", "'dose'", "'$3'")),
    "euros": (("2.5", "3 €"), ("line 4", "'dose'", "'3 €'")),
    "per cent": (("2.5", "5 %"), ("line 4", "'dose'", "'5 %'")),
    "quotes": (("2.5", "'2.5'"), ("line 4", "'dose'", "2.5")),
    "underscores": (("2.5", "1_000"), ("line 4", "'dose'", "'1_000'")),
    "a word among numbers": (("2.5", "high"), ("line 4", "'dose'", "'high'", "--categorical 2")),
    "an infinite number": (("2.5", "inf"), ("line 4", "'dose'", "not finite")),
    "beyond float64": (("2.5", "1e400"), ("line 4", "'dose'", "not finite")),
    "a number as a name": (("dose", "1"), ("line 1", "'age'", "--header")),
    "a quote that is not closed": (("4,", '"4,'), ("line 4",)),
    "Latin-1": (("age", "größe"), ("UTF-8",)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_clean_is_refused_by_row_column_and_value(name, file):
    (old, new, *count), said = REFUSED[name]
    text = PLAIN.replace(old, new, *count)
    sentence = refusal(file(text.encode("latin-1" if name == "Latin-1" else "utf-8")))
    assert all(word in sentence for word in said)


@pytest.mark.parametrize(
    "cell", ["1,5", "$3", "5 %", "1,234", "12 345", "(1,234)", "'7'", "1.234,5", "€ 1.5"]
)
def test_numbers_in_another_dress_are_never_categories(cell, file):
    rows = "".join(f'"{cell}",{n},{n % 2}\n' for n in range(9))
    sentence = refusal(file(f"price,n,label\n{rows}"))
    assert "line 2" in sentence and "'price'" in sentence and "another dress" in sentence
    assert loaded(file(f"price,n,label\n{rows}"), "--categorical", "price").X.shape == (9, 2)


def test_rows_all_longer_than_the_names_make_no_index(file):
    sentence = refusal(file("age,label\n" + "".join(f"{n},{n / 2},{n % 2}\n" for n in range(9))))
    assert "line 2" in sentence and "3 cells" in sentence


def test_a_longer_row_and_a_shorter_one_are_two_faults(file):
    assert "line 2" in refusal(file("a,b,label\n1,2,0,7\n1,1\n3,4,1\n"))
    assert "line 3" in refusal(file("a,b,label\n1,2,0\n1,1\n3,4,1,9\n"))


def test_lines_are_counted_past_blank_ones_and_quoted_ends(file):
    sentence = refusal(file('a,b,label\n\n1,"x\ny",0\n\n2,x,1\n,x,1\n'))
    assert "line 7" in sentence and "'a'" in sentence


@pytest.mark.parametrize("word", sorted({"", "?", "NA", "n/a", "NaN", "null", "None"}))
def test_missing_values_are_imputed_or_dropped(word, file):
    assert word in MISSING
    path = file(PLAIN.replace("2.5", word).replace("\n", "\n") + "8,3.5,1\n")
    data = loaded(path, "--drop-missing")
    assert data.dropped == 1 and data.numbers.tolist() == [1, 2, 4, 5]
    assert loaded(path, "--impute").X[:, 1].tolist() == [0.5, 1.5, 1.5, 1.5, 3.5]


def test_a_column_that_is_parsed_in_parts_is_read_as_a_whole(file):
    body = "".join(f"{n},{n % 7},{n % 2}\n" for n in range(300_000))
    sentence = refusal(file(f"a,b,label\n{body}x,1,0\n"))
    assert "line 300002" in sentence and "'x'" in sentence


def test_dates_with_a_time_are_a_table(file):
    rows = "".join(f"2014-04-01 0{n % 3}:00:00,{n / 7},{n % 5}\n" for n in range(20))
    for text in (f"when,a,b\n{rows}", rows, f"when;a;b\n{rows}".replace(",", ";")):
        assert loaded(file(text), "--task", "one-class").frame.shape == (20, 3)


@pytest.mark.parametrize(
    ("labels", "task"),
    [
        (range(10), "regression"),
        ([v / 2 for v in range(10)], "regression"),
        ([n // 2 for n in range(442)], "regression"),
        ([n % 26 for n in range(2000)], "classification"),
        ([n % 3 for n in range(6)], "classification"),
        ([0.5, 1.5] * 4, "classification"),
        (["a", "b"] * 4, "classification"),
    ],
    ids=repr,
)
def test_the_task_is_told_from_the_label(labels, task, file):
    rows = "".join(f"{n * 0.37 % 1},{label}\n" for n, label in enumerate(labels))
    data = loaded(file(f"size,target\n{rows}"))
    assert data.task == task
    assert any("--task" in doubt for doubt in data.doubts) == (task == "regression")
    if task == "regression":  # where the label is guessed from its place, it has to be named
        sentence = refusal(file(f"size,price\n{rows}"))
        assert "'price'" in sentence and "--task regression" in sentence and "--label" in sentence
        assert loaded(file(f"size,price\n{rows}"), "--label", "price").task == "regression"


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(b"," * 20_000_000, mtime=0),
        gzip.compress(b"1," * 400_000 + b"1\n" + b"2," * 400_000 + b"2\n", mtime=0),
        b"," * 900_000 + b"\n",
    ],
    ids=["gz", "gz of two rows", "a line of delimiters"],
)
def test_a_bomb_is_refused_within_its_limit(content, file):
    """Of a small file that pandas would make gigabytes of, in a process of its own."""
    path = file(content, "bomb.csv.gz" if content[:2] == b"\x1f\x8b" else "bomb.csv")
    program = (
        "import sys, resource, pandas, sklearn.pipeline; from svmselect.cli import main\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "status = main(['loo', sys.argv[1], '--max-bytes', str(2**28)])\n"
        "print(status, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    status, kilobytes = map(int, done.stdout.split())
    assert status == 2 and "--max-bytes" in done.stderr
    assert kilobytes < 2**28 / 1024


@pytest.mark.parametrize("words", [(), ("--max-bytes", "100")])
def test_standard_input_and_pipes_are_read_like_files(words, monkeypatch, run):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FRAME.to_csv(index=False).encode())))
    status, out, err = run("loo", "-", "--json", *words)
    assert status == (2 if words else 0)
    assert "100 bytes" in err if words else json.loads(out)["rows"] == 30


@pytest.mark.parametrize("path", ["nothing.csv", ".", "/dev/null"])
def test_what_is_no_file_is_named(path):
    with pytest.raises(ValueError, match=path):
        loaded(path)


@pytest.mark.parametrize(
    ("column", "value"), [("a", pd.Timestamp("2026-01-01")), ("a", [1, 2]), ("b", b"bytes")], ids=str
)
def test_a_parquet_column_of_another_kind_is_named(column, value, tmp_path):
    path = tmp_path / "rows.parquet"
    FRAME.assign(**{column: [value] * 30}).to_parquet(path)
    assert f"'{column}'" in refusal(path)


def test_memory_of_a_read_table_is_a_few_times_the_file(tmp_path):
    path = tmp_path / "big.csv"
    pd.DataFrame(RNG.normal(size=(20_000, 20))).assign(label=np.arange(20_000) % 2).to_csv(
        path, index=False, header=[*"abcdefghijklmnopqrst", "label"]
    )
    program = (
        "import sys, resource, io, pandas, sklearn.pipeline, scipy.sparse\n"
        "from svmselect.cli import COMMANDS; from svmselect.cli.arguments import parser\n"
        "from svmselect.cli.columns import load\n"
        "pandas.read_csv(io.StringIO('a,b\\n1,2'))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "load(parser(COMMANDS).parse_args(['loo', sys.argv[1]])).X\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 4 * path.stat().st_size
