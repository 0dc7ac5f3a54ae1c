"""The tableau of unlearning, by its definition: the principal pivot transform of a dense matrix."""

import numpy as np
import pytest
from numerics.problems import two_classes

from svmselect import RBF, Gram, Linear
from svmselect.unlearning.tableau import Tableau


def transform(gram, order, s, threshold):
    """What b and theta_S, then the g of the others do, per unit of g_t for t in S, of theta_t for the others:
    column t has shape (n,), and apart from them b has."""
    K = gram.matrix()[np.ix_(order, order)].astype(float)
    border = np.ones((len(order), 1)) if threshold else np.empty((len(order), 0))
    corner = np.zeros((border.shape[1], border.shape[1]))
    R = np.linalg.inv(np.block([[corner, border[:s].T], [border[:s], K[:s, :s]]]))
    A = np.hstack([border[s:], K[s:, :s]])
    basic = np.hstack([R[:, border.shape[1] :], -R @ A.T])
    rest = np.hstack([(A @ R)[:, border.shape[1] :], K[s:, s:] - A @ R @ A.T])
    b = basic[0] if threshold else np.zeros(len(order))
    return np.vstack([basic[border.shape[1] :], rest]), b


@pytest.mark.parametrize("threshold", [True, False])
@pytest.mark.parametrize("some", [True, False])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_it_is_the_transform_of_the_dense_matrix(kernel, some, threshold):
    """With a linear kernel more points are in-bound than are independent."""
    rng = np.random.default_rng(3)
    X, _ = two_classes(rng, 17, 3)
    gram = Gram(10 * X + 3, kernel, origin=np.zeros(3))
    numbers = rng.permutation(17)
    inbound, rest = numbers[:7], numbers[9:] if some else None
    tableau = Tableau(gram, inbound, rest, threshold)
    s, n = tableau.s, 15 if some else 17
    dimension = 3 + threshold
    assert s == (7 if isinstance(kernel, RBF) else dimension)
    assert set(tableau.order[:7]) == set(inbound) and len(set(tableau.order)) == n
    if some:
        assert set(tableau.order[7:]) == set(rest)
    np.testing.assert_array_equal(tableau.number[tableau.order], np.arange(n))
    np.testing.assert_array_equal(tableau.diagonal, gram.diagonal[tableau.order])

    expected, b_change = transform(gram, tableau.order, s, threshold)
    points = rng.permutation(n)
    x, b, bend = tableau.response(points)
    scale = gram.diagonal.max()
    np.testing.assert_allclose(x, expected[:s, points].T, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(b, b_change[points], rtol=1e-8, atol=1e-9 * scale)
    columns = tableau.columns(points, x, b)
    np.testing.assert_allclose(columns, expected[:, points].T, rtol=1e-8, atol=1e-9 * scale)
    bends = expected.diagonal().copy()
    bends[:s] = 1 / bends[:s]
    np.testing.assert_allclose(bend, bends[points], rtol=1e-7, atol=1e-9 * scale)
    np.testing.assert_allclose(tableau.bends(), bends, rtol=1e-7, atol=1e-9 * scale)
    # points that depend on S do not bend
    assert np.abs(bends[s:7]).max(initial=0) < 1e-9 * scale < np.abs(bends[:s]).min()


def test_a_lone_point_cannot_move_where_the_sum_is_fixed():
    gram = Gram([[0.0], [1.0], [3.0]], RBF(0.5))
    tableau = Tableau(gram, np.array([1]))
    x, b, bend = tableau.response(np.arange(3))
    assert bend[0] == tableau.bends()[0] == np.inf
    np.testing.assert_allclose(x[:, 0], [0, -1, -1], atol=1e-15)
    # the others take all from it: their bend is their squared distance from it
    K = gram.matrix()
    np.testing.assert_allclose(bend[1:], [2 - 2 * K[0, 1], 2 - 2 * K[2, 1]])
    np.testing.assert_allclose(b, [1, 1 - K[0, 1], 1 - K[2, 1]])
