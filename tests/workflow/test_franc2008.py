"""Selection, tables, figure, agreement and comparison on rows made by hand; runs on small problems."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from data.dataset import Dataset
from lib.causes import runs_of
from lib.claims import claim_tests, decide
from lib.config import fill_defaults, load_schema
from lib.figures import save
from lib.papers import alt_text, load_papers
from lib.rows import (
    ERROR,
    LOO_ROWS,
    NOT_CONVERGED,
    OK,
    SKIPPED,
    TEST_ROWS,
    pack_bits,
    read_rows,
    unpack_bits,
    write_rows,
)
from lib.run import planned
from lib.sample import half_width
from lib.shown import dataset_in_words
from lib.tables import TIDY_COLUMNS, lookup, read_tidy, write_markdown, write_tex, write_tidy
from lib.tolerances import read_published
from papers.franc2008 import causes, cells, claims
from papers.franc2008.checks import agreement
from papers.franc2008.claims import Results
from papers.franc2008.exhibits import errors_of_selected, figure1, table2, table3
from papers.franc2008.layout import agreement_layout, table2_layout, table3_layout
from papers.franc2008.names import ALL_SETS, METHODS
from papers.franc2008.plots import plot_figure1, plot_speedup
from papers.franc2008.sample import for_all_points
from papers.franc2008.selection import COLUMNS, select

from svmselect import RBF, Gram


def loo_row(realisation, C, gamma, estimate, method="standard", status=OK, **more):
    return {
        "dataset": "d",
        "kernel": "linear" if gamma is None else "rbf",
        "realisation": realisation,
        "C": C,
        "gamma": gamma,
        "method": method,
        "estimate": estimate,
        "status": status,
        **more,
    }


def frame(rows):
    return pd.DataFrame(rows).astype({"gamma": float, "estimate": float})


# Selection


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


# Tables


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
    columns, body, notes = table2_layout(pd.DataFrame(tidy), ["d"])
    assert len(columns) == len(body[0]) == 5
    assert body[0][1:3] == ["n/a", "n/a"] and body[0][4].startswith("15.00 ± 7.07")
    assert any("d, linear kernel: 5" in note for note in notes)


def cost(cpu_s, columns, solved, certified, retrained=0, **sample):
    costs = {"cpu_s": cpu_s, "columns_requested": columns, "n_solved": solved}
    costs |= {"n_certified": certified, "n_retrained": retrained}
    return {**costs, **sample}


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
    value = {key: pair[0] for key, pair in values(table3(frame(rows), ["d"])).items()}
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
    columns, body, notes = table3_layout(pd.DataFrame(table3(frame(rows), ["d"])), ["d"])
    assert [len(line) for line in body] == [len(columns)] * 4
    numbers = ["6.0", "4.0", "3.0", "2.0", "75.0", "0.5", "12.0", "4.0", "20.0", "95.0"]
    assert body[0] == ["d", "linear", *numbers] and body[2][2:] == ["n/a"] * 10
    assert body[1] == ["all sets", "linear", *numbers]
    assert any("d, linear kernel: 1" in note for note in notes) and len(notes) == 2


def test_totals_are_ratios_of_sums_and_methods_that_were_not_run_are_missing():
    rows = [
        {**loo_row(1, 1.0, None, 0.1, method, **cost(cpu_s, 10, 2, 1)), "dataset": dataset}
        for dataset, times in (("d", (9.0, 1.0)), ("e", (1.0, 1.0)))
        for method, cpu_s in zip(("standard", "unlearn"), times, strict=True)
    ]
    tidy = pd.DataFrame(table3(frame(rows), ["d", "e"])).set_index(["dataset", "setting", "method", "metric"])
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
    ours = [*errors_of_selected(selected(), tests, ["d"]), *table3(frame(rows), ["d"])]
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


def test_table_writers(tmp_path):
    columns = [("", "Data set"), ("Linear", "LOO (%)"), ("Linear", "Test"), ("RBF", "LOO (%)")]
    body = [["a_b", "1.0", "2.0 ± 0.1", "3|4"]]
    write_markdown(tmp_path / "t.md", "Title", columns, body, ["A note."])
    lines = (tmp_path / "t.md").read_text().splitlines()
    assert lines[2] == "| Data set | Linear: LOO (%) | Linear: Test | RBF: LOO (%) |"
    assert lines[4] == "| a_b | 1.0 | 2.0 ± 0.1 | 3\\|4 |"
    assert lines[-1] == "A note."
    write_tex(tmp_path / "t.tex", "Title", columns, body, ["50 % of C_1."])
    tex = (tmp_path / "t.tex").read_text()
    assert r"a\_b & 1.0 & 2.0 $\pm$ 0.1 & 3|4 \\" in tex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in tex
    assert r"\multicolumn{1}{c}{} & \multicolumn{2}{c}{Linear} & \multicolumn{1}{c}{RBF} \\" in tex
    assert r"50 \% of C\_1." in tex
    assert tex.count("{") == tex.count("}")


# Figure 1


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
    tidy = figure1(stopping_rows(), ["d"])
    value = values(tidy)
    assert value["0", "selected_at_eps", "loo_error"][0] == pytest.approx(15)
    assert value["0", "selected_at_smallest_eps", "loo_error"] == pytest.approx((30, 0))
    assert value["-4", "selected_at_eps", "loo_error"] == value["-4", "selected_at_smallest_eps", "loo_error"]
    assert value["-4", "selected_at_eps", "loo_error"] == pytest.approx((15, np.std([10, 20], ddof=1)))
    assert value["0", "standard", "time"][0] == 4


def test_figure1_has_a_gap_where_the_reference_model_failed():
    rows = stopping_rows()
    rows.loc[(rows["eps"] == 1.0) & (rows["C"] == 1.0), "status"] = NOT_CONVERGED
    value = values(figure1(rows, ["d"]))
    assert np.isnan(value["0", "selected_at_smallest_eps", "loo_error"][0])
    assert value["0", "selected_at_eps", "loo_error"][0] == pytest.approx(15)
    assert value["0", "standard", "failed_models"][0] == 1


def test_the_printed_error_and_axis_stand_in_figure1(root):
    tidy = pd.DataFrame(figure1(stopping_rows(), ["d"]))
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    for dataset, printed in (("banana", [8.55, 15]), ("another", [])):
        ax = plot_figure1(tidy.assign(dataset=dataset), published, [dataset]).axes[0]
        lines = [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1]]
        assert lines == printed


def test_figures_are_the_same_bytes_each_time(tmp_path, root):
    tidy = pd.DataFrame(figure1(stopping_rows(), ["d"]))
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    alt = alt_text(root / "workflow/papers/franc2008/captions/figure1.rst")
    for name in ("a", "b"):
        fig = plot_figure1(tidy, published, ["d"])
        save(fig, tmp_path / f"{name}.pdf", tmp_path / f"{name}.svg", "Figure 1", alt)
        fig = plot_speedup(published, published, [*dict.fromkeys(published["dataset"]), ALL_SETS])
        save(fig, tmp_path / f"{name}2.pdf", tmp_path / f"{name}2.svg", "Speed-up", alt)
    for file in ("a.pdf", "a.svg", "a2.pdf", "a2.svg"):
        assert (tmp_path / file).read_bytes() == (tmp_path / file.replace("a", "b")).read_bytes()
    assert (
        b"/FontFile2" in (tmp_path / "a.pdf").read_bytes()
        and b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    )
    assert alt in (tmp_path / "a.svg").read_text()


def test_a_data_set_without_a_speed_up_has_no_line_in_the_figure(root):
    published = read_published(root / "workflow/papers/franc2008/printed.csv")
    names = list(dict.fromkeys(published.loc[published["exhibit"] == "table3", "dataset"]))
    first, *rest = names
    unknown = published.assign(value=published["value"].mask(published["dataset"] == first))
    for tidy, drawn in ((published, names), (unknown, rest)):
        labels = [
            label.get_text() for label in plot_speedup(tidy, published, names).axes[0].get_yticklabels()
        ]
        assert labels == [*map(dataset_in_words, drawn), ALL_SETS]


def test_every_caption_begins_with_its_alt_text(root):
    for caption in ("table2", "table3", "figure1", "speedup", "agreement"):
        text = alt_text(root / f"workflow/papers/franc2008/captions/{caption}.rst")
        assert 60 < len(text) < 300 and text.endswith(".") and "{{" not in text


# Checks


DECISIONS = {"standard": 1e-4, "proposed": -1e-4, "unlearn": 1e-7}


def pattern_rows(exact=-1e-7, **patterns):
    """Rows of one model from each method's error pattern, with the points that differ as a cell has them."""
    columns = list(zip(*patterns.values(), strict=True))
    differ = [i for i, errors in enumerate(columns) if len(set(errors)) > 1]
    rows = []
    for method, pattern in patterns.items():
        more = {"m": len(pattern), "error_pattern": pack_bits(pattern), "differing_points": differ}
        more |= {"differing_decisions": [DECISIONS[method]] * len(differ)}
        more |= {"differing_exact": [exact] * len(differ)}
        rows.append(loo_row(1, 1.0, None, np.mean(pattern), method, **more))
    return rows


