"""The exhibits of Sarafis et al. (2018), in the order of the report."""

from papers.sarafis2018.exhibits import (
    draws,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    table1,
    table2,
    table3,
    table4,
    table5,
    table6,
)

EXHIBITS = (
    table1,
    table2,
    table3,
    table4,
    table5,
    table6,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    draws,
)
