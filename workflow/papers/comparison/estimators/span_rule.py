"""The span rule of Chapelle and Vapnik."""

from svmselect.bounds.span_rule import SPAN_RULE

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(SPAN_RULE, order=1)
