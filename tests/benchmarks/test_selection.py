"""The rules that choose a model, on grids made by hand; and the program on a small problem."""

import csv
import subprocess
import sys

import numpy as np
import pytest
import selection

from svmselect.sklearn import SVC

CS, GAMMAS = [1.0, 10.0, 100.0], [0.1, 1.0, 10.0]


def grid(errors, m=100, test=None):
    """A Grid with these errors of the RBF kernel, shape (gammas, Cs), and of linear models that are worse."""
    rows = []
    for name, table in (("0.5", np.full((1, 3), 0.9)), (None, np.asarray(errors))):
        for g, row in enumerate(table):
            for c, error in enumerate(row):
                gamma = "" if name else str(GAMMAS[g])
                values = dict.fromkeys(selection.ESTIMATES, str(error))
                value = 0.5 if test is None or name else test[g][c]
                rows.append({"rows": str(m), "gamma": gamma, "C": str(CS[c]), "test": str(value), **values})
    return selection.Grid(rows)


def chosen(rule, errors, **options):
    result = grid(errors, **options)
    number = selection.chosen(result, "loo", rule)
    return result.C[number], result.gamma[number]


def test_of_ties_the_first_of_the_grid_is_the_least():
    assert chosen("least", [[0.5, 0.2, 0.5], [0.5, 0.2, 0.1], [0.1, 0.5, 0.5]]) == (1.0, 10.0)
    assert chosen("least", [[0.5, 0.1, 0.5], [0.5, 0.1, 0.1], [0.3, 0.5, 0.5]]) == (10.0, 0.1)


def test_the_average_prefers_a_valley_to_a_hole():
    errors = [[0.5, 0.5, 0.3], [0.0, 0.5, 0.11], [0.5, 0.4, 0.3]]
    assert chosen("least", errors) == (1.0, 1.0)
    assert chosen("averaged", errors) == (100.0, 1.0)
    result = grid(errors)
    smooth = result.averaged("loo")
    position = np.flatnonzero((result.C == 10.0) & (result.gamma == 1.0))[0]
    table = np.array(errors)
    by_hand = (4 * table[1, 1] + 2 * (table[0, 1] + table[2, 1] + table[1, 0] + table[1, 2])) / 16
    by_hand += (table[0, 0] + table[0, 2] + table[2, 0] + table[2, 2]) / 16
    assert smooth[position] == pytest.approx(by_hand)
    corner = np.flatnonzero((result.C == 1.0) & (result.gamma == 0.1))[0]  # the border repeated
    assert smooth[corner] == pytest.approx((9 * 0.5 + 3 * 0.5 + 3 * 0.0 + 0.5) / 16)
    assert smooth[result.gamma == 0] == pytest.approx(0.9)


def test_the_smallest_C_within_standard_errors():
    errors = [[0.3, 0.16, 0.1], [0.14, 0.12, 0.2], [0.5, 0.5, 0.5]]
    # the least is 0.1, its standard error for 100 rows 0.03
    assert chosen("smallest C, one", errors) == (10.0, 1.0)
    assert chosen("smallest C, half", errors) == (100.0, 0.1)
    assert chosen("smallest C, one", errors, m=50) == (1.0, 1.0)


def test_the_smallest_C_after_averaging():
    errors = [[0.5, 0.5, 0.3], [0.0, 0.5, 0.11], [0.5, 0.4, 0.3]]
    averaged = grid(errors).averaged("loo")
    result = grid(errors)
    assert chosen("averaged", errors) == (100.0, 1.0)
    # of all averages the one of C = 1 is nearest, and within a standard error of 10 rows
    position = selection.chosen(grid(errors, m=10), "loo", "averaged, smallest C, one")
    assert (
        result.C[position] == 1.0
        and averaged[position] == averaged[(result.C == 1.0) & (result.gamma > 0)].min()
    )
    assert chosen("averaged, smallest C, half", errors, m=10**6) == (100.0, 1.0)


