"""The span bound of Vapnik and Chapelle."""

from svmselect.bounds.span_bound import SPAN_BOUND

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(SPAN_BOUND, order=2)
