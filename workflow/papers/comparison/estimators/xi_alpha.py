"""The xi-alpha bound of Joachims."""

from svmselect.bounds.xi_alpha import XI_ALPHA

from papers.comparison.estimator import of_one_fit

ESTIMATOR = of_one_fit(XI_ALPHA, order=3, color="orange", marker="^")
