"""The bound of Jaakkola and Haussler."""

from svmselect.bounds.jaakkola_haussler import JAAKKOLA_HAUSSLER

from papers.comparison.estimator import single_fit_estimator

ESTIMATOR = single_fit_estimator(JAAKKOLA_HAUSSLER, order=4)
