"""From cells to numbers: categories, missing values and scales, learned from rows and applied to others."""

import json

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from svmselect.cli.encoding import Encoding
from svmselect.cli.read import read, read_rows

HEADER = "größe,city,code,state\n"
ROWS = "1.5,Oslo,1,ill\n2.5,Rome,2,well\n?,Oslo,1,ill\n3.75,,3,well\n2,Bonn,2,ill\n9,Rome,2,well\n"
CATEGORICAL = {"categorical": ["city", "code"], "impute": True}


def drawn(seed, m):
    """A table of numbers and words with missing values, and the same as an array of objects."""
    rng = np.random.default_rng(seed)
    cells = np.empty((m, 4), dtype=object)
    cells[:, 0], cells[:, 2] = rng.normal(size=m), rng.integers(5, size=m).astype(float)
    cells[:, 1], cells[:, 3] = rng.choice(["a", "b, c", "d", "ü"], m), rng.choice(["x", "y"], m)
    missing = rng.random((m, 4)) < 0.15
    cells[missing & [True, False, True, False]] = np.nan
    cells[missing & [False, True, False, True]] = None
    words = [["" if v is None or v != v else f'"{v}"' for v in row] for row in cells]
    labels = np.where(np.arange(m) % 2, "p", "q")
    lines = [",".join([*row, label]) for row, label in zip(words, labels, strict=True)]
    return "a,b,c,d,label\n" + "\n".join(lines) + "\n", cells


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_encodes(file, seed):
    """Learned from the first 40 rows and applied to 20 others."""
    text, cells = drawn(seed, 60)
    lines = text.splitlines(keepends=True)
    table = read(file("".join(lines[:41])), impute=True)
    reference = make_column_transformer(
        (SimpleImputer(strategy="median"), [0]),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent", missing_values=None),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            ),
            [1],
        ),
        (SimpleImputer(strategy="median"), [2]),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent", missing_values=None),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            ),
            [3],
        ),
    )
    np.testing.assert_array_equal(table.X, reference.fit_transform(cells[:40]))
    rows = read_rows(file(lines[0] + "".join(lines[41:]), "new.csv"), table.encoding)
    np.testing.assert_array_equal(rows.X, reference.transform(cells[40:]))


def test_every_way_of_encoding_goes_through_json(file):
    for options in ({}, {"standardise": True}):
        table = read(file(HEADER + ROWS), **CATEGORICAL, **options)
        parts = json.loads(json.dumps(table.encoding.as_dict()))
        encoding = Encoding.from_dict(parts, table.X.shape[1])
        np.testing.assert_array_equal(encoding.applied(table.raw, []), table.X)
        assert encoding.as_dict() == table.encoding.as_dict()
        # 2.5 is the median of 1.5, 2.5, 3.75, 2 and 9; Oslo comes before Rome, which is as frequent
        expected = np.array([1.5, 2.5, 2.5, 3.75, 2, 9])
        if options:
            expected = (expected - expected.mean()) / expected.std(ddof=1)
        np.testing.assert_allclose(table.X[:, 0], expected, rtol=1e-15)
        np.testing.assert_array_equal(table.X[:, 1:4].argmax(axis=1), [1, 2, 1, 1, 0, 2])
        np.testing.assert_array_equal(table.X[:, 4:].argmax(axis=1), [0, 1, 0, 2, 1, 1])
        assert set(np.unique(table.X[:, 1:])) == {0, 1}


DAMAGES = [
    lambda parts: parts.pop("columns"),
    lambda parts: parts.update(n_features=3),
    lambda parts: parts.update(columns=5),
    lambda parts: parts.update(layout=None),
    lambda parts: parts.update(mean=[0.0]),
    lambda parts: parts.update(deviation=[0.0] * 7),
    lambda parts: parts["columns"][0].update(fill="x"),
    lambda parts: parts["columns"][1].update(fill=1),
    lambda parts: parts["columns"][1].update(categories="abc"),
    lambda parts: parts["columns"][1].update(categories=["a", "a", "b"]),
    lambda parts: parts["layout"].update(places=[0, 1, 9]),
    lambda parts: parts["layout"].update(places=[0, 1, 1]),
    lambda parts: parts["layout"].update(label_place="0"),
    lambda parts: parts["layout"].update(names=["a", "b"]),
    lambda parts: parts["layout"].update(names=["a", "a", "b"]),
    lambda parts: parts.update(zero_based=1),
]


