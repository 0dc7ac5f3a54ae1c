"""Sparse input, sound and broken: what is checked before compiled code follows an index."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from svmselect import RBF, Gram
from svmselect.csr import as_csr
from svmselect.editing import train
from svmselect.gram.rows import as_rows
from svmselect.kernels import Rows
from svmselect.sklearn import SVC, BaggedSVC, LOOSearchCV

FORMATS = ("csr", "csc", "bsr", "coo", "dia", "dok", "lil")
DENSE = np.array([[0, 1.5, 0, 0], [2, 0, 0, -3], [0, 0, 0, 0], [0.25, 0, 4, 0], [0, 1, 1, 1], [5, 0, 0, 0]])


def compressed(format="csr", **members):
    """`DENSE` in a compressed format, some of its members set behind SciPy's back."""
    X = sparse.coo_array(DENSE).asformat(format)
    for member, change in members.items():
        setattr(X, member, change(getattr(X, member).copy()))
    return X


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.coo_matrix])
def test_every_format_is_taken_and_not_changed(kind, format):
    X = kind(DENSE).asformat(format)
    rows = as_csr(X)
    assert rows.format == "csr" and isinstance(rows, sparse.sparray) == isinstance(X, sparse.sparray)
    np.testing.assert_array_equal(rows.toarray(), DENSE)
    np.testing.assert_array_equal(as_rows(X).toarray(), DENSE)
    np.testing.assert_array_equal(X.toarray(), DENSE)


@pytest.mark.parametrize("integer", [np.int32, np.int64, np.uint32, np.uint64, np.int16])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_index_types(format, integer):
    X = compressed(format, indices=lambda a: a.astype(integer), indptr=lambda a: a.astype(integer))
    expected = Gram(DENSE, RBF(0.3)).matrix()
    np.testing.assert_allclose(Gram(X, RBF(0.3)).matrix(), expected, rtol=1e-14)
    assert as_csr(X).indices.dtype == np.int32
    y = np.tile([0, 1], 3)
    model = SVC(gamma=0.3).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), SVC(gamma=0.3).fit(DENSE, y).decision_function(X))
    assert model.loo_error_ == SVC(gamma=0.3).fit(DENSE, y).loo_error_


def test_notes_of_scipy_that_are_out_of_date_are_not_believed():
    """A row that names a column twice, while the matrix claims to be in canonical format."""
    X = compressed()
    assert X.has_canonical_format
    X.indices[1:3] = [3, 3]
    np.testing.assert_array_equal(as_rows(X).toarray()[1], [0, 0, 0, -1])
    assert X.nnz == 9  # the caller's matrix is as it was


def spoiled(X, spoil):
    """X after `spoil` went behind SciPy's back."""
    spoil(X)
    return X


def with_row_beyond(X):
    X.row[0] = 6


def with_column_missing(X):
    X.coords = (X.row, X.col[:-1])


def with_column_44(X):
    if X.format == "lil":
        X.rows[0][0] = 44
    else:
        X._dict[0, 44] = 1.0


def with_offsets(X):
    X.offsets = np.arange(50)


def with_a_fall(X):
    X.indptr[1] = 5


