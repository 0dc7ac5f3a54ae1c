"""The Gram matrix of a data set: its columns, where they come from and where they are kept.

`matrix` has `Gram`, which everything outside of this package uses. It puts the rows where a kernel's values
keep most digits (`rows`), has a `Source` compute values or copy them from a larger matrix (`source`,
`values`), and keeps columns in a `Store` (`store`), whose slots and requests are compiled (`_columns`).
Kernels themselves, and the passes over panels of their values, are in `svmselect.kernels`.
"""

from svmselect.gram.matrix import Gram, matrix_mb

__all__ = ["Gram", "matrix_mb"]
