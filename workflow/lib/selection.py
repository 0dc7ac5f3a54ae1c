"""What an estimate of the test error selects."""

from __future__ import annotations

import pandas as pd

__all__ = ["at_minimum"]


def at_minimum(values, test):
    """Test errors (Series) of the models where an estimate is least: one of its own for each, more where it
    ties, none without models.

    Parameters
    ----------
    values, test : Series
        Of the same models; those without both are left out.
    """
    both = pd.DataFrame({"value": values, "test": test}).dropna()
    return both.loc[both["value"] == both["value"].min(), "test"]
