"""The exhibits of Franc et al. (2008), in the order of the report."""

from papers.franc2008.exhibits import agreement, agreement_points, figure1, speedup, table2, table3

EXHIBITS = (table2, table3, figure1, agreement, agreement_points, speedup)
