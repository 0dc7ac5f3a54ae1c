"""The estimators, one in each file; `papers.comparison.estimator` finds them and says what a file has."""
