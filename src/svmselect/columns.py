"""Storage of columns, for who makes a Gram matrix of their own that solvers accept.

Solvers ask for a matrix's ``columns``, a `Columns` that is given a function to load what is absent; see
`svmselect.gram.Gram`.
"""

from svmselect.gram._columns import MIN_COLUMNS, Columns, padded_length

__all__ = ["MIN_COLUMNS", "Columns", "padded_length"]
