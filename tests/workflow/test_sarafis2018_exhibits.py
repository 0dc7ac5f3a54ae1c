"""The exhibits of sarafis2018: tables and figures from rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from lib.exhibits import Context
from lib.rows import ERROR
from lib.tables import TIDY_COLUMNS, at_minimum
from papers.sarafis2018 import causes, cells
from papers.sarafis2018.exhibits import draws, figure2, figure4, figure5, figure6, table2, table5
from papers.sarafis2018.exhibits.published_beside import lookup
from papers.sarafis2018.exhibits.selections import same_pairs
from papers.sarafis2018.exhibits.table5 import sv_counts_agree
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS, on, stripes, weights
from workflow.exhibit_calls import assert_stable, table_of, tidy_of
from workflow.sarafis2018_rows import AXES, TABLES, exhibits, made_rows

SETTINGS = {"figures": {"figure2": "image", "figure4": "bank-marketing"}}
# what Table 5 and Figure 5 need
VALUES = {"facts": {"published_rows": ["splice-libsvm"]}, "limits": {"sv_counts": 0.1, "from_log2_m": 12}}


def test_class_weights_are_a_grid_in_stripes_of_one_C_negative():
    grid = stripes(CLASS_WEIGHTS, {"log2_C": [-1, 0, 1]})
    assert [len(stripe) for stripe in grid] == [3, 3, 3]
    assert [model["C_negative"] for stripe in grid for model in stripe] == [0.5] * 3 + [1] * 3 + [2] * 3
    assert [model["C_positive"] for model in grid[1]] == [0.5, 1, 2]
    y = np.array([1.0, -1.0, 1.0])
    np.testing.assert_array_equal(weights(grid[2][0], y, None), [0.5, 2, 0.5])


def test_instance_weights_follow_the_scores():
    grid = stripes(INSTANCE_WEIGHTS, AXES)
    assert len(grid) == 3 and all(len(stripe) == 4 for stripe in grid)
    assert {(model["A"], model["B"]) for model in grid[0]} == {(1, 0), (1, 0.5), (5, 0), (5, 0.5)}
    model = {"A": 5, "B": 0.5, "C": 16.0}
    q = np.array([0.0, 0.5, 1.0])
    np.testing.assert_allclose(weights(model, None, q), 16 / (1 + np.exp(5 * (0.5 - q))))
    np.testing.assert_array_equal(weights({**model, "C": 1e-3}, None, q), [0.01] * 3)


def test_sub_grids_are_counted_on_the_whole_axes():
    part = stripes(CLASS_WEIGHTS, {"log2_C": list(range(9))}, every=2)
    assert [model["C_positive"] for model in part[0]] == [1, 4, 16, 64, 256]
    models = [model for stripe in part for model in stripe]
    assert sum(on(model, 2) for model in models) == 25
    assert sum(on(model, 4) for model in models) == 9
    assert not any(on(model, 0) for model in models)


def test_features_are_scaled_by_the_training_part():
    X = np.array([[0.0, 3.0, 5.0], [4.0, 3.0, 7.0]])
    X, X_test = cells.unit_range(X, np.array([[8.0, 9.0, 6.0]]))
    np.testing.assert_array_equal(X, [[0, 0, 0], [1, 0, 1]])
    np.testing.assert_array_equal(X_test, [[2, 0, 0.5]])


def test_scores_of_one_class():
    y, column = np.array([1.0, -1.0, 1.0, 1.0]), np.array([5.0, 1.0, 25.0, 10.0])
    np.testing.assert_array_equal(cells.scores(column, y, "positive"), [0, 1, 1, 0.25])
    np.testing.assert_array_equal(cells.scores(column, y, "all"), [1 / 6, 0, 1, 0.375])
    np.testing.assert_array_equal(cells.scores(np.ones(4), y, "all"), np.zeros(4))


def test_membership_is_largest_at_the_mean_of_the_class():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
    q = cells.scores(cells.membership(X, np.array([1, 1, 1, -1])), np.ones(4), "all")
    np.testing.assert_array_equal(q, [0, 0, 1, 1])


def test_models_where_an_estimate_is_least():
    values = pd.DataFrame({"ties": [0.1, 0.1, 0.2, np.nan, 0.05], "one": [2, 3, 1, 0.5, 0], "none": np.nan})
    errors = at_minimum(values, pd.Series([0.3, 0.4, 0.1, 0.9, np.nan]))
    assert {name: known.dropna().tolist() for name, known in errors.items()} == {
        "ties": [0.3, 0.4],
        "one": [0.9],
        "none": [],
    }
    assert np.isnan(errors.max()["none"])


def test_pairs_in_the_same_order():
    one = {"span_rule": 1, "span_bound": 4, "kfold": 2, "xi_alpha": 4}
    assert same_pairs(one, one) == 6
    assert same_pairs(one, {**one, "xi_alpha": 5}) == 5
    assert same_pairs(one, {rule: -error for rule, error in one.items()}) == 1


def values_of(rows):
    stages = {"cells": rows, "spans": made_rows()}
    return {
        module.__name__.rpartition(".")[2]: lookup(pd.DataFrame(module.tidy(stages, Context())))
        for module in TABLES
    }


def test_tables():
    rows = made_rows()
    result = values_of(rows)
    assert result["table1"]("image", "", "train_rows")[0] == 1300
    assert result["table1"]("image", "", "features")[0] == 4
    assert result["table2"]("image", "span_rule", "test_error")[0] == pytest.approx(0.1)
    assert result["table2"]("image", "kfold", "test_error")[0] == pytest.approx(0.12)
    assert result["table2"]("image", "span_bound", "test_error")[0] == pytest.approx(0.14)
    assert result["table3"]("bank-marketing", "best_on_test", "test_error")[0] == pytest.approx(0.1)
    assert np.isnan(result["table3"]("image", "span_rule", "test_error")[0])
    assert result["table4"]("image", "span_rule", "rmse_to_test_error")[0] == pytest.approx(0.01)
    assert result["table4"]("image", "span_rule", "distance_to_loo")[0] == pytest.approx(0.002)
    assert result["table5"]("image", "svm", "svs") == (40, 0)
    # fit, span rule and a ninth of the matrix
    assert result["table6"]("image", "span_rule_shared", "time")[0] == pytest.approx(0.1 + 0.01 + 0.1)
    assert result["table6"]("image", "kfold", "time")[0] == pytest.approx(30)
    assert result["table6"]("image", "loo_shared", "time")[0] == pytest.approx(0.1 + 0.2 + 0.1)
    assert result["table6"]("image", "span_rule_qp", "time")[0] == 0.5
    assert result["table6"]("image", "kfold_beside_qp", "time")[0] == 30


def test_shares_are_of_the_draws_of_the_rows(tmp_path):
    """The shares of a set that is not drawn are those of its own rows."""
    rows = made_rows()
    best, worst = rows, rows.assign(realisation=2)
    spans = worst["method"] == "span_rule"
    worst.loc[spans, "estimate"] = 0.9 - worst.loc[spans, "estimate"]
    drawn = pd.concat([best, worst])
    drawn = drawn[drawn["dataset"] == "image"]
    result = lookup(tidy_of(tmp_path, draws, {"cells": rows, "draws": drawn}))
    for dataset, count, share in (("image", 2, 0.5), ("splice-libsvm", 1, 1), ("bank-marketing", 1, 1)):
        assert result(dataset, "span_rule", "draws")[0] == count
        for metric in draws.HEADINGS:
            assert result(dataset, "span_rule", metric)[0] == share


def test_the_bound_stands_for_xi_alpha_where_both_are_printed_alike():
    """The cause acts on all sets of which the paper prints one number twice, and on no other."""
    folder = Path(causes.__file__).parent
    printed = pd.read_csv(folder / "printed.csv", dtype=str).query("exhibit == 'table2'")
    both = printed.pivot(index="dataset", columns="method", values="value")
    names = yaml.safe_load((folder / "paper.yaml").read_text())["published"]["datasets"]
    alike = both.index[both["xi_alpha"] == both["span_bound"]]
    (acts,) = yaml.safe_load((folder / "causes.yaml").read_text())["bound_for_xi_alpha"]["acts"]
    assert sorted(acts["datasets"]) == sorted(names.get(name, name) for name in alike)
    rows = made_rows()
    result = {row["dataset"]: row for row in causes.bound_for_xi_alpha(rows)}
    expected = values_of(rows)["table2"]("image", "span_bound", "test_error")[0]
    assert (result["image"]["method"], result["image"]["value"]) == ("xi_alpha", expected)


def test_failed_runs_are_left_out_and_counted():
    rows = made_rows()
    best = (rows["dataset"] == "image") & (rows["C_positive"] == 1) & (rows["C_negative"] == 1)
    rows.loc[best & (rows["method"] == "test"), ["status", "estimate"]] = [ERROR, np.nan]
    result = values_of(rows)["table2"]
    assert result("image", "span_rule", "test_error")[0] == pytest.approx(0.12)
    assert result("image", "all", "failed")[0] == 1 and result("image", "test", "models")[0] == 8


def test_times_are_those_of_the_models_that_libsvm_ran_on():
    rows = made_rows()
    rows.loc[(rows["method"] == "test") & (rows["C_positive"] == 1), "cpu_s"] = 1.0
    rows = rows[~(rows["method"].isin(["kfold_libsvm", "span_rule_lazy"]) & (rows["C_positive"] != 1))]
    result = values_of(rows)["table6"]
    assert result("image", "all", "models")[0] == 3
    assert result("image", "span_rule_shared", "time")[0] == pytest.approx(1.11)
    assert result("image", "span_rule_shared", "time_all_models")[0] == pytest.approx(0.4 + 0.11)


def test_curves_pass_through_the_best_model(tmp_path):
    tidy = tidy_of(tmp_path, figure4, made_rows(), settings=SETTINGS)
    assert set(tidy["exhibit"]) == {"figure4a", "figure4b", "figure4c"}
    line = tidy[(tidy["exhibit"] == "figure4c") & (tidy["method"] == "test")].set_index("setting")["value"]
    assert line.to_dict() == pytest.approx({"-1": 0.1, "0": 0.12, "1": 0.14})


def test_layouts_put_the_published_values_in_brackets(tmp_path, root):
    tidy, published = exhibits(tmp_path, made_rows(), root)
    bodies = {}
    for module in TABLES:
        values = tidy[module.__name__.rpartition(".")[2]]
        bodies[module], _ = table_of(module, values, published=published, **VALUES)
    image = bodies[table2][0]
    assert image[:4] == ["image", "0.1000 (0.0623)", "0.1400 (0.1158)", "0.1200 (0.0623)"]
    assert image[-3:] == ["R < K < B = X", "R = K < X < B", "4 of 6"]
    assert "splice (LIBSVM) *" in [line[0] for line in bodies[table5]]
    entry, printed = lookup(tidy["table5"]), lookup(published[published["exhibit"] == "table5"])
    assert sv_counts_agree(entry, printed, "image", 0.1) is False
    assert sv_counts_agree(printed, printed, "image", 0) is True
    assert sv_counts_agree(entry, printed, "unheard-of", 0.1) is None


def heights(ax):
    """Heights of the lines that cross a whole panel."""
    return [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]


def test_the_printed_least_test_error_stands_in_the_figures(tmp_path, root):
    rows = made_rows()
    line = tidy_of(tmp_path, figure2, rows, settings=SETTINGS)
    _, published = exhibits(tmp_path, rows, root)
    context = Context(published=published)
    above, below = figure2.figure(line, context).axes[::2]
    assert heights(above) == [0.0623] and heights(below) == []
    # of a data set that the paper does not have
    other = figure2.figure(line.assign(dataset="another"), context)
    assert all(heights(ax) == [] for ax in other.axes)


def test_the_paper_s_crossing_is_drawn_where_times_cross():
    times = pd.DataFrame(
        [
            ("figure5", dataset, size, method, "time", value, np.nan, "s")
            for dataset, ratios in (("a", (2, 0.5)), ("b", (0.5, 0.25)))
            for size, ratio in zip(("128", "8192"), ratios, strict=True)
            for method, value in (("kfold", 1.0), ("span_rule", ratio), ("span_rule_shared", 1 / ratio))
        ],
        columns=TIDY_COLUMNS,
    )
    context = Context(limits={"from_log2_m": 12})
    for tidy, drawn in ((times, [1, 0]), (times[times["dataset"] == "b"], [0])):
        fig = figure5.figure(tidy, context)
        assert [sum(set(line.get_xdata()) == {4096} for line in ax.lines) for ax in fig.axes] == drawn
        legend = [text.get_text() for text in fig.legends[0].get_texts()]
        assert ("span rule faster from here on, paper" in legend) == any(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("module", [figure2, figure5, figure6])
def test_figures_are_stable_and_described(tmp_path, root, module):
    rows = made_rows()
    _, published = exhibits(tmp_path, rows, root)
    tidy = tidy_of(tmp_path, module, rows, settings=SETTINGS)
    assert_stable(tmp_path, module, tidy, published=published, **VALUES)
