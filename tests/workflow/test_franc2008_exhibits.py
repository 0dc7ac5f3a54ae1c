"""The exhibits of franc2008: tables and figures from rows."""

import numpy as np
import pandas as pd
import pytest
import yaml
from lib.causes import runs_of
from lib.config import complete_config
from lib.exhibits import Context
from lib.papers import load_papers
from lib.rows import (
    ERROR,
    NOT_CONVERGED,
    OK,
    SKIPPED,
)
from lib.run import planned
from lib.sample import half_width
from lib.shown import dataset_in_words
from lib.tables import TIDY_COLUMNS, Table, measured, read_tidy, write_tidy
from lib.tolerances import read_published
from papers.franc2008 import causes, cells
from papers.franc2008.exhibits import agreement, agreement_points, figure1, speedup, table2, table3
from papers.franc2008.exhibits.disagreements import compared_methods
from papers.franc2008.exhibits.table2 import errors_of_selected
from papers.franc2008.exhibits.table3 import costs
from papers.franc2008.names import ALL_SETS, METHODS
from papers.franc2008.sample import for_all_points
from papers.franc2008.selection import COLUMNS, select
from workflow.exhibit_calls import assert_stable, read_back, table_of, tidy_of
from workflow.franc2008_rows import DECISIONS, cost, frame, loo_row, pattern_rows

SETTINGS = {"datasets": ["d"], "figure1": {"datasets": ["d"]}}
LIMITS = {"degenerate": 1e-6}
# what the paper prints about the data set d
PRINTED = pd.DataFrame(
    [
        measured({"exhibit": exhibit, "dataset": "d", "setting": "linear", "method": method}, *value)
        | {"printed": printed}
        for exhibit, method, value, printed in (
            ("table2", "loo", ("test_error", 21.5, "percent", 3.2), "21.50"),
            ("table3", "standard", ("time", 41.0, "s"), "41"),
        )
    ]
)


def test_selected_model_and_both_statistics():
    rows = [loo_row(1, 1.0, 0.5, 0.10), loo_row(2, 1.0, 0.5, 0.30)]
    rows += [loo_row(1, 2.0, 0.5, 0.20), loo_row(2, 2.0, 0.5, 0.15)]
    model = select(frame(rows))
    assert (model["C"], model["gamma"]) == (2.0, 0.5)
    assert model["loo_error_min_of_mean"] == pytest.approx(0.175)
    assert model["loo_error"] == pytest.approx(0.125)
    assert model["loo_error_sd"] == pytest.approx(np.std([0.10, 0.15], ddof=1))
    assert model["loo_error_min_of_mean_sd"] == pytest.approx(np.std([0.20, 0.15], ddof=1))
    assert (model["n_models"], model["n_failed_models"], model["status"]) == (2, 0, OK)


def test_ties_go_to_the_smallest_C_then_the_smallest_gamma():
    # the means are equal but for rounding: the same three errors, added in another order
    errors = {(4.0, 0.1): (0.1, 0.2, 0.3), (2.0, 0.9): (0.3, 0.2, 0.1), (2.0, 0.4): (0.2, 0.3, 0.1)}
    assert len({(a + b) + c for a, b, c in errors.values()}) > 1
    rows = [loo_row(r, C, g, e) for (C, g), column in errors.items() for r, e in enumerate(column, start=1)]
    model = select(frame(rows))
    assert (model["C"], model["gamma"]) == (2.0, 0.4)


def test_linear_kernel_has_no_gamma():
    model = select(frame([loo_row(1, 0.1, None, 0.2), loo_row(1, 1.0, None, 0.1)]))
    assert (model["C"], model["gamma"]) == (1.0, None)
    assert np.isnan(model["loo_error_sd"])


def test_a_model_that_failed_once_is_left_out():
    rows = [loo_row(1, 1.0, 0.5, 0.01), loo_row(2, 1.0, 0.5, 0.01, status=NOT_CONVERGED)]
    rows += [loo_row(1, 2.0, 0.5, 0.20), loo_row(2, 2.0, 0.5, 0.20)]
    model = select(frame(rows))
    assert (model["C"], model["n_failed_models"]) == (2.0, 1)
    assert model["loo_error"] == pytest.approx(0.20)


