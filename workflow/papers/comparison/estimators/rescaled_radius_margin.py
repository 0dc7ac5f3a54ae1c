"""The radius-margin bound on rescaled components, of Chapelle and Vapnik."""

from svmselect.bounds.radius_margin import RESCALED_RADIUS_MARGIN

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(RESCALED_RADIUS_MARGIN, order=7)
