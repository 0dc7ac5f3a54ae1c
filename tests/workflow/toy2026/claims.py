"""What the toy claims: the numbers that decide it."""

from lib.claims import Results as Results
from lib.claims import at_most


def claim_few_errors(results):
    for row in results.tidy[results.tidy["metric"] == "test_error"].itertuples():
        quantity = f"test error, percent, {row.setting}"
        yield at_most(row.dataset, "linear", quantity, row.value, results.limits["error"])
