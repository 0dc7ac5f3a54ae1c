"""The Gram matrix of a data set: its columns, where they come from and where they are kept.

`matrix` has `Gram`, which everything outside of this package uses: it makes the matrices of some rows, of
other kernels and of other memory. Reading values is in `values`, and the whole matrix by blocks in `whole`.
Both have a `Source` compute values or copy them from a larger matrix (`source`), from rows that lie where a
kernel's values keep most digits (`rows`). Columns are kept in a `Store` (`store`), whose slots and requests
are compiled (`_columns`), within a `Budget` (`budget`). Kernels themselves, and the passes over panels of
their values, are in `svmselect.kernels`.
"""

from svmselect.gram.budget import matrix_mb
from svmselect.gram.matrix import Gram

__all__ = ["Gram", "matrix_mb"]
