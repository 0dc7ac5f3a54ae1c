"""The exhibits of wen2017: tables and figures from rows."""

import numpy as np
import pandas as pd
import pytest
import yaml
from lib.exhibits import Context
from lib.rows import ERROR, NOT_CONVERGED, OK
from lib.run import planned
from lib.sample import variance_of_total
from lib.tolerances import read_published
from papers.wen2017 import causes
from papers.wen2017.exhibits import agreement, agreement_points, figure2, folds, seeds, table1, table2, table3
from papers.wen2017.exhibits.costs import costs, intervals, total
from papers.wen2017.exhibits.methods import METHODS
from papers.wen2017.exhibits.seeds import over_libsvm
from slow import slow
from workflow.exhibit_calls import assert_stable, table_of, tidy_of
from workflow.wen2017_rows import SEEDS, drawn, made_row, made_rows, tidy_rows, with_unlearning

PUBLISHED, CHOSEN = table1.PARTS
LIMITS = {"tie": 1e-3}


@pytest.mark.parametrize(
    "wrong", [*slow("libsvm/adlut/published/k-3", "libsvm/adult/published/k-4"), "adult"]
)
def test_cells_that_are_left_out_are_known(tmp_path, root, wrong):
    path = tmp_path / "config.yaml"
    path.write_text(f"wen2017: {{sample: {{without: [{wrong}]}}}}")
    with pytest.raises(ValueError, match=f"Unknown '{wrong}' in the configuration's wen2017.sample.without"):
        planned(root / "config/paper.yaml", path)
    # mnist and webdata, of which paper.yaml leaves out cells, are no data sets of the small one
    papers, _, _ = planned(root / "config/paper.yaml", root / "config/paper-8gb.yaml")
    assert "adult/published/k-3" not in papers["wen2017"].plan.runs_by_cell("libsvm")
    assert "adult/published/k-10" in papers["wen2017"].plan.runs_by_cell("libsvm")


def test_times_as_iterations():
    rows = pd.DataFrame(
        [
            made_row("cold", "10", 10, 1.0),
            {**made_row("sir", "10", 5, 1.0), "round_n_iter": [10] + [5] * 9},
        ]
    )
    result = {(row["exhibit"], row["metric"]): row["value"] for row in causes.times_as_iterations(rows)}
    assert result == {("table1", "time_rest"): 0.55, ("table3", "time_total"): 0.55}


def made_variants():
    counts = {
        "madelon": {"stratified": 3, "unstratified": 2},
        "mnist": {"stratified": 1},
    }
    methods = {"madelon": ("cold", "ato", "mir", "sir", "zero"), "mnist": ("cold", "sir", "zero")}
    return pd.DataFrame(
        {
            "dataset": dataset,
            "folds": kind,
            "method": method,
            "status": OK,
            "n_iter": 1800 + i if method != "cold" else 9000,
        }
        for dataset, kinds in counts.items()
        for kind, count in kinds.items()
        for method in methods[dataset]
        for i in range(count)
    )