def test_no_model_is_an_error_with_a_reason():
    model = select(frame([loo_row(1, 1.0, 0.5, np.nan, status=ERROR)]))
    assert model["status"] == ERROR and model["reason"] and model["C"] is None and model["loo_error"] is None


def selected(**linear):
    model = {
        "loo_error": 0.2,
        "loo_error_sd": 0.01,
        "loo_error_min_of_mean": 0.25,
        "loo_error_min_of_mean_sd": 0.02,
    }
    model |= {"C": 1.0, "n_realisations": 2, "n_models": 5, "n_failed_models": 0, "status": OK}
    rbf = {**model, "dataset": "d", "kernel": "rbf", "gamma": 0.5}
    return pd.DataFrame([{**model, "dataset": "d", "kernel": "linear", **linear}, rbf], columns=COLUMNS)


def test_rows(kernel, estimates, status=OK):
    return [{"dataset": "d", "kernel": kernel, "estimate": e, "status": status} for e in estimates]


test_rows.__test__ = False


def values(tidy):
    return {(r["setting"], r["method"], r["metric"]): (r["value"], r["spread"]) for r in tidy}


def test_table2_is_in_percent_with_the_sample_standard_deviation():
    tests = pd.DataFrame(test_rows("linear", [0.1, 0.2, 0.3]) + test_rows("rbf", [0.1]))
    value = values(errors_of_selected(selected(), tests, ["d"]))
    assert value["linear", "loo", "test_error"] == pytest.approx((20, 10))
    assert value["linear", "loo", "loo_error"] == pytest.approx((20, 1))
    assert value["linear", "loo", "loo_error_min_of_mean"] == pytest.approx((25, 2))
    assert np.isnan(value["rbf", "loo", "test_error"][1])
    assert value["rbf", "loo", "gamma"][0] == 0.5
    assert ("linear", "loo", "gamma") not in value


def test_table2_without_a_model_still_has_its_rows():
    none = dict.fromkeys(COLUMNS[2:8])
    tests = pd.DataFrame(test_rows("linear", [None], SKIPPED) + test_rows("rbf", [0.1, 0.2])).astype(
        {"estimate": float}
    )
    tidy = list(errors_of_selected(selected(**none, n_failed_models=5, status=ERROR), tests, ["d"]))
    assert np.isnan(values(tidy)["linear", "loo", "test_error"][0])
    body, notes = table_of(table2, pd.DataFrame(tidy), settings=SETTINGS, published=PRINTED)
    assert len(body[0]) == 5
    assert body[0][1:3] == ["n/a", "n/a (21.50 ± 3.20)"] and body[0][4] == "15.00 ± 7.07"
    assert any("d, linear kernel: 5" in note for note in notes)


