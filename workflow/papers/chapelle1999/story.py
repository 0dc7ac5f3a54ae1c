"""Values of the paper's story, and checks of its sentences."""

from lib.story import check, digits, fixed, named

# what the paper claims, and whether it holds; `values` checks the sentence
IN_BRIEF = (
    "claim that one fit, by the span of its support vectors, predicts the test error of an SVM at a small "
    "part of the cost of leave-one-out; this holds."
)


def values(results):
    """Return the values that story.md names. A sentence that the results contradict raises `Untrue`."""
    claims = results.csv("claims").query("by == 'paper'")
    check((claims["verdict"] == "reproduced").all(), "all claims of the paper hold")
    numbers = results.csv("claims_numbers").set_index(["dataset", "quantity"])["value"]
    above = "test error above the least where the span rule is least, percentage points, {}"
    return {
        "claims": named(len(claims)),
        "above_usps": digits(numbers["usps", above.format("log_sigma")], 1),
        "above_cancer": digits(numbers["breast-cancer", above.format("log_C")], 1),
        "over_training": digits(numbers["usps", "CPU time, span rule / training"]),
        "over_span": digits(numbers["usps", "CPU time, leave-one-out by retraining / span rule"]),
        "rank": fixed(numbers["usps", "rank correlation with the test error, rescaled"], 2),
    }