def test_totals_are_extrapolated_as_the_seeds_depend_on_each_other():
    row = made_row("sir", "10", 0, 0, 3)
    row = {**row, "round_n_iter": [900, 100, 140]}
    chain, independent = (pd.Series({**row, "method": method}) for method in ("sir", "cold"))
    # sampled: 2 of the 9 folds that have a seed, and 3 of 10 folds
    value, variance = total(chain, "n_iter")
    assert value == 900 + 9 * 120 and variance == pytest.approx(
        variance_of_total(np.std([100, 140], ddof=1), 2, 9)
    )
    value, variance = total(independent, "n_iter")
    assert value == 3800 and variance == pytest.approx(
        variance_of_total(np.std(row["round_n_iter"], ddof=1), 3, 10)
    )
    full = pd.Series({**row, "method": "top", "full_n_iter": 50})
    assert total(full, "n_iter")[0] == 3850
    assert total(pd.Series(made_row("libsvm", "10", 1, 1.0)), "seeding_cpu_s") == (0, 0)
    whole = pd.Series({**row, "round_n_iter": list(range(10))})
    assert total(whole, "n_iter") == (45, 0)
    # of one fold of LIBSVM the folds are as far apart as those of the cold start
    cells = pd.DataFrame(
        [
            {**made_row("cold", "10", 0, 1.0), "round_n_iter": [90, 110] * 5},
            made_row("libsvm", "10", 100, 20.0, 1),
            made_row("sir", "10", 5, 1.0),
        ]
    )
    cold, libsvm, sir = costs(cells).to_dict("records")
    assert cold["iterations_variance"] == sir["time_total_variance"] == 0
    spread = np.std([90, 110] * 5, ddof=1) / 100
    assert libsvm["time_total_variance"] == pytest.approx(10 * 9 * (20 * spread) ** 2)
    result = {
        (row["method"], row["metric"]): (row["value"], row["spread"])
        for row in intervals("table1", costs(cells), METHODS)
    }
    half = 1.96 * np.sqrt(libsvm["time_total_variance"])
    assert result["libsvm", "time_total_half_width"][0] == pytest.approx(half)
    ratio, its_half = result["sir", "libsvm_over"]
    assert ratio == pytest.approx(200 / sir["time_total"]) and its_half == pytest.approx(ratio * half / 200)
    assert set(result) == {
        ("libsvm", "time_total_half_width"),
        ("libsvm", "iterations_half_width"),
        ("cold", "libsvm_over"),
        ("sir", "libsvm_over"),
    }


def test_tables(tmp_path, root):
    rows, published = made_rows(), read_published(root / "workflow/papers/wen2017/printed.csv")
    first = tidy_rows(tmp_path, table1, rows, PUBLISHED)
    value = first.set_index(["method", "metric"])["value"]
    assert list(dict.fromkeys(first["method"])) == list(METHODS[:-1])
    assert value["libsvm", "time_total"] == pytest.approx(200) and value["libsvm", "rounds"] == 2
    assert value["sir", "time_init"] == pytest.approx(0.9) and value["top", "time_init"] == pytest.approx(1.4)
    assert value["sir", "time_total"] == pytest.approx(1 + 0.9 + 1)
    assert value["top", "iterations"] == 950 and value["cold", "accuracy"] == 75
    body, notes = table_of(table1, first, published=published, part=PUBLISHED)
    lines = {line[1]: line for line in body}
    assert lines["LIBSVM"][2:4] == ["n/a", "n/a"] and lines["LIBSVM"][5] == "200.00* (54.5)"
    assert lines["SIR"][3:7] == ["0.90 (1.2)", "1.00 (13.5)", "2.90", "69.0"]
    assert lines["SIR"][8].endswith(" (50.0)")
    assert any("madelon, LIBSVM, k=10: 2" in note for note in notes)
    chosen = tidy_rows(tmp_path, table1, rows, CHOSEN)
    body, _ = table_of(table1, chosen, published=published, part=CHOSEN)
    assert len(body[0]) == 9 and not any("(" in cell for line in body for cell in line)

    third = tidy_rows(tmp_path, table3, rows, PUBLISHED)
    body, _ = table_of(table3, third, published=published, part=PUBLISHED)
    assert [line[:2] for line in body] == [["madelon", "10"], ["madelon", "100"]]
    assert body[1][2] == "2000.0* (620)" and body[1][4].endswith(" (19.5)")

    second = tidy_rows(tmp_path, table2, rows)
    body, notes = table_of(table2, second, published=published)
    printed = ["20 (2000)", "500 (500)", "1 (1)", "0.5 (0.7071)"]
    assert body[0] == ["madelon", "published", *printed, "0.1", "0.5"]
    assert any("all but the identity on madelon" in note for note in notes)


