"""Storage of columns, for users who write a Gram matrix that solvers accept.

Solvers use a matrix' ``columns``, a `Columns` with a function that loads absent columns; see
`svmselect.gram.Gram`.
"""

from svmselect.gram._columns import MIN_COLUMNS, Columns, padded_length

__all__ = ["MIN_COLUMNS", "Columns", "padded_length"]