def test_agreement_counts_and_lists_points():
    alike = [True, False, False]
    rows = frame(pattern_rows(standard=alike, proposed=[True, False, True], unlearn=alike))
    summary, differences = agreement(rows, ["d"], 1e-6)
    linear = summary.set_index("kernel").loc["linear"]
    assert (linear["models_compared"], linear["models_equal"]) == (1, 0)
    assert (linear["points_compared"], linear["points_differing"], linear["points_degenerate"]) == (3, 1, 1)
    total = summary.iloc[-1]
    assert (total["dataset"], total["models_compared"], total["points_differing"]) == ("all sets", 1, 1)
    only = differences.iloc[0]
    assert (only["point"], only["error_by"]) == (2, "proposed")
    assert only["degenerate"] and only["wrong_by"] == "" and only["exact_decision"] == -1e-7
    assert [only[f"{method}_decision"] for method in DECISIONS] == list(DECISIONS.values())
    columns, body, notes = agreement_layout(summary, differences, 1e-6)
    assert body[0] == ["d", "linear", "1", "0", "0", "3", "1", "1", "0", "0", "0"] and len(columns) == 11
    assert "point 2" in notes[1] and "1.000e-04 (standard)" in notes[1]
    assert notes[1].endswith("; degenerate.") and "-1.000e-07 (exact)" in notes[1]


