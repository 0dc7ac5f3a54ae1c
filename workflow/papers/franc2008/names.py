"""Names of the methods, kernels and models of the paper."""

KERNELS = ("linear", "rbf")
METHODS = ("standard", "proposed", "unlearn")  # in the order of the tables
ALL_SETS = "all sets"  # no data set has a name like this
# the columns that name one model on one realisation, which is solved once by each method
MODEL = ["dataset", "kernel", "realisation", "C", "gamma"]
