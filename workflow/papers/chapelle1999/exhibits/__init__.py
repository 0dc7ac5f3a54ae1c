"""The exhibits of Chapelle and Vapnik (1999), in the order of the report."""

from papers.chapelle1999.exhibits import figure2, figure3, figure4

EXHIBITS = (figure2, figure3, figure4)
