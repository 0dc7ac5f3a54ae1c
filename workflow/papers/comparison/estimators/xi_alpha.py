"""The xi-alpha bound of Joachims."""

from svmselect.bounds.xi_alpha import XI_ALPHA

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(XI_ALPHA, order=3)
