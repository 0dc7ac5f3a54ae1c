"""Files of which something must be guessed: what is decided, what the user is told, what is refused."""

import numpy as np
import pandas as pd
import pytest

from svmselect.cli.read import read, read_rows

VALUES = np.random.default_rng(5).normal(size=(12, 3)).round(4)
CLASSES = np.arange(12) % 2


def frame(**columns):
    return pd.DataFrame(VALUES, columns=list("abc")).assign(**columns, y=CLASSES)


@pytest.mark.parametrize(
    ("content", "doubt"),
    [
        (frame().to_csv(index=False), None),
        (frame().to_csv(), "the first column is left out: it has no name and another whole number in every"),
        (frame().reset_index(names="Unnamed: 0").to_csv(index=False), "the first column is left out"),
        (pd.DataFrame(VALUES).assign(target=CLASSES).to_csv(index=False), "'target' stands above numbers"),
        (pd.DataFrame(VALUES).assign(**{"3": CLASSES}).to_csv(index=False), "its numbers count from 0"),
        (
            pd.DataFrame(VALUES).assign(kind=np.where(CLASSES, "x", "z")).to_csv(index=False),
            "its numbers count from 0 and 'kind' is no label of another row",
        ),
        (
            pd.DataFrame(VALUES, columns=["age", "2019", "2020"]).assign(y=CLASSES).to_csv(index=False),
            "'age' stands above numbers, though some of its cells are numbers",
        ),
        (frame().to_csv(index=False, sep=";", decimal=","), "with a decimal comma"),
        (frame().to_csv(index=False, sep=";", decimal=",", header=False), "with a decimal comma"),
        (frame().to_csv(index=False, sep="\t", decimal=","), "with a decimal comma"),
        (frame().to_csv(index=False, sep=" ", decimal=",", header=False), "with a decimal comma"),
    ],
)
def test_what_pandas_writes(file, content, doubt):
    path = file(content)
    table = read(path)
    np.testing.assert_array_equal(table.X, VALUES)
    assert len({*table.labels.tolist()}) == 2 and (table.labels[::2] == table.labels[0]).all()
    assert len(table.doubts) == (doubt is not None)
    if doubt is not None:
        assert doubt in table.doubts[0] and "\n" not in table.doubts[0]
        with pytest.raises(ValueError, match=r"data\.csv: .*refused by --strict") as caught:
            read(path, strict=True)
        assert table.doubts[0] in str(caught.value)


def test_an_index_in_another_order_is_left_out_too(file):
    order = np.random.default_rng(4).permutation(12)
    np.testing.assert_array_equal(read(file(frame().iloc[order].to_csv())).X, VALUES[order])


def test_an_unnamed_column_that_is_no_index_is_a_feature(file):
    table = read(file(frame().set_index("a").rename_axis(None).to_csv()))
    np.testing.assert_array_equal(table.X, VALUES)
    (doubt,) = table.doubts
    assert "--ignore 1" in doubt


def test_two_doubts_of_pandas_at_once(file):
    table = read(file(pd.DataFrame(VALUES).assign(target=CLASSES).to_csv()))
    np.testing.assert_array_equal(table.X, VALUES)
    assert len(table.doubts) == 2 and table.label_column == "column 'target'"


def test_an_option_settles_a_doubt(file):
    header = file(pd.DataFrame(VALUES).assign(**{"3": CLASSES}).to_csv(index=False))
    assert read(header, header=True, strict=True).X.shape == (12, 3)
    assert read(header, header=False, strict=True).X.shape == (13, 3)
    index = file(frame().to_csv())
    assert read(index, ignore=["1"], strict=True).X.shape == (12, 3)


@pytest.mark.parametrize(
    "first_line",
    ["2019,2020,c", "1.5,2.5,new"],
)
def test_a_first_row_of_another_class_is_doubted(file, first_line):
    rows = "".join(f"{a},{b},{'p' if n % 2 else 'q'}\n" for n, (a, b, _) in enumerate(VALUES))
    table = read(file(f"{first_line}\n{rows}"))
    assert table.X.shape == (13, 2) and "is taken for a row of data, though its label" in table.doubts[0]


def test_a_wrong_cell_of_the_first_row_does_not_make_it_a_header(file):
    with pytest.raises(ValueError, match="line 1, column 2: 'abc' is not a number"):
        read(file("1,abc,0\n2,5,1\n3,6,0\n4,7,1\n"))