def test_table3_totals_and_ratios():
    rows = [
        loo_row(1, 1.0, None, 0.1, "standard", **cost(2.0, 3_000_000, 10, 0)),
        loo_row(1, 1.0, None, 0.1, "proposed", **cost(1.0, 1_000_000, 10, 6)),
        loo_row(2, 1.0, None, 0.1, "standard", **cost(4.0, 1_000_000, 10, 0)),
        loo_row(2, 1.0, None, 0.1, "proposed", **cost(1.0, 1_000_000, 30, 24)),
        loo_row(1, 1.0, None, 0.1, "unlearn", **cost(0.25, 100_000, 15, 5, 1)),
        loo_row(2, 1.0, None, 0.1, "unlearn", **cost(0.25, 100_000, 25, 5, 1)),
        # one method failed: neither side counts
        loo_row(2, 9.0, None, 0.1, "standard", **cost(100.0, 100, 1, 0)),
        loo_row(2, 9.0, None, np.nan, "proposed", ERROR, **cost(np.nan, np.nan, np.nan, np.nan)),
        loo_row(2, 9.0, None, 0.1, "unlearn", **cost(0.25, 100_000, 25, 5, 1)),
    ]
    value = {key: pair[0] for key, pair in values(costs(frame(rows), ["d"])).items()}
    assert value["linear", "standard", "time"] == 6
    assert value["linear", "standard", "kernel_columns"] == 4
    assert value["linear", "proposed", "time_speedup"] == 3
    assert value["linear", "proposed", "kernel_column_speedup"] == 2
    assert value["linear", "proposed", "certified"] == 75
    assert value["linear", "unlearn", "time_speedup"] == 12
    assert value["linear", "unlearn", "time_speedup_over_proposed"] == 4
    assert value["linear", "unlearn", "kernel_column_speedup"] == 20
    assert (value["linear", "unlearn", "certified"], value["linear", "unlearn", "resolved"]) == (25, 95)
    assert value["linear", "all", "runs"] == 2 and value["linear", "all", "failed_runs"] == 1
    assert np.isnan(value["rbf", "proposed", "time_speedup"]) and value["rbf", "all", "runs"] == 0
    table = pd.DataFrame(costs(frame(rows), ["d"]))
    body, notes = table_of(table3, table, settings=SETTINGS, published=PRINTED)
    assert len(body) == 4
    numbers = ["6.0", "4.0", "3.0", "2.0", "75.0", "0.5", "12.0", "4.0", "20.0", "95.0"]
    assert body[0] == ["d", "linear", "6.0 (41)", *numbers[1:]] and body[2][2:] == ["n/a"] * 10
    assert body[1] == ["all sets", "linear", *numbers]
    assert any("d, linear kernel: 1" in note for note in notes) and len(notes) == 2


def test_totals_are_ratios_of_sums_and_methods_that_were_not_run_are_missing():
    rows = [
        {**loo_row(1, 1.0, None, 0.1, method, **cost(cpu_s, 10, 2, 1)), "dataset": dataset}
        for dataset, times in (("d", (9.0, 1.0)), ("e", (1.0, 1.0)))
        for method, cpu_s in zip(("standard", "unlearn"), times, strict=True)
    ]
    tidy = pd.DataFrame(costs(frame(rows), ["d", "e"])).set_index(["dataset", "setting", "method", "metric"])
    value = tidy["value"]
    assert value["all sets", "linear", "unlearn", "time_speedup"] == 5
    assert value["all sets", "linear", "all", "runs"] == 2
    assert np.isnan(value["all sets", "linear", "proposed", "time_speedup"])
    assert np.isnan(value["d", "linear", "unlearn", "time_speedup_over_proposed"])


def test_every_published_row_has_a_reproduced_one(root):
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    published = published[published["exhibit"] != "figure1"]  # of which the ends of the axes are published
    keys = set(map(tuple, published[["setting", "method", "metric", "unit"]].to_numpy()))
    tests = pd.DataFrame(test_rows("linear", [0.1]) + test_rows("rbf", [0.1]))
    rows = [
        loo_row(1, 1.0, gamma, 0.1, method, **cost(1, 1, 1, 1))
        for gamma in (None, 0.5)
        for method in cells.METHODS
    ]
    ours = [*errors_of_selected(selected(), tests, ["d"]), *costs(frame(rows), ["d"])]
    assert keys <= {(row["setting"], row["method"], row["metric"], row["unit"]) for row in ours}


def test_tidy_rows_survive_the_file_and_refuse_duplicates(tmp_path):
    row = dict(
        zip(TIDY_COLUMNS, ["table2", "d", "rbf", "loo", "loo_error", 1.5, np.nan, "percent"], strict=True)
    )
    write_tidy(tmp_path / "t.csv", [row])
    assert (tmp_path / "t.csv").read_text() == ",".join(
        TIDY_COLUMNS
    ) + "\ntable2,d,rbf,loo,loo_error,1.5,,percent\n"
    assert read_tidy(tmp_path / "t.csv")["value"][0] == 1.5
    with pytest.raises(ValueError, match="two rows for"):
        write_tidy(tmp_path / "t.csv", [row, row])