def test_agreement_says_who_is_wrong():
    rows = frame(pattern_rows(exact=0.1, standard=[True, False], proposed=[True, True]))
    summary, differences = agreement(rows, ["d"], 1e-6)
    assert summary.iloc[-1][["points_differing", "points_degenerate"]].tolist() == [1, 0]
    wrong = [f"points_wrong_by_{method}" for method in METHODS]
    assert summary.iloc[-1][wrong].tolist() == [0, 1, 0]
    assert np.isnan(differences["unlearn_decision"][0])
    note = agreement_layout(summary, differences, 1e-6)[2][1]
    assert "unlearn" not in note and note.endswith("wrong: proposed.")


def test_agreement_without_an_exact_value_accuses_nobody():
    rows = frame(pattern_rows(exact=np.nan, standard=[True, False], proposed=[True, True]))
    summary, differences = agreement(rows, ["d"], 1e-6)
    assert differences["wrong_by"].tolist() == [""] and not differences["degenerate"].any()
    assert agreement_layout(summary, differences, 1e-6)[2][1].endswith("wrong: undecided.")


def test_agreement_of_equal_patterns_and_of_failures():
    rows = pattern_rows(standard=[True, False], proposed=[True, False])
    failed = [{**row, "C": 2.0} for row in rows]
    failed[1] |= {"status": ERROR, "error_pattern": None}
    summary, differences = agreement(frame(rows + failed), ["d"], 1e-6)
    linear = summary.set_index("kernel").loc["linear"]
    assert linear[["models_equal", "points_differing", "models_not_compared"]].tolist() == [1, 0, 1]
    assert differences.empty


def test_agreement_notices_points_that_a_cell_did_not_record():
    rows = pattern_rows(standard=[True, False], proposed=[True, True])
    for row in rows:
        row["differing_points"] = []
    with pytest.raises(ValueError, match="differ in the points"):
        agreement(frame(rows), ["d"], 1e-6)


def tidy_frame(*rows):
    return pd.DataFrame([dict(zip(TIDY_COLUMNS, row, strict=True)) for row in rows], columns=TIDY_COLUMNS)


DECLARED = yaml.safe_load(
    Path(__file__).parents[2].joinpath("workflow/papers/franc2008/claims.yaml").read_text()
)
# those that the rows made here are about; test_claims.py has all
DECIDED = [
    "identical-errors",
    "never-slower",
    "speedup-linear",
    "speedup-rbf",
    "breakdown",
    "linear-estimate",
    "methods-agree",
    "unlearn-exact",
    "unlearn-speedup",
    "unlearn-never-slower",
]
TESTS = claim_tests(claims)
CLAIMS = {name: DECLARED["claims"][name] for name in DECIDED}
LIMITS = {name: limit["value"] for name, limit in DECLARED["limits"].items()}


