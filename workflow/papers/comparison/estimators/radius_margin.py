"""The radius-margin bound of Vapnik."""

from svmselect.bounds.radius_margin import RADIUS_MARGIN

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(RADIUS_MARGIN, order=6)
