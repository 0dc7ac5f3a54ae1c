"""The exhibits of the comparison, in the order of the report."""

from papers.comparison.exhibits import cost, estimators, regret, rmse, tradeoff

EXHIBITS = (regret, rmse, cost, estimators, tradeoff)
