"""The Gram matrix of a data set, whose columns are computed on demand and stored within a budget.

`matrix` has `Gram`, the class for all other packages, with its restrictions to some rows, other kernels and
other memory. `values` reads values, and `whole` computes the whole matrix by blocks. Both use a `Source`
(`source`), which computes values, or copies them from a larger matrix. Its rows are measured from a point
where kernel values keep most digits (`rows`). A `Store` (`store`) has the columns, in compiled slots
(`_columns`), within a `Budget` (`budget`). Kernels, and the passes over panels of their values, are in
`svmselect.kernels`.
"""

from svmselect.gram.budget import matrix_mb
from svmselect.gram.matrix import Gram

__all__ = ["Gram", "matrix_mb"]