def test_an_encoding_of_before_counts_from_1(file):
    encoding = read(file("1 0:2\n-1 1:3\n")).encoding
    assert encoding.zero_based
    parts = encoding.as_dict()
    assert Encoding.from_dict(parts, 2).zero_based
    del parts["zero_based"]
    assert not Encoding.from_dict(parts, 2).zero_based


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_encoding_is_refused(file, damage):
    table = read(file(HEADER + ROWS), **CATEGORICAL, standardise=True)
    parts = json.loads(json.dumps(table.encoding.as_dict()))
    damage(parts)
    with pytest.raises(ValueError, match=r"^its encoding is damaged$"):
        Encoding.from_dict(parts, table.X.shape[1])


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("a,b,y\n1,x,0\n2,3,1\n", {}, "line 2, column 'b': 'x' is not a number, .* --categorical 'b'"),
        ("a,y\n?,0\n,1\n", {"impute": True}, "column 'a': every value is missing; leave it out with --ign"),
        ("a,y\n1,0\n2,1\n", {"categorical": ["y"]}, "--categorical is for features, and column 'y' is none"),
        ("a,y\n1,0\n2,1\n", {"categorical": ["b"]}, "there is no column 'b'"),
        ("a,b,y\n1,2,\n3,4,1\n", {"impute": True}, "column 'y': the value is missing .* --drop-missing$"),
        ("a,y\n1,0\n,1\n", {}, "or leave such rows out with --drop-missing, or have features .* --impute$"),
        ("1 1:2\n-1 1:3\n", {"impute": True}, "--impute is for CSV files"),
        ("1 1:2\n-1 1:3\n", {"categorical": ["1"]}, "--categorical is for CSV files"),
        (
            "name,y\n" + "".join(f"row {n},{n % 2}\n" for n in range(51)),
            {},
            "column 'name': 51 different values in 51 rows are too many categories, of which there may be 50",
        ),
    ],
)
def test_what_cannot_be_encoded_is_one_sentence(file, content, options, sentence):
    path = file(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_a_column_of_words_is_doubted_unless_it_is_named(file):
    path = file(HEADER + ROWS)
    table = read(path, impute=True)
    (doubt,) = table.doubts
    assert "column 'city'" in doubt and "3 categories" in doubt and "--categorical 'city'" in doubt
    with pytest.raises(ValueError, match=r"column 'city'.*--strict"):
        read(path, impute=True, strict=True)
    assert read(path, **CATEGORICAL, strict=True).doubts == ()
    # without a number anywhere, the first line may be a row
    assert "though no cell of the table is a number" in read(file("a,b\nx,p\nz,q\n")).doubts[0]


def test_imputed_and_left_out_rows(file):
    path = file("a,y\n1,0\n,1\n3,\n5,1\n")
    table = read(path, impute=True, drop_missing=True)
    assert table.X[:, 0].tolist() == [1, 3, 5] and table.dropped == 1
    assert read(path, drop_missing=True).X[:, 0].tolist() == [1, 5]


@pytest.fixture
def encoding(file):
    return read(file(HEADER + ROWS), **CATEGORICAL).encoding


X = [[2.5, 0, 0, 1, 0, 0, 1], [7, 0, 1, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    "content",
    [
        HEADER + "2.5,Rome,3,ill\n7,Oslo,1,well\n",
        "\ufeff" + (HEADER + "2.5,Rome,3,ill\n7,Oslo,1,well\n").replace("\n", "\r\n"),
        "state;code;größe;more;city\nill;3;2,5;x;Rome\nwell;1;7;x;Oslo\n",
        "größe,city,code\n,Rome,3\n7,NA,1\n",
        "2.5,Rome,3,ill\n7,Oslo,1,well\n",
        "2.5,Rome,3\n7,Oslo,1\n",
        '"größe","city","code"\r\n"2.5","Rome","3"\r\n7,"Oslo",1\r\n',
    ],
)
def test_columns_are_found_by_name_else_by_place(file, encoding, content):
    rows = read_rows(file(content), encoding)
    np.testing.assert_array_equal(rows.X, X)
    assert rows.labels == (["ill", "well"] if "ill" in content else None)


def test_by_place_beside_columns_that_are_ignored(file):
    """The label stands first, and the second column was ignored."""
    encoding = read(file("1,x,2.5,0\n0,y,3.5,9\n"), label="1", ignore=["2"], header=False).encoding
    for content, labels in (("0,z,7,8\n", ["0"]), ("z,7,8\n", None), ("7,8\n", None)):
        rows = read_rows(file(content), encoding, header=False)
        assert rows.X.tolist() == [[7, 8]] and rows.labels == labels


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("größe,code,state\n1,2,ill\n", "there is no column 'city', which the model was trained on"),
        ("größe,state\n1,ill\n", "there is no column 'city', nor 1 others, which the model"),
        ("city,größe,city,code\nx,1,x,2\n", "2 columns are named 'city'"),
        ("1,Rome\n", "trained on 3 features, and the table has 2 columns: expected 3, or 4 with labels"),
        (
            "größe,city,code\nx,Rome,2\n",
            "line 2, column 'größe': 'x' is not a number, as others .* correct it$",
        ),
        ("1 1:2\n", "columns of categories, which LIBSVM text does not have"),
        ("", "the file is empty"),
    ],
)
def test_rows_that_do_not_fit_are_one_sentence(file, encoding, content, sentence):
    path = file(content)
    with pytest.raises(ValueError, match=sentence) as caught:
        read_rows(path, encoding)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_missing_values_are_refused_where_training_refused_them(file):
    encoding = read(file("a,y\n1,0\n2,1\n")).encoding
    with pytest.raises(ValueError, match=r"line 3, column 'a': the value is missing .* without --impute"):
        read_rows(file("a\n1\n?\n", "new.csv"), encoding, header=True)


def test_categories_that_are_not_known_are_told_once(file, encoding):
    rows = read_rows(file("größe,city,code\n1,Paris,1\n2,Lima,7\n3,Rome,2\n"), encoding)
    assert rows.X[0, 1:].tolist() == [0, 0, 0, 1, 0, 0] and not rows.X[1, 1:].any()
    assert rows.doubts == [
        "2 rows have a category that the model was not trained on, such as 'Paris' in column 'city': it "
        "counts as none of those that it knows"
    ]
