"""The span bound of Vapnik and Chapelle."""

from svmselect.bounds.span_bound import SPAN_BOUND

from papers.comparison.estimator import of_one_fit

ESTIMATOR = of_one_fit(SPAN_BOUND, order=2, color="purple", marker="v")