def test_a_table_is_written_in_markdown_and_latex():
    columns = [("", "Data set"), ("Linear", "LOO (%)"), ("Linear", "Test"), ("RBF", "LOO (%)")]
    cells = pd.DataFrame([["a_b", "1.0", "2.0 ± 0.1", "3|4"]], columns=pd.MultiIndex.from_tuples(columns))
    table = Table(cells, ["50 % of C_1."])
    assert table.groups == [("", 1), ("Linear", 2), ("RBF", 1)]
    head, rule, line, _, note = table.markdown().splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        "Data set", "Linear: LOO (%)", "Linear: Test", "RBF: LOO (%)",
    ]  # fmt: skip
    assert [cell.strip("-") for cell in rule.split("|")[1:-1]] == [":", *":::"]
    assert line.split(" | ")[-1].strip() == "3\\|4 |" and note == "50 % of C_1."
    tex = table.tex("Title")
    assert r"a\_b & 1.0 & 2.0 $\pm$ 0.1 & 3|4 \\" in tex
    assert r"\multicolumn{2}{c}{Linear}" in tex
    assert r"\caption{Title. 50 \% of C\_1.}" in tex
    assert tex.count("{") == tex.count("}")


def stopping_rows():
    """Two models, two realisations; a loose eps makes the worse model look better."""
    errors = {1e-4: {1.0: (0.10, 0.20), 2.0: (0.20, 0.30)}, 1.0: {1.0: (0.30, 0.30), 2.0: (0.05, 0.25)}}
    return frame(
        [
            loo_row(r, C, 0.5, e, eps=eps, cpu_s=1.0)
            for eps, models in errors.items()
            for C, column in models.items()
            for r, e in enumerate(column, start=1)
        ]
    )


def test_figure1_selects_with_eps_or_with_the_smallest_eps():
    value = values(figure1.tidy({"stopping": stopping_rows()}, Context(settings=SETTINGS)))
    assert value["0", "selected_at_eps", "loo_error"][0] == pytest.approx(15)
    assert value["0", "selected_at_smallest_eps", "loo_error"] == pytest.approx((30, 0))
    assert value["-4", "selected_at_eps", "loo_error"] == value["-4", "selected_at_smallest_eps", "loo_error"]
    assert value["-4", "selected_at_eps", "loo_error"] == pytest.approx((15, np.std([10, 20], ddof=1)))
    assert value["0", "standard", "time"][0] == 4


def test_figure1_has_a_gap_where_the_reference_model_failed():
    rows = stopping_rows()
    rows.loc[(rows["eps"] == 1.0) & (rows["C"] == 1.0), "status"] = NOT_CONVERGED
    value = values(figure1.tidy({"stopping": rows}, Context(settings=SETTINGS)))
    assert np.isnan(value["0", "selected_at_smallest_eps", "loo_error"][0])
    assert value["0", "selected_at_eps", "loo_error"][0] == pytest.approx(15)
    assert value["0", "standard", "failed_models"][0] == 1


def test_the_printed_error_and_axis_stand_in_figure1(root, tmp_path):
    tidy = tidy_of(tmp_path, figure1, stopping_rows(), settings=SETTINGS)
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    for dataset, printed in (("german", [23.71, 35]), ("banana", [8.55]), ("another", [])):
        context = Context(settings={"figure1": {"datasets": [dataset]}}, published=published)
        ax = figure1.figure(tidy.assign(dataset=dataset), context).axes[0]
        lines = [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]
        assert lines == printed


@pytest.mark.slow
def test_figures_are_the_same_bytes_each_time(tmp_path, root):
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    tidy = tidy_of(tmp_path, figure1, stopping_rows(), settings=SETTINGS)
    assert_stable(tmp_path, figure1, tidy, published=published, settings=SETTINGS)
    content = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in content and b"/Type3" not in content
    names = {"datasets": list(dict.fromkeys(published["dataset"]))}
    speedups = tidy_of(tmp_path, speedup, {}, exhibits={"table3": published[TIDY_COLUMNS]})
    assert_stable(tmp_path, speedup, speedups, published=published, settings=names)