def three_methods(times, gamma=None):
    """Rows of one model: CPU times of standard, proposed and unlearn, columns in proportion."""
    return [
        loo_row(1, 1.0, gamma, 0.1, method, **cost(s, 1e6 * s, 10, 4))
        for method, s in zip(METHODS, times, strict=True)
    ]


def claimed(rows=(), tidy=(), published=(), differences=None, methods=METHODS):
    """Verdicts by claim, and the numbers, of result rows and further tidy rows."""
    tables = pd.DataFrame(table3(frame(list(rows)), ["d"])) if rows else tidy_frame()
    if differences is None:
        _, differences = agreement(frame(pattern_rows(standard=[True], unlearn=[True])), ["d"], 1e-6)
    results = Results(
        tidy=pd.concat([tables, tidy_frame(*tidy)]),
        published=tidy_frame(*published),
        datasets=["d"],
        methods=list(methods),
        limits=LIMITS,
        agreement_points=differences,
    )
    verdicts, numbers = decide(CLAIMS, TESTS, results)
    return verdicts.set_index("claim"), numbers


def test_claims_need_results_and_published_sets():
    verdicts, numbers = claimed(methods=["unlearn"])
    assert set(verdicts["verdict"]) == {"not testable here"} and numbers.empty
    assert not verdicts["tests"].any()


def test_where_proposed_is_slower_the_numbers_say_why():
    rows = three_methods((1.0, 2.0, 0.01)) + three_methods((3.0, 1.0, 0.5), gamma=0.5)
    verdicts, numbers = claimed(rows)
    assert verdicts.loc["never-slower", ["tests", "held", "verdict"]].tolist() == [4, 2, "not reproduced"]
    why = numbers[(numbers["claim"] == "never-slower") & (numbers["holds"] == "")]
    assert set(why["kernel"]) == {"linear"}
    value = why.set_index("quantity")["value"]
    assert value["certified, percent"] == 40
    assert value["columns per solved point, proposed"] == 2e5
    assert value["columns per CPU second, standard"] == 1e6


def test_claims_of_unlearning():
    rows = three_methods((32.0, 11.0, 1.0)) + three_methods((9.0, 3.0, 1.0), gamma=0.5)
    verdicts, numbers = claimed(rows)
    assert verdicts["verdict"]["unlearn-speedup"] == "reproduced but for 1 of 4"
    failed = numbers[numbers["holds"] == "no"].iloc[0]
    assert (failed["dataset"], failed["kernel"], failed["value"]) == ("all sets", "rbf", 3)
    assert verdicts["verdict"]["unlearn-never-slower"] == "reproduced"
    # too short to count with the linear kernel, slower than proposed with the RBF kernel
    rows = three_methods((0.01, 0.01, 0.04)) + three_methods((9.0, 1.0, 2.0), gamma=0.5)
    verdicts, _ = claimed(rows)
    assert verdicts.loc["unlearn-never-slower", ["tests", "held"]].tolist() == [2, 1]


def test_claims_of_agreement_count_what_is_not_degenerate():
    rows = three_methods((3.0, 2.0, 1.0))
    patterns = {"standard": [True, False], "proposed": [True, False], "unlearn": [True, True]}
    for degenerate, verdict in ((1e-6, "reproduced"), (1e-8, "not reproduced")):
        _, differences = agreement(frame(pattern_rows(**patterns)), ["d"], degenerate)
        verdicts, _ = claimed(rows, differences=differences)
        assert verdicts.loc["methods-agree", ["tests", "verdict"]].tolist() == [1, verdict]
        assert verdicts["verdict"]["identical-errors"] == "reproduced"
    # the exact value is -1e-7, that of unlearning +1e-7
    assert verdicts.loc["unlearn-exact", ["tests", "verdict"]].tolist() == [1, "not reproduced"]