BROKEN = {
    "column beyond": (compressed(indices=put(0, 50_000_000)), "column 50000000 of 4"),
    "column beyond by one": (compressed(indices=put(3, 4)), "column 4 of 4"),
    "column below": (compressed(indices=put(2, -1)), "column -1 of 4"),
    "wide column": (
        compressed(indices=lambda a: put(1, 2**32)(a.astype(np.int64))),
        "column 4294967296 of 4",
    ),
    "unsigned column": (
        compressed(indices=lambda a: put(1, 2**63)(a.astype(np.uint64))),
        "column 9223372036854775808 of 4",
    ),
    "pointer falls": (compressed(indptr=put(2, 0)), "the pointer of row 2 is smaller than the one before"),
    "pointer falls, no values": (
        spoiled(sparse.csr_array((2, 4)), with_a_fall),
        "the pointer of row 2 is smaller than the one before",
    ),
    "pointer far": (compressed(indptr=put(-1, 10**9)), "the last row pointer is 1000000000, with 9 indices"),
    "first pointer": (compressed(indptr=put(0, 1)), "the first row pointer is 1, not 0"),
    "first pointer below": (compressed(indptr=put(0, -7)), "the first row pointer is -7, not 0"),
    "pointers missing": (compressed(indptr=lambda a: a[:-1]), "6 row pointers for 6 rows"),
    "real pointers": (compressed(indptr=lambda a: a * 1.0), "row pointers are not a list of integers"),
    "real indices": (compressed(indices=lambda a: a + 0.5), "column indices are not a list of integers"),
    "indices missing": (compressed(indices=lambda a: a[:-1]), r"values of shape \(9,\) and 8 indices"),
    "values missing": (compressed(data=lambda a: a[:-1]), r"values of shape \(8,\) and 9 indices"),
    "values of two dimensions": (
        compressed(data=lambda a: a[:, None]),
        r"values of shape \(9, 1\) and 9 indices",
    ),
    "row beyond in CSC": (compressed("csc", indices=put(0, 6)), "row 6 of 6"),
    "pointer falls in CSC": (compressed("csc", indptr=put(1, 9)), "the pointer of column 2 is smaller"),
    "block beyond": (compressed("bsr", indices=put(0, 99)), "column 99 of"),
    "block size": (compressed("bsr", data=lambda a: np.zeros((len(a), 5, 5))), "blocks of shape"),
    "row beyond in COO": (spoiled(sparse.coo_array(DENSE), with_row_beyond), "row 6 of 6"),
    "column missing in COO": (
        spoiled(sparse.coo_array(DENSE), with_column_missing),
        "9 values and 8 column numbers",
    ),
    "column beyond in LIL": (spoiled(sparse.lil_array(DENSE), with_column_44), "column 44 of 4"),
    "column beyond in DOK": (spoiled(sparse.dok_array(DENSE), with_column_44), "not a valid sparse matrix"),
    "offsets of DIA": (spoiled(sparse.dia_array(DENSE), with_offsets), "not a valid sparse matrix"),
    "one dimension": (sparse.coo_array(DENSE[0]), r"must have two dimensions .* got shape \(4,\)"),
}
CALLERS = {
    "as_csr": as_csr,
    "Gram": lambda X: Gram(X, RBF(1.0)).matrix(),
    "cross": lambda X: Gram(DENSE, RBF(1.0)).cross(X, np.arange(2)),
    "train": lambda X: train(X, np.tile([-1, 1], 3), RBF(1.0), 1.0),
    "fit": lambda X: SVC().fit(X, np.tile([-1, 1], 3)),
    "predict": lambda X: SVC().fit(DENSE, np.tile([-1, 1], 3)).predict(X),
    "bagging": lambda X: BaggedSVC().fit(X, np.tile([-1, 1], 3)),
    "search": lambda X: LOOSearchCV().fit(X, np.tile([-1, 1], 3)),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_matrices_are_one_sentence(broken):
    X, sentence = BROKEN[broken]
    with pytest.raises(ValueError, match=sentence) as caught:
        as_csr(X)
    assert str(caught.value).startswith("X ") and "\n" not in str(caught.value)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("broken", ["column beyond", "pointer far", "pointer falls", "row beyond in CSC"])
def test_no_caller_follows_a_broken_index(caller, broken):
    X, sentence = BROKEN[broken]
    with pytest.raises(ValueError, match=sentence):
        CALLERS[caller](X)


integers = st.integers(-(2**40), 2**40) | st.integers(-2, 8)


@settings(deadline=None)
@given(
    st.lists(integers, max_size=8),
    st.lists(integers, max_size=8),
    st.integers(0, 9),
    st.sampled_from(["csr", "csc"]),
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
)
def test_arbitrary_members_are_a_sentence_or_what_they_say(indices, pointers, n, format, shape):
    X = sparse.coo_array(shape).asformat(format)
    X.data, X.indices, X.indptr = np.arange(1.0, n + 1), np.array(indices, int), np.array(pointers, int)
    try:
        rows = as_csr(X)
    except ValueError as error:
        assert "\n" not in str(error)
        return
    dense = np.zeros(shape)
    for i, (begin, end) in enumerate(pairwise(pointers)):
        for j, value in zip(indices[begin:end], X.data[begin:end], strict=True):
            dense[(i, j) if format == "csr" else (j, i)] += value
    np.testing.assert_array_equal(rows.toarray(), dense)


def test_text_in_the_place_of_values_is_a_sentence():
    X = sparse.csr_array(np.eye(2))
    X.data = np.array([b"1", b"x"])
    with pytest.raises(ValueError, match=r"^X\b.* \|S1$"):
        as_csr(X)


def test_the_place_of_a_bad_value_is_named_without_a_dense_copy():
    X = sparse.csr_array((3, 2**30))
    X.data, X.indices, X.indptr = np.array([1.0, np.nan]), np.array([5, 77]), np.array([0, 1, 1, 2])
    with pytest.raises(ValueError, match="a NaN or infinity in row 2, feature 77"):
        as_rows(X)


def test_more_features_than_compiled_code_numbers():
    X = sparse.coo_array((np.ones(2), ([0, 1], [2**31, 2**31])), shape=(3, 2**31 + 1))
    expected = RBF(1.0).block(Rows(np.array([[1.0], [1.0], [0.0]])), Rows(np.array([[1.0], [1.0], [0.0]])))
    np.testing.assert_array_equal(Gram(X, RBF(1.0)).matrix(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool])
def test_one_form_however_the_matrix_is_stored(dtype):
    """Entries of one place are added as `toarray` adds them, and the caller's matrix is as it was."""
    parts = np.array([100, 1, 0, 100, 3, -3]).astype(dtype), [2, 0, 1, 2, 3, 3], [0, 4, 4, 6]
    X = sparse.csr_array(parts, shape=(3, 4))
    before = X.copy()
    rows = as_csr(X)
    np.testing.assert_array_equal(rows.toarray(), X.toarray())
    assert rows.has_canonical_format and rows.nnz == np.count_nonzero(X.toarray())
    for member in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, member), getattr(before, member))
