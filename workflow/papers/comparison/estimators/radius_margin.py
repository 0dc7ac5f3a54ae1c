"""The radius-margin bound of Vapnik."""

from svmselect.bounds.radius_margin import RADIUS_MARGIN

from papers.comparison.estimator import of_one_fit

ESTIMATOR = of_one_fit(RADIUS_MARGIN, order=6, color="purple", marker="P", size=7)