def test_claims_of_average_and_largest_speedup_compare_with_the_published_ones():
    rows = three_methods((4.0, 1.0, 1.0))
    place = ("table3", "d", "linear", "proposed")
    published = [
        (*place, metric, 4.5, np.nan, "ratio") for metric in ("time_speedup", "kernel_column_speedup")
    ]
    assert claimed(rows, published=published)[0]["verdict"]["speedup-linear"] == "reproduced"
    missing = ("table3", "e", "linear", "proposed", "time_speedup", 4.5, np.nan, "ratio")
    verdicts, _ = claimed(rows, published=[*published, missing])
    assert verdicts.loc["speedup-linear", ["tests", "held"]].tolist() == [2, 2]


def figure1_rows(errors):
    """Tidy rows from log10 eps -> error of the models selected with the same eps, with the smallest."""
    methods = ("selected_at_eps", "selected_at_smallest_eps")
    return [
        ("figure1", "d", eps, method, "loo_error", value, np.nan, "percent")
        for eps, pair in errors.items()
        for method, value in zip(methods, pair, strict=True)
    ]


def test_claim_of_the_breakdown():
    tidy = figure1_rows({"-4": (10, 10), "-3": (10.1, 10.2), "-1": (10.2, 12), "0": (5, 9)})
    verdicts, numbers = claimed(tidy=tidy)
    assert verdicts["verdict"]["breakdown"] == "reproduced"
    assert numbers["value"].tolist() == [-1, 4]
    never = figure1_rows({"-4": (10, 10), "0": (10.1, 10.2)})
    verdicts, numbers = claimed(tidy=never)
    assert verdicts["verdict"]["breakdown"] == "not reproduced" and np.isinf(numbers["value"][0])


def test_claim_of_the_linear_estimate():
    tidy = [
        ("table2", "d", "linear", "loo", "loo_error", 20, 3, "percent"),
        ("table2", "d", "linear", "loo", "test_error", 23, 4, "percent"),
        ("table2", "d", "linear", "loo", "loo_realisations", 1, np.nan, "count"),
        ("table2", "d", "linear", "loo", "test_realisations", 1, np.nan, "count"),
    ]
    verdicts, numbers = claimed(tidy=tidy)
    assert verdicts["verdict"]["linear-estimate"] == "reproduced" and numbers["value"].tolist() == [0.6]


# Runs


@pytest.fixture(scope="module")
def prepared(tmp_path_factory, root):
    from data.prepare import prepare
    from data.registry import load_registry

    path = tmp_path_factory.mktemp("data") / "titanic-table.npz"
    prepare(load_registry(root / "config/datasets.yaml")["titanic-table"], None, path)
    return path


@pytest.fixture
def run_loo(prepared, job_of):
    """A function: the rows of a cell with some arguments or settings changed."""

    def run(timing="shared", **changes):
        job = job_of(prepared, timing, paper="franc2008", dataset="titanic-table")
        settings = {"eps": 1e-3, "efficiency_test": 10, "max_iter": None}
        arguments = {
            "realisation": 1,
            "gamma": 0.5,
            "C": [1.0, 10.0],
            "methods": ["unlearn", "standard", "proposed"],
        }
        for name, value in changes.items():
            (arguments if name in arguments else settings)[name] = value
        return job.rows(cells.run_loo, **arguments, settings=SimpleNamespace(**settings))

    return run


def test_cell_rows_hold_identity_result_cost_and_status(run_loo, tmp_path):
    rows = run_loo(timing="exclusive")
    write_rows(tmp_path / "rows.parquet", rows, LOO_ROWS)
    table = read_rows([tmp_path / "rows.parquet"])
    assert table[["C", "method"]].to_numpy().tolist() == [
        [C, method] for C in (1.0, 10.0) for method in ("unlearn", "standard", "proposed")
    ]
    assert set(table["status"]) == {OK} and set(table["tol"]) == {2e-3} and set(table["m"]) == {150}
    assert set(table["timing_mode"]) == {"exclusive"} and (table["wall_s"] > 0).all()
    assert (table["estimate"] == table["errors"] / table["rows_tested"]).all()
    paper = table["method"] != "unlearn"
    assert (table["n_retrained"] + table["n_certified"] == table["n_solved"])[paper].all()
    assert (table["n_retrained"] + table["n_certified"] <= table["n_solved"]).all()
    assert table["start_C"].dropna().to_dict() == {3: 1.0} and table["method"][3] == "unlearn"
    counts = table[["n_check1", "n_check2", "n_check3", "n_solved"]].sum(axis=1)
    assert (counts == table["m"]).all()
    assert (table.loc[table["method"] == "standard", "n_certified"] == 0).all()
    summary, _ = agreement(table, ["titanic-table"], 1e-6)
    assert summary.set_index("kernel").loc["rbf", ["models_compared", "points_compared"]].tolist() == [2, 300]


