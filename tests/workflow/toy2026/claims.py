"""What the toy claims: the numbers that decide it."""

from dataclasses import dataclass

import pandas as pd
from lib.claims import at_most


@dataclass
class Results:
    tidy: pd.DataFrame
    limits: dict


def _few_errors(results):
    for row in results.tidy[results.tidy["metric"] == "test_error"].itertuples():
        quantity = f"test error, percent, {row.setting}"
        yield at_most(row.dataset, "linear", quantity, row.value, results.limits["error"])


TESTS = {"few-errors": _few_errors}
