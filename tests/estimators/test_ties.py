"""What is documented where two answers are equally good."""

import numpy as np
import pytest

from svmselect.sklearn import SVC
from svmselect.sklearn.one_vs_one import decisions, most_votes, winners
from svmselect.sklearn.scoring import Scoring, best_threshold


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_threshold_nearest_to_0_is_taken(sign):
    """Accuracy is the same at -2 and 2.25, and worse elsewhere; likewise the other way round."""
    values, codes = np.array([-3, -1, 0.5, 4]), np.array([0, 1, 0, 1])
    if sign < 0:
        values, codes = -values[::-1], 1 - codes[::-1]
    X, y = np.zeros((4, 1)), codes
    scoring = Scoring("accuracy")
    result = best_threshold(SVC(), np.array([0, 1]), X, y, values, codes, {}, scoring)
    assert result == sign * -2


@pytest.mark.parametrize("break_ties", [False, True])
def test_a_decision_value_of_0_is_a_vote_for_the_second_class(break_ties):
    values = np.array([[0.0, 1.0, -1.0], [0.0, -1.0, -1.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    scores = decisions(values, 3, "ovr")
    np.testing.assert_array_equal(np.rint(scores), [[0, 2, 1], [1, 2, 0], [2, 0, 1], [0, 1, 2]])
    np.testing.assert_array_equal(most_votes(values >= 0, 3), [1, 1, 0, 2])
    np.testing.assert_array_equal(winners(values, 3, break_ties), [1, 1, 0, 2])
    np.testing.assert_array_equal(winners(np.array([[0.0], [-0.0], [-1e-300]]), 2), [1, 1, 0])