def test_a_data_set_without_a_speed_up_has_no_line_in_the_figure(root):
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    names = list(dict.fromkeys(published.loc[published["exhibit"] == "table3", "dataset"]))
    first, *rest = names
    unknown = published.assign(value=published["value"].mask(published["dataset"] == first))
    context = Context(settings={"datasets": names}, published=published)
    for tidy, drawn in ((published, names), (unknown, rest)):
        tidy = tidy[tidy["metric"].str.endswith("_speedup")]
        labels = [label.get_text() for label in speedup.figure(tidy, context).axes[0].get_yticklabels()]
        assert labels == [*map(dataset_in_words, drawn), ALL_SETS]


def points_shown(tmp_path, differences):
    """Return the lines of the table of points."""
    return table_of(agreement_points, read_back(tmp_path, differences), limits=LIMITS)[0]


def test_agreement_counts_and_lists_points(tmp_path):
    alike = [True, False, False]
    rows = frame(pattern_rows(standard=alike, proposed=[True, False, True], unlearn=alike))
    summary, differences = compared_methods(rows, ["d"], 1e-6)
    linear = summary.set_index("kernel").loc["linear"]
    assert (linear["models_compared"], linear["models_equal"]) == (1, 0)
    assert (linear["points_compared"], linear["points_differing"], linear["points_degenerate"]) == (3, 1, 1)
    total = summary.iloc[-1]
    assert (total["dataset"], total["models_compared"], total["points_differing"]) == ("all sets", 1, 1)
    only = differences.iloc[0]
    assert (only["point"], only["error_by"]) == (2, "proposed")
    assert only["degenerate"] and only["wrong_by"] == "" and only["exact_decision"] == -1e-7
    assert [only[f"{method}_decision"] for method in DECISIONS] == list(DECISIONS.values())
    body, notes = table_of(agreement, read_back(tmp_path, summary), limits=LIMITS)
    assert body[0] == ["d", "linear", "1", "0", "0", "3", "1", "1", "0", "0", "0"] and len(notes) == 1
    ((*model, exact, standard, _, unlearn, by, wrong),) = points_shown(tmp_path, differences)
    assert model == ["d", "linear", "1", "1", "n/a", "2"] and (by, wrong) == ("proposed", "degenerate")
    assert (exact, standard, unlearn) == ("-1.000e-07", "1.000e-04", "1.000e-07")


def test_agreement_says_who_is_wrong(tmp_path):
    rows = frame(pattern_rows(exact=0.1, standard=[True, False], proposed=[True, True]))
    summary, differences = compared_methods(rows, ["d"], 1e-6)
    assert summary.iloc[-1][["points_differing", "points_degenerate"]].tolist() == [1, 0]
    wrong = [f"points_wrong_by_{method}" for method in METHODS]
    assert summary.iloc[-1][wrong].tolist() == [0, 1, 0]
    assert np.isnan(differences["unlearn_decision"][0])
    (line,) = points_shown(tmp_path, differences)
    assert line[-3:] == ["n/a", "proposed", "proposed"]


def test_agreement_without_an_exact_value_accuses_nobody(tmp_path):
    rows = frame(pattern_rows(exact=np.nan, standard=[True, False], proposed=[True, True]))
    _, differences = compared_methods(rows, ["d"], 1e-6)
    assert differences["wrong_by"].tolist() == [""] and not differences["degenerate"].any()
    assert points_shown(tmp_path, differences)[0][-1] == "undecided"


def test_agreement_of_equal_patterns_and_of_failures():
    rows = pattern_rows(standard=[True, False], proposed=[True, False])
    failed = [{**row, "C": 2.0} for row in rows]
    failed[1] |= {"status": ERROR, "error_pattern": None}
    summary, differences = compared_methods(frame(rows + failed), ["d"], 1e-6)
    linear = summary.set_index("kernel").loc["linear"]
    assert linear[["models_equal", "points_differing", "models_not_compared"]].tolist() == [1, 0, 1]
    assert differences.empty


