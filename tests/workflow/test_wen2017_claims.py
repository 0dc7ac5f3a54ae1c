"""The claims of wen2017: the rows that uphold them, and those that do not."""

import pytest
from lib.claims import claim_tests, decide
from lib.exhibits import Context
from lib.papers import load_papers
from lib.tolerances import read_published
from papers.wen2017 import claims
from papers.wen2017.claims import Results
from papers.wen2017.exhibits import agreement, table1, table3
from workflow.wen2017_rows import drawn, made_rows, tidy_rows, with_unlearning

DECLARED = load_papers()["wen2017"].claims

# those that the rows made here are about; test_claims.py has all
DECIDED = [
    "same-accuracy",
    "seeding-speed-shared",
    "seeding-cost",
    "seeding-iterations",
    "cold-counts",
    "seeded-counts",
    "faster",
    "default-seed",
    "unlearning",
]

TESTS = claim_tests(claims)

CLAIMS = {name: DECLARED["claims"][name] for name in DECIDED}

LIMITS = {name: limit["value"] for name, limit in DECLARED["limits"].items()}


def parts_of(tmp_path, module, rows):
    return {part: tidy_rows(tmp_path, module, rows, part) for part in module.PARTS}


def test_the_claim_of_unlearning(tmp_path, root):
    def decided(rows):
        verdicts, numbers = decide(CLAIMS, TESTS, exhibits(tmp_path, root, rows))
        entry = numbers[numbers["claim"] == "unlearning"].set_index("quantity")["value"]
        return verdicts.set_index("claim")["verdict"], entry

    verdict, _ = decided(made_rows())
    assert verdict["unlearning"] == "not testable here"
    assert decided(with_unlearning(made_rows()))[0].drop("unlearning").equals(verdict.drop("unlearning"))
    verdict, entry = decided(with_unlearning(made_rows()))
    assert verdict["unlearning"] == "reproduced"
    assert entry["LIBSVM / unlearning, published, k=100"] == pytest.approx(2000 / (1 + 0.5 + 0.1))
    assert entry["fastest seed / unlearning, published, k=100"] == pytest.approx((0.5 + 9.9 + 5) / 0.6)
    assert decided(with_unlearning(made_rows(), full_cpu_s=1e3))[0]["unlearning"] == "not reproduced"
    verdict, _ = decided(with_unlearning(made_rows(), full_cpu_s=1e5, estimate=0.5))
    assert verdict["unlearning"] == "not reproduced"


def exhibits(tmp_path, root, rows):
    """Results that claims are decided from."""
    tidy = {
        **drawn(tmp_path, rows),
        "table1": parts_of(tmp_path, table1, rows),
        "table3": parts_of(tmp_path, table3, rows),
        "agreement": tidy_rows(tmp_path, agreement, rows),
    }
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    return Results(tidy, Context(published=published, limits=LIMITS))


def test_claims(tmp_path, root):
    verdicts, numbers = decide(CLAIMS, TESTS, exhibits(tmp_path, root, made_rows()))
    verdict = verdicts.set_index("claim")["verdict"]
    assert list(verdict.index) == list(CLAIMS)
    held = ["same-accuracy", "seeding-speed-shared", "seeding-iterations", "cold-counts", "faster"]
    assert verdict[held].eq("reproduced").all(), numbers
    # ATO, MIR and SIR spend the same here
    assert verdict["seeding-cost"] == "reproduced"
    assert verdict["seeded-counts"] == "not testable here"
    # made-up seeds save much more than cold starts would bear
    assert verdict["default-seed"] == "not reproduced"
    result = numbers.set_index(["claim", "quantity"])["value"]
    assert result["cold-counts", "cold iterations, relative difference"] == 0
    assert result["seeded-counts", "sir iterations, relative difference"] == 0
    assert result["default-seed", "CPU time, fastest seed (sir) / cold, published, k=10"] == pytest.approx(
        0.38
    )
    ratio = result["faster", "LIBSVM / fastest of ours (top), k=100, LIBSVM extrapolated from folds: 2"]
    assert ratio == pytest.approx(2000 / (1 + 0.5 + 9.9 + 5))


def test_claims_without_libsvm_are_not_tested(tmp_path, root):
    rows = made_rows()
    verdicts, _ = decide(CLAIMS, TESTS, exhibits(tmp_path, root, rows[rows["method"] != "libsvm"]))
    verdict = verdicts.set_index("claim")["verdict"]
    assert verdict["faster"] == verdict["seeding-speed-shared"] == "not testable here"
    assert verdict["seeding-iterations"] == "reproduced"


def test_claims_that_do_not_hold(tmp_path, root):
    rows = made_rows()
    rows.loc[rows["method"] == "cold", "round_n_iter"] = rows.loc[
        rows["method"] == "cold", "round_n_iter"
    ].map(lambda counts: [150] * len(counts))
    slow = rows["method"] == "libsvm"
    rows.loc[slow, "round_training_cpu_s"] = rows.loc[slow, "round_n_iter"].map(
        lambda counts: [0.1] * len(counts)
    )
    verdicts, numbers = decide(CLAIMS, TESTS, exhibits(tmp_path, root, rows))
    verdict = verdicts.set_index("claim")["verdict"]
    for claim in ("seeding-speed-shared", "seeding-iterations", "cold-counts", "faster"):
        assert verdict[claim] == "not reproduced", numbers[numbers["claim"] == claim]
