"""The bound of Jaakkola and Haussler."""

from svmselect.bounds.jaakkola_haussler import JAAKKOLA_HAUSSLER

from papers.comparison.estimator import of_one_fit

ESTIMATOR = of_one_fit(JAAKKOLA_HAUSSLER, order=4, color="grey", marker="X", size=7)
