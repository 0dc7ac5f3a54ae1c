"""The models that an estimate of the test error selects."""


def at_minimum(values, test):
    """Return the test errors (DataFrame) of the models where each estimate is least: one for each estimate,
    more if it ties, none without models. Elsewhere they are missing. `values` has a column per estimate, and
    `test` is of the same models; models without both are left out."""
    values = values[test.notna()]
    least = values.eq(values.min())
    return least.where(least).astype(float).mul(test, axis="index")
