"""What the toy claims: the numbers that decide it."""

from lib.claims import Results as Results


def claim_few_errors(results):
    for row in results.tidy[results.tidy["metric"] == "test_error"].itertuples():
        quantity = f"test error, percent, {row.setting}"
        yield results.test(row.dataset, quantity, row.value, "<=", "error", kernel="linear")