def test_points_that_differ_are_retrained(prepared, run_loo, monkeypatch):
    """One method is made to err at a point: both rows list it, with the decision value without it."""
    original = cells.leave_one_out

    def erring(*arguments, **options):
        loo = original(*arguments, **options)
        if options["method"] == "certified":
            loo.errors[7] ^= True
        return loo

    monkeypatch.setattr(cells, "leave_one_out", erring)
    rows = run_loo(C=[1.0])
    X, y, *_ = Dataset.load(prepared).realisation(1)
    gram = Gram(X, RBF(0.5))
    exact = original(gram, y, 1.0, method="retrain", tol=1e-10)
    assert exact.resolved_by[7] == "retrained"
    for row in rows:
        assert row["differing_points"] == [7]
        assert row["differing_exact"] == pytest.approx([exact.decision[7]], abs=1e-6)


def test_baselines_on_a_sample_of_the_points(run_loo, tmp_path):
    result = {}
    for sample in (None, 12):
        path = tmp_path / f"{sample}.parquet"
        write_rows(path, run_loo(**({"sample": sample} if sample else {})), LOO_ROWS)
        (tmp_path / "checkpoint.jsonl").unlink()
        result[sample] = read_rows([path])
    whole, part = result.values()
    ours = whole["method"] == "unlearn"
    assert part.loc[ours, "stands_for"].isna().all() and whole["stands_for"].isna().all()
    np.testing.assert_array_equal(part.loc[ours, "errors"], whole.loc[ours, "errors"])
    whole, part = whole[~ours], part[~ours]
    assert (whole["n_solved"] > 24).all() and (part["n_solved"] == 12).all()
    np.testing.assert_allclose(part["stands_for"] * 12, whole["n_solved"])
    every = for_all_points(part)
    np.testing.assert_allclose(every["n_solved"], whole["n_solved"])
    # what is not solving for points costs the same
    assert (part["solving_columns"] < part["columns_requested"]).all()
    assert (every["columns_requested"] > part["columns_requested"]).all()
    error = np.sqrt(every["columns_requested_variance"])
    assert (abs(every["columns_requested"] - whole["columns_requested"]) < 4 * error).all() and (
        error > 0
    ).all()
    for row, other in zip(part.itertuples(), whole.itertuples(), strict=True):
        decided = unpack_bits(row.decided, row.m)
        errors = unpack_bits(other.error_pattern, other.m)
        np.testing.assert_array_equal(unpack_bits(row.error_pattern, row.m), errors & decided)
        assert (row.rows_tested, row.errors) == (decided.sum(), (errors & decided).sum())
    summary, _ = agreement(result[12], ["titanic-table"], 1e-6)
    compared = summary.set_index("kernel").loc["rbf", "points_compared"]
    assert compared == part.loc[part["method"] == "standard", "rows_tested"].sum() < 300
    tidy = pd.DataFrame(table3(result[12], ["titanic-table"]))
    spread = lookup(tidy)
    assert all(
        spread("titanic-table", "rbf", "proposed", f"{name}_speedup")[1] > 0
        for name in ("time", "kernel_column")
    )
    _, body, notes = table3_layout(tidy, ["titanic-table"])
    assert any("95 % interval" in note for note in notes) and sum("±" in text for text in body[2]) == 7
    _, _, notes = table3_layout(pd.DataFrame(table3(result[None], ["titanic-table"])), ["titanic-table"])
    assert not any("95 % interval" in note for note in notes)


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
    assert (cells_table["splice/realisation-1/linear"], cells_table["image/realisation-5/linear"]) == (
        45,
        1500,
    )
    assert {cells_table[name] for name in cells_table if "/rbf" in name} == {1500}
    assert {*result["stopping"].values(), *result["test"].values()} == {None}
    assert set(samples("full")["cells"].values()) == {None}


@pytest.mark.parametrize("inside", [True, False])
def test_points_outside_the_sample_are_not_compared(run_loo, monkeypatch, inside):
    original, erred = cells.leave_one_out, []

    def erring(*arguments, **options):
        loo = original(*arguments, **options)
        if options["method"] == "certified" and "sample" in options:
            point = np.flatnonzero((loo.stands_for > 1) if inside else (loo.stands_for == 0))[0]
            loo.errors[point] ^= True
            erred.append(point)
        return loo

    monkeypatch.setattr(cells, "leave_one_out", erring)
    rows = run_loo(C=[1.0], sample=12)
    assert {tuple(row["differing_points"]) for row in rows} == {tuple(erred) if inside else ()}


