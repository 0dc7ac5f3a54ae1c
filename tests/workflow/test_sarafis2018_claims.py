"""The claims of sarafis2018: the rows that uphold them, and those that do not."""

import numpy as np
import pytest
from lib.claims import claim_tests, decide
from lib.exhibits import Context
from lib.papers import load_papers
from papers.sarafis2018 import claims
from papers.sarafis2018.claims import Results
from workflow.sarafis2018_rows import exhibits, made_rows

DECLARED = load_papers()["sarafis2018"].claims

# those that the rows made here are about; test_claims.py has all
DECIDED = [
    "span-selects-best",
    "span-predicts-best",
    "spans-exist",
    "span-faster-than-cv",
    "published-sv-counts",
    "published-order",
    "shared-gram",
    "same-cv",
    "factorised-faster-than-cv",
]

TESTS = claim_tests(claims)

CLAIMS = {name: DECLARED["claims"][name] for name in DECIDED}

LIMITS = {name: limit["value"] for name, limit in DECLARED["limits"].items()} | {
    "large": 1000,
    "from_log2_m": 7,
    "best_predictor": 3,
}


def results(tmp_path, rows, root, **limits):
    tidy, published = exhibits(tmp_path, rows, root)
    facts = {"published_rows": ["splice-libsvm"]}
    return Results(tidy, Context(published=published, facts=facts, limits=LIMITS | limits))


def test_claims(tmp_path, root):
    rows = made_rows()
    # as some are printed, there are some
    rows.loc[rows["method"] == "span_bound", "n_empty"] = 0.1
    verdicts, numbers = decide(CLAIMS, TESTS, results(tmp_path, rows, root))
    verdict = verdicts.set_index("claim")["verdict"]
    assert list(verdict.index) == list(CLAIMS)
    good = (
        "span-selects-best",
        "span-predicts-best",
        "spans-exist",
        "span-faster-than-cv",
        "shared-gram",
        "same-cv",
        "factorised-faster-than-cv",
    )
    assert (verdict[list(good)] == "reproduced").all(), numbers
    # made-up numbers of support vectors are not the published ones
    assert verdict["published-sv-counts"] == verdict["published-order"] == "not reproduced"
    ratios = numbers[numbers["claim"] == "span-faster-than-cv"]
    assert (ratios["value"] == 60).all()
    # the sets of 1,000 rows or more, and 256 = 2^8 rows
    assert (ratios["holds"] == "yes").sum() == 3


def test_claims_that_do_not_hold(tmp_path, root):
    rows = made_rows()
    rows.loc[rows["method"] == "span_rule", "estimate"] = (
        0.9 - rows.loc[rows["method"] == "span_rule", "estimate"]
    )
    rows.loc[rows["method"] == "span_bound", "n_empty"] = 2
    rows.loc[rows["method"] == "kfold_libsvm", ["cpu_s", "estimate"]] = [0.4, 0.9]
    verdict = decide(CLAIMS, TESTS, results(tmp_path, rows, root))[0].set_index("claim")["verdict"]
    assert (verdict.drop("span-selects-best") == "not reproduced").all()
    assert verdict["span-selects-best"] != "reproduced"  # the bounds are as bad


def test_the_probability_of_a_count_of_sets():
    assert claims.tail_probability(0, [0.5, 1]) == 1 and claims.tail_probability(3, [0.5, 1]) == 0
    assert claims.tail_probability(2, [0.5, 1]) == 0.5 and claims.tail_probability(2, [0.5, 0.5, 0.5]) == 0.5
    # against the sum over all outcomes
    shares = np.array([0.2, 0.7, 0.4])
    outcomes = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    probabilities = np.where(outcomes, shares, 1 - shares).prod(axis=1)
    expected = probabilities[outcomes.sum(axis=1) >= 2].sum()
    assert claims.tail_probability(2, shares) == pytest.approx(expected)


def test_claims_need_results(tmp_path, root):
    rows = made_rows()
    verdict = decide(CLAIMS, TESTS, results(tmp_path, rows[rows["experiment"] == "size"], root))[0].set_index(
        "claim"
    )["verdict"]
    assert verdict["span-selects-best"] == verdict["shared-gram"] == "not testable here"
