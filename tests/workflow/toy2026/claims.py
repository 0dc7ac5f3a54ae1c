"""What the toy claims: the numbers that decide it."""

from lib.claims import Limit, claim
from lib.claims import Results as Results

# The tolerances that the tests use, each with its reason.
LIMITS = {
    "error": Limit(99, "Percent: less than all."),
}


@claim(
    statement="Every model of the toy errs on less than all points.",
    text="No model errs on all points.",
    test="The test error of each C.",
    exhibits=["table1"],
    limits=["error"],
)
def claim_few_errors(results):
    for row in results.tidy[results.tidy["metric"] == "test_error"].itertuples():
        quantity = f"test error, percent, {row.setting}"
        yield results.test(row.dataset, quantity, row.value, "<=", "error", kernel="linear")