def test_failed_methods_are_named_and_have_no_numbers(tmp_path, root):
    rows = made_rows()
    rows.loc[rows["method"] == "ato", ["status", "estimate"]] = ERROR, np.nan
    tidy = tidy_rows(tmp_path, table1, rows, PUBLISHED)
    entry = tidy[tidy["method"] == "ato"].set_index("metric")["value"]
    assert entry["failed"] == 1 and np.isnan(entry["iterations"])
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    body, notes = table_of(table1, tidy, published=published, part=PUBLISHED)
    assert "Failed: madelon, ATO, k=10." in notes
    assert next(line for line in body if line[1] == "ATO")[-2:] == ["n/a (5408)", "n/a"]


def test_every_published_data_set_is_in_the_paper_preset(root):

    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    settings = yaml.safe_load((root / "config/paper.yaml").read_text())["wen2017"]
    models = published[published["exhibit"] == "table2"].pivot(
        index="dataset", columns="metric", values="value"
    )
    assert set(models.index) == {entry["name"] for entry in settings["datasets"]}
    for entry in settings["datasets"]:
        assert (entry["C"], entry["gamma"]) == tuple(models.loc[entry["name"], ["C", "gamma"]])
        ks = {k_table["k"] for k_table in entry["seedings"]}
        assert ks == {3, 10, 100, "loo"} == set(entry["cells"]["seeds"]["published"])
        by_k = {k_table["k"]: k_table["methods"] for k_table in entry["seedings"]}
        assert set(by_k[10]) == set(SEEDS) and {"cold", "sir", "top"} <= set(by_k[3]) & set(by_k[100])


def test_agreement_lists_points_and_ties(tmp_path):
    rows = made_rows()
    rows = rows[(rows["method"] != "libsvm") & (rows["fold"] == "10")]
    rows = rows[rows["settings"] == "published"].reset_index(drop=True)
    rows["differing_points"] = [[3, 4, 8]] * len(rows)
    rows["differing_folds"] = [[0, 0, 1]] * len(rows)
    decisions = [[2e-4, 2e-4, 0.2]] * (len(rows) - 1) + [[-1e-4, -1e-4, -0.1]]
    rows["differing_decisions"] = decisions
    summary, points = (tidy_rows(tmp_path, module, rows) for module in (agreement, agreement_points))
    assert summary[["seeds", "differing", "no_ties"]].to_numpy().tolist() == [[6, 3, 1]]
    assert points["tie"].tolist() == ["yes", "yes", "no"] and points["top"].tolist() == [-1e-4, -1e-4, -0.1]
    body, _ = table_of(agreement, summary, limits=LIMITS)
    assert body == [["madelon", "published", "10", "6", "0", "20", "3", "1", "75.000", "75.000"]]
    lines, _ = table_of(agreement_points, points)
    assert [line[3:5] for line in lines] == [["0", "3"], ["0", "4"], ["1", "8"]]
    assert lines[2][-2:] == ["-0.1", "no"]
    # the one seed that disagrees failed: nothing differs
    rows.loc[len(rows) - 1, "status"] = NOT_CONVERGED
    summary, points = (tidy_rows(tmp_path, module, rows) for module in (agreement, agreement_points))
    assert summary["differing"][0] == 0 and summary["failed"][0] == 1 and len(points) == 0
    assert table_of(agreement_points, points)[0] == []


def test_unlearning_is_shown_where_it_was_run(tmp_path, root):
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    rows = with_unlearning(made_rows())
    first = tidy_rows(tmp_path, table1, rows, PUBLISHED)
    assert list(dict.fromkeys(first["method"])) == list(METHODS)
    body, _ = table_of(table1, first, published=published, part=PUBLISHED)
    assert body[-1][1] == "unlearning" and body[-1][5] == "1.51"
    rows = pd.concat([rows, made_rows().assign(dataset="adult")], ignore_index=True)
    context = Context(published=published, part=PUBLISHED)
    cells = table3.table(tidy_rows(tmp_path, table3, rows, PUBLISHED), context).cells
    headings = [heading for _, heading in cells.columns]
    ours, ratio = headings.index("Unlearning"), headings.index("LIBSVM / unlearning")
    assert [(line[0], line[ours], line[ratio]) for line in cells.to_numpy().tolist()] == [
        ("madelon", "1.5", "132.5"),
        ("madelon", "1.6", "1250.0"),
        ("adult", "not run", "not run"),
        ("adult", "not run", "not run"),
    ]
    assert cells.columns.is_unique
    chosen = tidy_rows(tmp_path, table3, made_rows(), CHOSEN)
    without = table3.table(chosen, Context(published=published, part=CHOSEN)).cells
    assert "Unlearning" not in [heading for _, heading in without.columns]
    # a cell of its own has not seen where the seeds differ
    alone = rows[rows["method"] != "unlearn"]
    for module in (agreement, agreement_points):
        one, other = (tidy_rows(tmp_path, module, part) for part in (rows, alone))
        pd.testing.assert_frame_equal(one, other)


