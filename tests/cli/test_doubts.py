"""Files of which something must be guessed: what is decided, what the user is told, what is refused."""

import numpy as np
import pandas as pd
import pytest

from svmselect.cli.read import read

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
    assert table.doubts == (
        "the first column has no name; it is taken for a feature, and --ignore 1 leaves it out",
    )


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
    path = file(frame(id=column).to_csv(index=False))
    table = read(path)
    assert table.X.shape == (12, 4)
    sentence = (
        "column 'id' has another whole number in every row, as an id or a row number does; it is taken for "
        "a feature, and --ignore 'id' leaves it out"
    )
    assert table.doubts == ((sentence,) if doubted else ())
    assert read(path, ignore=["id"]).doubts == ()
    assert read(file(frame(id=column)[:7].to_csv(index=False))).doubts == ()


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
