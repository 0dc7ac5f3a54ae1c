"""The estimate of Opper and Winther."""

from svmselect.bounds.opper_winther import OPPER_WINTHER

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(OPPER_WINTHER, order=5)