def test_folds_table(tmp_path, root):
    tidy = tidy_of(tmp_path, folds, made_variants())
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    body, notes = table_of(folds, tidy, published=published)
    assert body[0] == ["madelon", "cold", "9000", "9000", "9000 to 9000", "9000", "9000 to 9000"]
    assert body[4] == ["madelon", "T at 0", "n/a", "1801", "1800 to 1802", "1800", "1800 to 1801"]
    assert body[-1] == ["MNIST", "T at 0", "n/a", "1800", "1800 to 1800", "n/a", "n/a"]
    assert "madelon: stratified 3, unstratified 2; MNIST: stratified 1. " in notes[0]


def test_printed_costs_over_libsvm(root):
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    times, iterations = (over_libsvm(published, name) for name in ("time", "iterations"))
    # Table 3: 19.5 s and 620 s
    assert times.at[("madelon", "k=100"), "sir"] == pytest.approx(19.5 / 620)
    # Table 1: seeds in 3,824 s and fits in 5,738 s beside 6,783 s
    assert times.at[("adult", "k=10"), "ato"] == pytest.approx((3824 + 5738) / 6783)
    assert (iterations["libsvm"] == 1).all() and len(iterations) == 5
    assert over_libsvm(published, "kernel_values").empty


@pytest.mark.slow
@pytest.mark.parametrize("module", [figure2, seeds])
def test_figures_are_stable_and_described(tmp_path, root, module):
    published = read_published(root / "workflow/papers/wen2017/printed.csv")
    assert_stable(tmp_path, module, tidy_rows(tmp_path, module, made_rows()), published=published)


def test_the_legend_names_the_mark_of_the_paper_where_there_is_one(tmp_path):
    tidy = drawn(tmp_path, made_rows())["figure2"]
    web = tidy.assign(dataset="webdata")
    for entry, marked in ((web, True), (web[web["method"] != "libsvm"], False)):
        fig = figure2.figure(pd.concat([entry, tidy.assign(dataset="heart-statlog")]), Context())
        labels = [text.get_text() for text in fig.legends[0].get_texts()]
        assert any(label.startswith("paper") for label in labels) == marked


def test_published_figures_have_their_counterparts(tmp_path, scorecard_of):
    rows = made_rows()
    tidy = [tidy_rows(tmp_path, module, rows, PUBLISHED) for module in (table1, table2, table3)]
    card = scorecard_of("wen2017", pd.concat(tidy))
    entry = card[(card["dataset"] == "madelon") & (card["setting"] != "k=3")]
    assert (entry["reproduced"] != "").all() and set(card[card["dataset"] != "madelon"]["reproduced"]) == {""}
    # LIBSVM ran two of the folds: it, and what is relative to it, is extrapolated
    assert set(entry.loc[entry["hardware_dependent"] == "yes", "extrapolated"]) == {"reproduced"}
    cold = entry.set_index(["exhibit", "method", "metric"])
    assert cold.loc[("table1", "libsvm", "iterations"), "within"] == "yes"
    assert cold.loc[("table2", "", "features"), ["reproduced", "within"]].tolist() == ["500", "yes"]
    assert (
        card[card["setting"] == "k=3"]["reason"].str.startswith(("setting not run", "data set not run")).all()
    )