def test_intervals_of_samples_hold_what_they_say():
    rng = np.random.default_rng(0)
    N, n, draws = 200, 40, 2000
    costs = {"standard": rng.gamma(2.0, 1.0, N), "proposed": rng.gamma(1.0, 1.0, N)}
    truth = (5 + costs["standard"].sum()) / (5 + costs["proposed"].sum())
    covered, estimates = 0, []
    for _ in range(draws):
        parts = []
        for each in costs.values():
            drawn = rng.choice(each, n, replace=False)
            sample_table = {
                "stands_for": N / n,
                "solving_cpu_s": drawn.sum(),
                "solving_cpu_s_sd": drawn.std(ddof=1),
            }
            row = cost(5 + drawn.sum(), 1.0, n, 0, **sample_table)
            every = for_all_points(pd.DataFrame([row])).iloc[0]
            parts.append((every["cpu_s"], every["cpu_s_variance"]))
        (above, _), (below, _) = parts
        estimates.append(above)
        covered += abs(above / below - truth) < half_width(above / below, *parts)
    assert np.mean(estimates) == pytest.approx(5 + costs["standard"].sum(), rel=0.01)
    assert 0.93 < covered / draws < 0.97
    assert np.isnan(half_width(2.0, (2.0, 0.0), (1.0, 0.0)))


def test_killed_cell_resumes(run_loo, tmp_path, monkeypatch, cold):
    whole = run_loo()
    (tmp_path / "checkpoint.jsonl").unlink()
    original, calls = cells.leave_one_out, []

    def killed(*arguments, **options):
        calls.append(options["method"])
        if len(calls) == 4:
            raise KeyboardInterrupt
        starts.append(options.get("start"))
        return original(*arguments, **options)

    starts = []
    monkeypatch.setattr(cells, "leave_one_out", killed)
    with pytest.raises(KeyboardInterrupt):
        run_loo()
    resumed = run_loo()
    methods = ["unlearn", "retrain", "certified"]
    assert calls == [*methods, "unlearn", *methods]
    # the solution that the killed job had found starts the next model
    assert [start is None for start in starts] == [True, True, True, False, True, True]
    assert 0 < starts[3].max() == 10
    patterns = [[row["error_pattern"] for row in rows] for rows in (whole, resumed)]
    assert patterns[0] == patterns[1]


def test_cell_that_does_not_converge_leaves_rows_and_tables(prepared, run_loo, job_of, tmp_path):
    """One iteration is not enough: rows say so, no model is selected, the tables come without numbers."""
    rows = []
    for gamma in (None, 0.5):
        rows += run_loo(gamma=gamma, max_iter=1)
    write_rows(tmp_path / "rows.parquet", rows, LOO_ROWS)
    table = read_rows([tmp_path / "rows.parquet"])
    assert set(table["status"]) == {NOT_CONVERGED} and table["reason"].str.contains("iteration limit").all()
    tests = []
    for kernel in ("linear", "rbf"):
        job = job_of(prepared, paper="franc2008", dataset="titanic-table")
        settings = SimpleNamespace(method="standard", eps=1e-3, max_iter=1)
        given = {"kernel": kernel, "realisations": [1, 2], "cells": table, "settings": settings}
        tests += job.rows(cells.run_test, **given)
    assert {row["status"] for row in tests} == {SKIPPED}
    write_rows(tmp_path / "tests.parquet", tests, TEST_ROWS)
    write_tidy(
        tmp_path / "table2.csv",
        table2(table, read_rows([tmp_path / "tests.parquet"]), ["titanic-table"], "standard"),
    )
    write_tidy(tmp_path / "table3.csv", table3(table, ["titanic-table"]))
    for layout, name in ((table2_layout, "table2"), (table3_layout, "table3")):
        columns, body, notes = layout(read_tidy(tmp_path / f"{name}.csv"), ["titanic-table"])
        assert "n/a" in body[0] and len(notes) == (3 if name == "table2" else 2)
        write_markdown(tmp_path / f"{name}.md", name, columns, body, notes)


