"""The span rule of Chapelle and Vapnik."""

from svmselect.bounds.span_rule import SPAN_RULE

from papers.comparison.estimator import of_one_fit

ESTIMATOR = of_one_fit(SPAN_RULE, order=1, color="vermillion", marker="s")
