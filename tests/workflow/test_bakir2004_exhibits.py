"""The exhibits of bakir2004: tables and figures from rows."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from lib.exhibits import Context
from lib.rows import ERROR
from lib.run import planned
from lib.timing import measured_memory
from papers.bakir2004 import causes, cells
from papers.bakir2004.exhibits import figure1, figure3, figure4, growth, sensitivity, table1
from papers.bakir2004.exhibits.table1 import extrapolated
from papers.bakir2004.problem import gaussians, scaled, squares
from scipy import sparse
from workflow.bakir2004_rows import SETUP, made_rows, published
from workflow.exhibit_calls import assert_stable, table_of, tidy_of


def test_squares_share_a_strip():
    X, y = squares(4000, 0.3, np.random.default_rng(0))
    assert X[y < 0, 0].max() <= 1 and X[y > 0, 0].min() >= 0.7
    common = (X[:, 0] > 0.7) & (X[:, 0] < 1)
    # in the strip both classes are equally likely: the best rule errs on half of it
    assert np.mean(common) / 2 == pytest.approx(0.15, abs=0.01)
    assert np.mean(y[common] > 0) == pytest.approx(0.5, abs=0.03)


def test_deviation_of_the_gaussians_sets_the_bayes_risk():
    """The arithmetic behind ``figure3.deviations``."""
    for deviation, risk in ((2, 0.132), (4, 0.288)):
        assert NormalDist().cdf(-np.sqrt(5) / deviation) == pytest.approx(risk, abs=5e-4)
        X, y = gaussians(40000, deviation, np.random.default_rng(1))
        assert np.mean(np.sign(X[:, :5].sum(axis=1)) != y) == pytest.approx(risk, abs=0.007)
    assert gaussians(7, 1.0, np.random.default_rng(0))[1].sum() == -1


def test_scales_are_those_of_the_training_rows():
    rng = np.random.default_rng(2)
    X, X_test = rng.normal(3, 2, (50, 3)), rng.normal(3, 2, (20, 3))
    X[:, 1] = X_test[:, 1] = 5
    ours, test = scaled(X, X_test, "range")
    assert (ours.min(axis=0) == 0).all() and ours.max(axis=0).tolist() == [1, 0, 1]
    np.testing.assert_allclose((test - ours[0]) * np.ptp(X, axis=0), X_test - X[0], atol=1e-12)
    ours, _ = scaled(X, X_test, "deviation")
    np.testing.assert_allclose(ours.std(axis=0), [1, 0, 1])
    np.testing.assert_allclose(ours.mean(axis=0), 0, atol=1e-12)
    assert abs(scaled(X, X_test, "largest")[0]).max() == 1
    assert scaled(X, X_test, "none")[0] is X
    rows = sparse.csr_matrix(X)
    assert abs(scaled(rows, rows, "largest")[0]).max() == 1
    with pytest.raises(ValueError, match="'none' or 'largest' for sparse rows, got 'range'"):
        scaled(rows, rows, "range")
    with pytest.raises(ValueError, match="scale must be one of"):
        scaled(X, X_test, "unit")


def test_memory_of_a_block():
    with measured_memory() as nothing:
        pass
    with measured_memory() as some:
        array = np.ones(4 * 2**20)  # 32 MB
        del array
    assert nothing.peak_mb < 5 < 25 < some.peak_mb < 60


def test_exhibits_are_means_over_the_runs(tmp_path):
    rows = made_rows()
    values = tidy_of(tmp_path, figure1, rows).set_index(["setting", "metric"])["value"]
    assert values["0.2", "svs_bounded"] == 80 and values["0.2", "svs_inbound"] == 3
    values = tidy_of(tmp_path, figure3, rows).set_index(["dataset", "setting", "method", "metric"])
    assert values["value"]["g 2", "1000", "svm", "error"] == pytest.approx(13.15)
    assert values["spread"]["g 2", "1000", "svm", "error"] == pytest.approx(np.sqrt(0.005))
    values = tidy_of(tmp_path, figure4, rows).set_index(["setting", "method", "metric"])["value"]
    assert values["10", "nu_svm", "svs"] == 5000 and values["10", "svm", "clean_error"] == pytest.approx(1)
    rows.loc[(rows["experiment"] == "growth") & (rows["m"] == 800), "status"] = ERROR
    values = tidy_of(tmp_path, growth, rows).set_index(["setting", "method", "metric"])["value"]
    assert values["800", "svm", "failed"] == 1 and ("800", "svm", "time") not in values
    assert values["400", "svm", "memory"] == 100


def test_sensitivity_is_over_all_values_of_C(tmp_path):
    rows = made_rows()
    stages = {"cells": rows, "sensitivity": rows[rows["experiment"] == "sensitivity"]}
    values = tidy_of(tmp_path, sensitivity, stages).set_index(["method", "metric"])["value"]
    accuracy = values.xs("accuracy", level="metric").to_dict()
    assert accuracy == pytest.approx({"svm": 90, "cross_training": 89, "unbalanced": 86, "unadjusted": 84})
    assert values["svm", "lost_on_average"] == pytest.approx(1.5)
    assert values["cross_training", "lost_on_average"] == pytest.approx((0 + 3 + 9 + 12) / 4)
    assert values["cross_training", "range_over_first_C"] == pytest.approx(9)
    assert values["cross_training", "range_over_final_C"] == pytest.approx(3)


def test_table1_tests_pairs_and_extrapolates_what_was_not_run(tmp_path):
    rows = made_rows()
    values = tidy_of(tmp_path, table1, rows)
    table = values.set_index(["dataset", "method", "metric"])["value"]
    assert table["d", "svm", "accuracy"] == pytest.approx(90)
    # 10 errors of one alone and none of the other
    assert table["d", "cross_training", "p_value"] == pytest.approx(2 * 0.5**10)
    assert table["small", "multiedit_condense", "p_value"] < 1e-3
    assert table["other", "svm", "svs_extrapolated"] == pytest.approx(3200)
    assert table["other", "svm", "time_extrapolated"] == pytest.approx(1e-6 * 6400**2)
    assert ("d", "svm", "svs_extrapolated") not in table
    assert list(extrapolated(rows, "small", 6400)) == []
    body, notes = table_of(table1, values, published=published(tmp_path))
    by_set = {cells[0]: cells for cells in body}
    assert by_set["d"][1] == "4000 (4000)"
    assert by_set["d"][3:7] == ["5 x 100", "90.0 (91)", "600 (700)", "89.0*"]
    assert by_set["other"][5] == "~3200 (extrapolated)" and by_set["other"][4] == "n/a"
    assert any(note.startswith("Extrapolated") for note in notes)
    rows.loc[(rows["dataset"] == "d") & (rows["method"] == "multiedit_condense"), "status"] = ERROR
    body, notes = table_of(table1, tidy_of(tmp_path, table1, rows), published=published(tmp_path))
    assert any("d with 4000 training rows, MULTIEDIT + CONDENSE: 1" in note for note in notes)
    assert body[0][8:10] == ["n/a", "n/a"]


def test_the_axis_of_clean_errors_is_that_of_the_paper(tmp_path):
    tidy = tidy_of(tmp_path, figure4, made_rows())
    far = tidy[tidy["method"] == "nu_svm"].assign(method="multiedit_condense", value=90.0)
    highest = tidy[tidy["metric"] == "clean_error"].query("method != 'multiedit_condense'")["value"].max()
    printed = published(tmp_path)
    ends = printed.query("exhibit == 'figure4' and metric == 'clean_error'")["value"]
    fig = figure4.figure(pd.concat([tidy, far]), Context(published=printed))
    tops = [ax.get_ylim()[1] for ax in fig.axes]
    assert tops[2] == pytest.approx(1.05 * max([*ends, highest])) and tops[1] > 90
    assert "C-SVM" in [text.get_text() for text in fig.legends[0].get_texts()]


def test_a_figure_of_other_data_names_them_and_has_axes_of_its_own(tmp_path):
    tidy = tidy_of(tmp_path, figure4, made_rows())
    printed = pd.DataFrame({"exhibit": "figure4", "metric": ["svs"], "value": [8000.0]})
    tidy.loc[tidy["metric"] == "svs", "value"] = 100.0
    facts = {"figure4_data": "digits of scikit-learn", "figure4_printed_data": "; others"}
    fig = figure4.figure(tidy, Context(published=printed, facts=facts))
    assert fig.axes[0].get_title(loc="left") == "Data: digits of scikit-learn"
    assert fig.axes[0].get_ylim()[1] < 200
    (plan, _, _) = planned()
    assert plan["bakir2004"].plan.facts["figure4_data"] == "digits 3 against 8 of scikit-learn"


def test_the_run_that_fits_the_axis_is_a_mark_of_its_own(tmp_path):
    rows = made_rows()
    without = tidy_of(tmp_path, figure3, {"cells": rows})
    both = tidy_of(tmp_path, figure3, {"cells": rows, "variance_of_four": rows})
    assert set(both["method"]) - set(without["method"]) == {"svm_large_C"}


@pytest.mark.slow
@pytest.mark.parametrize("module", [figure1, figure3, figure4, growth])
def test_figures_are_stable_and_described(tmp_path, module):
    values = tidy_of(tmp_path, module, made_rows())
    settings = {"figure4": {"dataset": "mnist-3v8"}}
    assert_stable(tmp_path, module, values, published=published(tmp_path), settings=settings)


def test_setup_takes_single_precision_for_large_matrices():
    setup = cells.Setup(**SETUP, seed=[1])
    assert setup.solver(20_000)["dtype"] == "float64" and setup.solver(20_001)["dtype"] == "float32"
    assert replace(setup, gamma=None).solver(30_000)["dtype"] == "float64"
    assert setup.validation(100) == 13 and replace(setup, subset_size=None).validation(100) == 11


def test_published_figures_have_their_counterparts(tmp_path, scorecard_of):
    rows = made_rows()
    rows = rows[rows["experiment"].isin(["table1", "growth"])]
    # as the largest sets: the SVM is not run, and extrapolated from the growth
    rows = rows.replace({"dataset": {"small": "banana", "other": "forest"}})
    rows.loc[(rows["experiment"] == "table1") & (rows["dataset"] == "forest"), "m"] = 90000
    card = scorecard_of("bakir2004", tidy_of(tmp_path, table1, rows))
    entry = card[card["dataset"] == "banana"].set_index(["method", "metric"])
    assert (entry["reproduced"] != "").all()
    assert entry.loc[("cross_training", "subsets"), ["reproduced", "within"]].tolist() == ["5x100", "no"]
    large = card[card["setting"] == "train=90000"].set_index(["method", "metric"])
    assert large.loc[("cross_training", "accuracy"), "reproduced"] == "90"
    assert "adult" in set(card.loc[card["reason"] == "data set not run: adult", "dataset"])
    assert large.loc[("svm", "svs"), "extrapolated"] == "reproduced"
    assert large.loc[("svm", "accuracy"), "reason"] == "not run at this size, and not extrapolated"


def test_draws_of_table1_are_measured_where_there_are_several():
    one = made_rows().query("experiment == 'table1' and dataset == 'd' and method == 'svm'")
    one = one[one["realisation"] == one["realisation"].min()]
    assert list(causes.draws_of_table1(one)) == []
    two = pd.concat([one, one.assign(realisation=one["realisation"] + 1, n_sv=one["n_sv"] + 20)])
    spreads = {row["metric"]: row["spread"] for row in causes.draws_of_table1(two)}
    assert spreads == pytest.approx({"accuracy": 0, "svs": np.sqrt(200)})