def test_numerical_failure_is_a_row_and_a_fault_is_not(run_loo, tmp_path, monkeypatch, cold):
    def singular(*arguments, **options):
        raise FloatingPointError("overflow")

    monkeypatch.setattr(cells, "leave_one_out", singular)
    rows = run_loo()
    assert {row["status"] for row in rows} == {ERROR}
    assert {row["reason"] for row in rows} == {"FloatingPointError: overflow"}
    assert not (tmp_path / "checkpoint.jsonl").exists()

    def broken(*arguments, **options):
        raise AttributeError("no such thing")

    monkeypatch.setattr(cells, "leave_one_out", broken)
    with pytest.raises(AttributeError):
        run_loo()


def test_tables_know_the_methods_that_cells_run():
    assert tuple(cells.METHODS) == METHODS


def test_tolerance_is_twice_eps():
    assert cells.tolerance(0.001) == 0.002


# Causes


def test_time_of_the_columns_takes_the_place_of_the_clock():
    rows = frame(
        [
            loo_row(1, 1.0, None, 0.1, "standard", **cost(2.0, 6_000_000, 10, 0)),
            loo_row(1, 1.0, None, 0.1, "proposed", **cost(4.0, 1_000_000, 10, 6)),
        ]
    )
    clock, columns = (
        pd.DataFrame(tidy).set_index(["dataset", "setting", "method", "metric"])["value"]
        for tidy in (table3(rows, ["d"]), causes.table3_in_columns(rows))
    )
    place = "d", "linear", "proposed"
    assert clock[*place, "time_speedup"] == 0.5 and columns[*place, "time_speedup"] == 6
    for metric in ("kernel_columns", "kernel_column_speedup", "certified"):
        assert columns.loc[[(*place, metric)]].tolist() == clock.loc[[(*place, metric)]].tolist()


def test_smo_alone_stops_at_a_gap_of_eps(root, registry):
    config = yaml.safe_load((root / "config/config.yaml").read_text())
    config |= yaml.safe_load((root / "config/paper.yaml").read_text())
    fill_defaults(config, load_schema())
    declared = load_papers()["franc2008"].causes["eps_by_smo"]
    (run,) = runs_of("franc2008", "eps_by_smo", declared, config, registry)
    settings = run.settings_of("heart/realisation-1/linear")
    assert cells.tolerance(settings["eps"]) == config["franc2008"]["eps"] == 1e-3
    assert settings["active_set"] is False and "sample" not in settings
    assert all(name.endswith("/linear") for name in run.cells)


def test_smo_is_alone_in_the_methods_of_the_paper(run_loo, monkeypatch, cold):
    """Ours begins with the active-set method."""
    requested = []
    original = cells.leave_one_out

    def noting(*arguments, **options):
        requested.append((options["method"], options.get("active_set", True)))
        return original(*arguments, **options)

    monkeypatch.setattr(cells, "leave_one_out", noting)
    run_loo(C=[1.0], active_set=False)
    assert set(requested) == {("unlearn", True), ("retrain", False), ("certified", False)}


def test_a_draw_of_the_selecting_splits_selects_its_own_model(prepared, job_of, monkeypatch):
    """Leave-one-out is made to prefer another C on the second draw: its test errors are those of that C."""
    job = job_of(prepared, paper="franc2008", dataset="titanic-table")
    seen = []

    def preferring(gram, y, C):
        seen.append(C)
        best = 0.01 if len(seen) <= 4 else 10.0
        return SimpleNamespace(error=float(best != C))

    monkeypatch.setattr(causes, "leave_one_out", preferring)
    arguments = {"Cs": [0.01, 10.0], "gammas": [None], "draws": 2, "splits": 2, "realisations": [1, 2, 3]}
    settings = SimpleNamespace(eps=1e-3, max_iter=None)
    rows = pd.DataFrame(job.rows(causes.run_draws_of_selection, **arguments, settings=settings))
    assert len(seen) == 2 * 2 * 2
    chosen = rows.groupby("fold")["C"].unique().map(list).to_dict()
    assert chosen == {"selected on 1 to 2": [0.01], "selected on 3 to 4": [10.0]}
    (tidy,) = causes.draws_of_selection(rows)
    means = 100 * rows.groupby("fold")["estimate"].mean()
    assert means.nunique() == 2
    assert tidy["value"] == pytest.approx(means.mean()) and tidy["spread"] == pytest.approx(means.std())
