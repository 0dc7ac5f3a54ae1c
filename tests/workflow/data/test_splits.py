"""Splits: seeded draws, published splits, and the full table out of distinct patterns."""

import json

import numpy as np
import pytest
from data.splits import (
    OriginalSplits,
    check_originals,
    read_splits,
    seeded_split,
    splits_by_value,
    splits_of_repeated_rows,
)
from hypothesis import given, settings
from hypothesis import strategies as st


@given(
    st.integers(0, 50), st.integers(0, 50), st.integers(0, 20), st.integers(0, 2**40), st.integers(1, 10**6)
)
def test_seeded_split_has_the_sizes_and_no_row_twice(train, test, left_out, seed, r):
    rows = train + test + left_out
    split = seeded_split(rows, train, test, seed, r)
    both = np.concatenate([split.train, split.test])
    assert (len(split.train), len(split.test)) == (train, test)
    assert len(np.unique(both)) == len(both) and both.dtype == np.int64
    assert ((both >= 0) & (both < rows)).all()
    assert split.origin == "seeded" and split.seed == (seed, r)
    again = seeded_split(rows, train, test, seed, r)
    assert np.array_equal(split.train, again.train) and np.array_equal(split.test, again.test)


def test_seeded_splits_differ_and_are_uniform():
    drawn = np.zeros(20)
    for r in range(1, 2001):
        drawn[seeded_split(20, 5, 15, 3, r).train] += 1
    # Each row is binomial(2000, 1/4): 500 +- 19.4; five deviations.
    assert np.abs(drawn - 500).max() < 97
    assert not np.array_equal(seeded_split(20, 5, 15, 3, 1).train, seeded_split(20, 5, 15, 4, 1).train)


def test_seeded_split_is_the_same_on_every_machine():
    split = seeded_split(10, 4, 6, 2008, 11)
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence([2008, 11]))).permutation(10)
    assert np.concatenate([split.train, split.test]).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("numbers", "train", "test", "sentence"),
    [
        ([1, 1], [[0], [1]], [[1], [0]], "numbers of the splits must differ"),
        ([0], [[0]], [[1]], "count from 1"),
        ([1], [[0, 2]], [[1]], "1 splits of 1 training rows"),
        ([1], [[0]], [[1, 2]], "1 splits of 1 test rows"),
        ([1], [[0]], [[3]], r"split 1 names a row outside 0\.\.2"),
        ([1], [[0]], [[-1]], r"split 1 names a row outside 0\.\.2"),
        ([1, 4], [[0], [2]], [[1], [2]], "split 4 names a row twice"),
    ],
)
def test_published_splits_that_are_wrong(numbers, train, test, sentence):
    originals = OriginalSplits(np.array(numbers), np.array(train), np.array(test))
    with pytest.raises(ValueError, match=f"place: .*{sentence}"):
        check_originals(originals, 3, 1, 1, "place")


def test_read_splits(tmp_path):
    path = tmp_path / "splits.json"
    path.write_text(json.dumps({"numbers": [3], "train": [[0, 2]], "test": [[1]]}))
    originals = read_splits(path, "place")
    assert (originals.numbers.tolist(), originals.train.tolist()) == ([3], [[0, 2]])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "3",
        '{"numbers": [1], "train": [[0.5]], "test": [[1]]}',
        '{"numbers": [1, 2], "train": [[0], [1, 2]], "test": [[1], [0]]}',
        '{"numbers": [1], "train": [["a"]], "test": [[1]]}',
        '{"numbers": [99999999999999999999], "train": [[1]], "test": [[1]]}',
        "[" * 100_000,
        "\xff",
    ],
)
def test_files_that_are_no_splits(tmp_path, text):
    path = tmp_path / "splits.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(ValueError, match=r"^place: "):
        read_splits(path, "place")


def test_splits_by_value():
    originals = splits_by_value(np.array([3.0, 1, 2, 1]), (1, 3), "place")
    assert originals.train.tolist() == [[0, 1, 3]] and originals.test.tolist() == [[2]]
    with pytest.raises(ValueError, match="no row has the value"):
        splits_by_value(np.array([1.0, 2]), (1, 7), "place")


@settings(deadline=None)
@given(st.data())
def test_full_table_out_of_distinct_patterns(data):
    """Patterns named several times become rows; each split then holds every row once, with its pattern."""
    mentions = data.draw(st.lists(st.integers(0, 5), min_size=2, max_size=20))
    n_train = data.draw(st.integers(1, len(mentions) - 1))
    both = np.array([data.draw(st.permutations(mentions)) for _ in range(3)])
    patterns, originals = splits_of_repeated_rows(both[:, :n_train], both[:, n_train:], "place")
    assert sorted(patterns) == sorted(mentions)
    assert originals.train[0].tolist() == list(range(n_train))
    for k in range(3):
        rows = np.concatenate([originals.train[k], originals.test[k]])
        assert sorted(rows) == list(range(len(mentions)))
        assert patterns[rows].tolist() == both[k].tolist()


def test_splits_with_other_rows_are_refused():
    with pytest.raises(ValueError, match="split 2 does not hold the same rows as split 1"):
        splits_of_repeated_rows(np.array([[0, 0], [0, 1]]), np.array([[1], [1]]), "place")