@pytest.mark.parametrize(
    ("column", "doubted"),
    [
        (np.arange(12), True),
        (1000 - 3 * np.arange(12), True),
        (100 + np.random.default_rng(2).permutation(12), True),
        (np.random.default_rng(2).permutation(12) * 2, False),
        (np.arange(12) + 0.5, False),
        (np.arange(12) // 2, False),
    ],
)
def test_a_feature_like_an_id_is_doubted(file, column, doubted):
    path = file(frame(size=column).to_csv(index=False))
    table = read(path)
    assert table.X.shape == (12, 4)
    assert [doubt for doubt in table.doubts if "column 'size'" in doubt and "--ignore 'size'" in doubt] == [
        *table.doubts
    ]
    assert bool(table.doubts) == doubted
    assert read(path, ignore=["size"]).doubts == ()
    assert read(file(frame(size=column)[:7].to_csv(index=False))).doubts == ()


@pytest.mark.parametrize("name", ["id", "ID", "User ID", "user_id", "row.id", "userId", "case-id"])
def test_a_feature_with_the_name_of_an_id_is_doubted(file, name):
    for column in (CLASSES * 2 + 0.5, np.array(["x", "z", "w"])[np.arange(12) % 3]):
        path = file(frame(**{name: column}).to_csv(index=False))
        assert sum(f"--ignore {name!r}" in doubt for doubt in read(path).doubts) == 1
        assert read(path, ignore=[name]).doubts == ()
        assert read(path, categorical=[name]).doubts == ()


@pytest.mark.parametrize("name", ["valid", "idle", "PAID", "grid", "idea", "fluid", "VOID"])
def test_other_names_with_these_letters_are_not(file, name):
    assert read(file(frame(**{name: CLASSES * 2 + 0.5}).to_csv(index=False))).doubts == ()


IDS = np.random.default_rng(3).integers(10**6, 10**7, 40)


@pytest.mark.parametrize(
    ("column", "doubted"),
    [
        (IDS, True),
        (np.r_[IDS[:37], IDS[:3]], True),
        (np.r_[IDS[:20], IDS[:20]], False),
        (IDS + 0.5, False),
        (IDS // 1000, False),
        (np.array([f"x{n}" for n in IDS]), True),
    ],
)
def test_many_digits_of_which_nearly_no_two_are_equal_are_doubted(file, column, doubted):
    rows = np.random.default_rng(4).normal(size=40)
    table = pd.DataFrame({"a": rows, "code": column, "y": np.arange(40) % 2})
    doubts = read(file(table.to_csv(index=False))).doubts
    assert any("--ignore 'code'" in doubt for doubt in doubts) == doubted
    assert doubted or not doubts


@pytest.mark.parametrize(
    ("labels", "doubted"),
    [(["Yes", "yes"], True), (["a b", "a  b"], True), (["\uff21", "A"], True), (["Yes", "no"], False)],
)
def test_labels_that_look_alike_are_doubted(file, labels, doubted):
    path = file(frame().assign(y=np.array(labels)[CLASSES]).to_csv(index=False))
    doubts = read(path).doubts
    assert len(doubts) == doubted and all(repr(label) in doubt for doubt in doubts for label in labels)


def test_categories_that_look_alike_are_doubted(file):
    path = file(frame(city=np.array(["Oslo", "oslo"])[CLASSES]).to_csv(index=False))
    (doubt,) = read(path, categorical=["city"]).doubts
    assert "'Oslo' and 'oslo' in column 'city'" in doubt


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["1,000", "2,500.5", "950"], [1000, 2500.5, 950]),
        (["1,234,567", "-2,000", "3"], [1234567, -2000, 3]),
        (["$1", "$2.5", "-$3"], [1, 2.5, -3]),
        (["1,000 €", "20 €", "3 €"], [1000, 20, 3]),
        (["50%", "7.5 %", "100%"], [50, 7.5, 100]),
        (["1,5", "2,25", "3"], [1.5, 2.25, 3]),
        (["0,125", "1,500", "2,250"], [0.125, 1.5, 2.25]),
    ],
)
def test_marked_numbers_are_read_with_a_remark(file, words, numbers):
    column = np.array(words)[np.arange(12) % 3]
    path = file(frame(price=column).to_csv(index=False))
    table = read(path)
    np.testing.assert_array_equal(table.X[:, 3], np.array(numbers)[np.arange(12) % 3])
    (doubt,) = table.doubts
    assert "column 'price'" in doubt and "are read as numbers" in doubt
    rows = read_rows(path, table.encoding)
    np.testing.assert_array_equal(rows.X, table.X)
    assert rows.doubts == [doubt]
    as_words = read(path, categorical=["price"])
    assert as_words.encoding.columns[3].categories == tuple(sorted(words)) and as_words.doubts == ()
    assert read_rows(path, as_words.encoding).doubts == []


