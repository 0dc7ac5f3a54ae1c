"""The exhibits of Bakir et al. (2004), in the order of the report."""

from papers.bakir2004.exhibits import figure1, figure3, figure4, growth, sensitivity, table1

EXHIBITS = (table1, figure1, figure3, figure4, growth, sensitivity)
