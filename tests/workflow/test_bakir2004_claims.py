"""The claims of bakir2004: the rows that uphold them, and those that do not."""

import pandas as pd
import pytest
from lib.claims import claim_tests, decide
from lib.exhibits import Context
from lib.papers import load_papers
from lib.rows import ERROR
from papers.bakir2004 import claims
from papers.bakir2004.claims import Results
from workflow.bakir2004_rows import made_rows, published, tidy

DECLARED = load_papers()["bakir2004"].claims

# those that the rows made here are about; test_claims.py has all
DECIDED = [
    "scales",
    "svs-constant",
    "accuracy",
    "faster",
    "table-accuracy",
    "table-svs",
    "cost",
    "svms-edit-better",
    "disappointing-until-rebalanced",
    "more-sensitive",
    "both-C-matter",
]

TESTS = claim_tests(claims)

CLAIMS = {name: DECLARED["claims"][name] for name in DECIDED}

LIMITS = {name: limit["value"] for name, limit in DECLARED["limits"].items()} | {
    "loss": 2,
    "faster_from": 1000,
}


def rows_of_two_sizes():
    """The rows, and those of a set of two sizes, the larger the largest of all."""
    rows = made_rows()
    (row,) = rows[
        (rows["dataset"] == "other") & (rows["method"] == "cross_training") & (rows["m"] == 6400)
    ].to_dict("records")
    sizes = [
        {
            **row,
            "dataset": "grown",
            "m": m,
            "method": method,
            "errors": errors,
            "estimate": errors / 1000,
            "cpu_s": cpu_s,
        }
        for m, errors, times in (
            (1600, 120, {"svm": 1.0, "cross_training": 1.0}),
            (6500, 100, {"svm": 4.0, "cross_training": 2.0}),
        )
        for method, cpu_s in times.items()
    ]
    return pd.concat([rows, pd.DataFrame(sizes)], ignore_index=True)


def verdicts_of(tmp_path, rows):
    context = Context(published=published(tmp_path), limits=LIMITS, settings={"figure4": {"runs": 1}})
    results = Results(tidy(tmp_path, rows), context)
    verdicts, numbers = decide(CLAIMS, TESTS, results)
    return verdicts.set_index("claim"), numbers


def test_claims(tmp_path):
    verdicts, numbers = verdicts_of(tmp_path, rows_of_two_sizes())
    assert list(verdicts.index) == list(CLAIMS)
    held = verdicts["verdict"] == "reproduced"
    assert held.drop(index="table-svs").all(), numbers
    # 600 against 700, and 300 against 100
    assert verdicts["verdict"]["table-svs"] != "reproduced"
    values = numbers.set_index(["claim", "dataset", "quantity"])["value"]
    slope = "slope of the SVs over training points, cross-training / SVM"
    assert values["svs-constant", "g 2", slope] == pytest.approx(0.001 / 0.4)
    assert verdicts["tests"]["faster"] == 3


def test_claims_that_do_not_hold(tmp_path):
    rows = rows_of_two_sizes()
    edited = rows["method"] == "cross_training"
    rows.loc[edited, "n_sv"] = 0.2 * rows.loc[edited, "m"] + 2e5 * rows.loc[edited, "level"].fillna(0)
    rows.loc[edited, "cpu_s"] = 1e5
    rows.loc[edited, "estimate"] += 0.1
    rows.loc[edited & (rows["dataset"] == "other"), "status"] = ERROR
    rows.loc[edited & (rows["m"] == 1600), ["cpu_s", "estimate"]] = 1.0, 0.1
    rows.loc[edited & (rows["dataset"] == "d"), "status"] = ERROR
    verdict = verdicts_of(tmp_path, rows)[0]["verdict"]
    assert verdict["svs-constant"] != "reproduced"
    assert verdict["faster"] == verdict["scales"] == verdict["svms-edit-better"] == "not reproduced"
    assert verdict["accuracy"] != "reproduced" and verdict["cost"] != "reproduced"


def test_claims_need_results(tmp_path):
    rows = made_rows()
    verdict = verdicts_of(tmp_path, rows[rows["experiment"] == "table1"])[0]["verdict"]
    assert verdict["svs-constant"] == verdict["faster"] == "not testable here"
