"""The exhibits of Wen et al. (2017), in the order of the report."""

from papers.wen2017.exhibits import agreement, agreement_points, figure2, folds, seeds, table1, table2, table3

EXHIBITS = (table1, table2, table3, figure2, seeds, folds, agreement, agreement_points)