def test_the_middle_of_those_that_are_nearly_as_good():
    errors = [[0.12, 0.12, 0.5], [0.12, 0.12, 0.1], [0.5, 0.12, 0.12]]
    assert chosen("least", errors) == (100.0, 1.0)
    assert chosen("middle, one", errors) == (10.0, 1.0)
    assert chosen("middle, half", errors, m=10**6) == (100.0, 1.0)
    # linear models stand one step below the smallest gamma
    assert chosen("middle, one", np.full((3, 3), 0.9), m=10**6) == (10.0, 0.1)


def test_rules_are_told_from_those_made_up_later(tmp_path):
    """`later_regret` is of realisations that nobody had looked at, and costs are those of the comparison."""
    rows = []
    for dataset in ("a", "b"):
        for realisation in (1, 4):
            for C, test in ((1.0, 0.1), (10.0, 0.1 + 0.01 * realisation)):
                values = dict.fromkeys(selection.ESTIMATES, str(0.3 if C == 1.0 else 0.2))
                options = {"dataset": dataset, "realisation": str(realisation), "rows": "100", "C": str(C)}
                for gamma in ("", "0.1", "1.0"):
                    rows.append({**options, "gamma": gamma, "test": str(test), **values})
    result, report = selection.summary(rows)
    least = next(row for row in result if row["estimate"] == "loo" and row["rule"] == "least")
    assert (least["regret"], least["later_regret"]) == ("2.500", "4.000")
    costs = {row["estimate"]: float(row["fits"]) for row in result if row["fits"]}
    assert costs.keys() == selection.COSTS.keys()
    assert 1 < costs["span"] < costs["cv3"] < costs["cv5"] < costs["cv10"]
    assert "| 3-fold error | least | 2.500 | 4.000 |" in report


def test_regret_is_that_of_the_test_rows():
    test = [[0.5, 0.2, 0.5], [0.1, 0.3, 0.4], [0.4, 0.4, 0.4]]
    result = grid([[0.5, 0.2, 0.5], [0.5, 0.2, 0.1], [0.4, 0.4, 0.4]], test=test)
    assert result.regret(selection.least(result.values["loo"])) == pytest.approx(30)


def test_halves_report_where_they_did_not_choose():
    """A rule that is best on every set is chosen always; one that is luck is not as good as it looked."""
    rng = np.random.default_rng(0)
    rules = [("loo", "least"), ("loo", "averaged"), ("cv3", "least"), ("span", "least")]
    table = rng.normal(1, 1, size=(4, 20))
    table[0] = table[1] - 0.5
    result = selection.halves(table, rules, np.random.default_rng(1))
    regret, rule, share = result["leave-one-out"]
    assert rule == rules[0] and share == 1 and regret == pytest.approx(table[0].mean(), abs=0.05)
    # two rules that are equally good: the better one of a half is no better on the other
    table[:2] = rng.normal(size=(2, 20))
    regret, _, share = selection.halves(table, rules, np.random.default_rng(1))["leave-one-out"]
    assert share < 1 and regret > table[:2].mean(axis=1).min()


def test_losses_of_left_out_rows():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=60) > 0, 1.0, -1.0)
    model = SVC(C=2.0, gamma=0.5, calibration="loo").fit(X, y)
    result = selection.losses(y, model.loo_decision_)
    margin = y * model.loo_decision_
    assert result["loo"] == model.loo_error_
    assert result["loo_hinge"] == pytest.approx(np.maximum(0, 1 - margin).mean())
    assert result["loo_smooth"] == pytest.approx(np.mean(1 / (1 + np.exp(4 * margin))))
    assert result["loo_log"] == pytest.approx(-model.loo_score("neg_log_loss"), rel=1e-6)


@pytest.mark.slow
def test_the_program_writes_every_model_once(benchmarks, mirror, tmp_path):
    output = tmp_path / "selection.csv"
    command = [sys.executable, benchmarks / "selection.py", "--output", output]
    command += ["--datasets", "thyroid", "--realisations", "1"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    with open(tmp_path / "selection_models.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 69 and len({(row["gamma"], row["C"]) for row in rows}) == 69
    before = output.read_bytes()
    assert subprocess.run([*command, "--report"], check=False).returncode == 0
    assert output.read_bytes() == before
    with open(output, newline="") as file:
        assert len(list(csv.DictReader(file))) == 54