def test_agreement_notices_points_that_a_cell_did_not_record():
    rows = pattern_rows(standard=[True, False], proposed=[True, True])
    for row in rows:
        row["differing_points"] = []
    with pytest.raises(ValueError, match="differ in the points"):
        compared_methods(frame(rows), ["d"], 1e-6)


@pytest.mark.slow
def test_baselines_are_sampled_where_the_configuration_says_so(tmp_path, root):
    def samples(baselines):
        path = tmp_path / "config.yaml"
        path.write_text(f"baselines: {baselines}")
        papers, _, _ = planned(root / "config/paper.yaml", path)
        stages = {run.stage: run.cells for run in papers["franc2008"].plan.runs}
        return {
            stage: {name: cell.settings.get("sample") for name, cell in stages[stage].items()}
            for stage in ("cells", "stopping", "test")
        }

    result = samples("sampled")
    cells_table = result["cells"]
    linear = {name: cells_table[f"{name}/realisation-1/linear"] for name in ("splice", "image", "heart")}
    assert linear == {"splice": 4, "image": 20, "heart": 1500}
    assert {cells_table[name] for name in cells_table if "/rbf" in name} == {100}
    assert {*result["stopping"].values(), *result["test"].values()} == {None}
    assert set(samples("full")["cells"].values()) == {None}


@pytest.mark.slow
def test_intervals_of_samples_hold_what_they_say():
    rng = np.random.default_rng(0)
    N, n, draws = 200, 40, 2000
    costs = {"standard": rng.gamma(2.0, 1.0, N), "proposed": rng.gamma(1.0, 1.0, N)}
    truth = (5 + costs["standard"].sum()) / (5 + costs["proposed"].sum())
    totals = {}
    for method, each in costs.items():
        rows = []
        for _ in range(draws):
            drawn = rng.choice(each, n, replace=False)
            sample = {
                "stands_for": N / n,
                "solving_cpu_s": drawn.sum(),
                "solving_cpu_s_sd": drawn.std(ddof=1),
            }
            rows.append(cost(5 + drawn.sum(), 1.0, n, 0, **sample))
        every = for_all_points(pd.DataFrame(rows))
        totals[method] = list(zip(every["cpu_s"], every["cpu_s_variance"], strict=True))
    covered = 0
    for above, below in zip(*totals.values(), strict=True):
        ratio = above[0] / below[0]
        covered += abs(ratio - truth) < half_width(ratio, above, below)
    estimates = [total for total, _ in totals["standard"]]
    assert np.mean(estimates) == pytest.approx(5 + costs["standard"].sum(), rel=0.01)
    assert 0.93 < covered / draws < 0.97
    assert np.isnan(half_width(2.0, (2.0, 0.0), (1.0, 0.0)))


def test_tables_know_the_methods_that_cells_run():
    assert tuple(cells.METHODS) == METHODS


def test_time_of_the_columns_takes_the_place_of_the_clock():
    rows = frame(
        [
            loo_row(1, 1.0, None, 0.1, "standard", **cost(2.0, 6_000_000, 10, 0)),
            loo_row(1, 1.0, None, 0.1, "proposed", **cost(4.0, 1_000_000, 10, 6)),
        ]
    )
    clock, columns = (
        pd.DataFrame(tidy).set_index(["dataset", "setting", "method", "metric"])["value"]
        for tidy in (costs(rows, ["d"]), causes.time_of_columns(rows))
    )
    place = "d", "linear", "proposed"
    assert clock[*place, "time_speedup"] == 0.5 and columns[*place, "time_speedup"] == 6


def test_ours_stops_at_a_gap_of_two_eps_with_its_own_steps(root, registry):
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    config |= yaml.safe_load((root / "config/paper.yaml").read_text())
    complete_config(config, {name: paper.schema for name, paper in load_papers().items()})
    declared = load_papers()["franc2008"].causes["two_eps"]
    (run,) = runs_of("franc2008", "two_eps", declared, config, registry)
    settings = run.settings_of("heart/realisation-1/linear")
    assert settings["eps"] == 2 * config["franc2008"]["eps"] == 2e-3
    assert config["franc2008"]["as_published"] is True and settings["as_published"] is False