@pytest.mark.parametrize("words", [["50%", "0.5"], ["$1", "€2"], ["1,5", "2.5"], ["1,000", "1,5.0"]])
def test_marks_that_are_not_the_same_everywhere_are_not_read(file, words):
    path = file(frame(price=np.array(words)[CLASSES]).to_csv(index=False))
    try:
        table = read(path)
    except ValueError as error:
        assert "column 'price'" in str(error) and "is not a number" in str(error)
    else:
        assert "column 'price' has no number: its 2 categories" in table.doubts[0]


def test_decimal_commas_of_categories_stay(file):
    """Also in a file to predict, which must find the categories that were trained on."""
    path = file("a;k;y\n1;1,5;0\n2;2,5;1\n3;1,5;0\n")
    encoding = read(path, categorical=["k"]).encoding
    rows = read_rows(path, encoding)
    assert rows.doubts == [] and rows.X.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]


def test_columns_of_one_name_are_found_by_place(file):
    content = frame().rename(columns={"b": "a"}).to_csv(index=False)
    encoding = read(file(content)).encoding
    assert encoding.layout.names is None
    np.testing.assert_array_equal(read_rows(file(content), encoding).X, VALUES)


def test_a_number_to_predict_is_doubted_or_refused(file):
    labels = np.arange(300) % 60
    values = np.arange(300) % 7 / 7
    table = read(file("".join(f"{v},{label}\n" for v, label in zip(values, labels, strict=True))))
    (doubt,) = table.doubts
    assert doubt.startswith("column 2 holds 60 different values in 300 rows: each is taken for a class, not")
    with pytest.raises(ValueError, match="column 2 holds 40 different values in 40 rows: that is no class"):
        read(file("".join(f"{n % 7 / 7},{n / 9:.4f}\n" for n in range(40))))
    with pytest.raises(ValueError, match="the label holds 40 different values in 40 rows: that is no class"):
        read(file("".join(f"{n / 9:.4f} 1:{n % 7}\n" for n in range(40)), "data.libsvm"))


@pytest.mark.parametrize(
    ("content", "doubted"),
    [
        ("{y},{n},{k}\n", True),
        ("{y},{n},{y}\n", False),
        ("{x},{n},{k}\n", False),
        ("{k},{n},{y}\n", False),
        ("{y},{n},{k}\n", None),
        ("{k},{n},{k}\n", "the same values"),
    ],
)
def test_a_label_in_the_last_place_is_doubted_if_the_first_column_is_more_like_one(file, content, doubted):
    rows = [content.format(y="pq"[n % 2], x=n % 2 / 4, n=VALUES[n, 0], k=n % 3) for n in range(12)]
    path = file("".join(rows))
    doubts = read(path, label="3" if doubted is None else None, header=False).doubts
    assert sum("--label settles it" in doubt for doubt in doubts) == bool(doubted)
    if doubted:
        likeness = "fewer different values, 2 to 3" if doubted is True else doubted
        assert f"column 1 has {likeness}" in doubts[0] and "column 3 is taken for the label" in doubts[0]
        assert read(path, label="1", header=False).doubts == ()


@pytest.mark.parametrize(
    ("codes", "doubted"),
    [
        ([-999, -999], True),
        ([9999, 9999], True),
        ([-999], False),
        ([999, 998], False),
        ([3, 3], False),
        ([99, 99], True),
    ],
)
def test_a_number_that_stands_for_a_missing_value_is_doubted(file, codes, doubted):
    column = VALUES[:, 0].copy()
    column[: len(codes)] = codes
    doubts = read(file(frame(size=column).to_csv(index=False))).doubts
    assert len(doubts) == doubted
    if doubted:
        assert f"{codes[0]} stands 2 times in column 'size'" in doubts[0]


def test_codes_among_values_are_numbers(file):
    column = np.r_[95.5, 98, 99, 99, 97, 101, 104, 99, 96, 94, 93, 92]
    assert read(file(frame(size=column).to_csv(index=False))).doubts == ()
    assert read(file(frame(size=np.where(CLASSES, 99, 0.5)).to_csv(index=False))).doubts == ()
