"""The numbers of the README and of the page on speed are those of the result files."""

import re

import pandas as pd
import pytest
from checkouts import ROOT
from documents.fences import SHELL, blocks, documents
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

BENCHMARKS, PAPER = ROOT / "benchmarks/results", ROOT / "results/paper"


@pytest.fixture(scope="module")
def readme():
    return documents()["README.md"]


def parsed(text):
    return MarkdownIt().enable("table").parse(text)


def tables(text):
    """Every table of a text: its rows, the headings first, as lists of the cells' Markdown."""
    return [
        [
            [cell.children[0].content for cell in row.children]
            for part in table.children
            for row in part.children
        ]
        for table in SyntaxTreeNode(parsed(text)).children
        if table.type == "table"
    ]


def test_continuous_integration_calls_its_commands():
    shell = [block for block in blocks() if block.document == "README.md" and block.language in SHELL]
    assert {"make", "make test"} <= {line for block in shell for line in block.text.splitlines()}
    assert {"run", "run test"} <= set((ROOT / ".ci/run").read_text().splitlines())


@pytest.fixture(scope="module")
def training():
    """Of the comparison on one thread: the row of each kernel and C, and of each problem."""
    page = (BENCHMARKS / "compare.md").read_text().split("## 2 threads")[0]
    result = {rows[0][2]: rows for rows in tables(page)}
    means = {tuple(row[:3]): row for row in result["problems"]}
    return means, result["problem"]


def is_rounded(text, value):
    """Whether a number in a text is a value, rounded."""
    number = text.replace(",", "")
    decimals = len(number.partition(".")[2])
    return abs(float(number) - value) <= 0.5 * 10**-decimals + 1e-9


def test_speeds_are_those_of_the_files(readme, training):
    means, (headings, *problems) = training
    (table,) = [rows for rows in tables(readme) if rows[0][2] == "Peer / svmselect"]
    said = {(work, peer): ratio for work, peer, ratio, _ in table[1:]}
    worst = min((row for row in problems if row[:2] == ["rbf", "1"]), key=lambda row: float(row[-1]))
    peers = [column for column in range(4, 9) if worst[column] != "n/a"]
    fastest = min(peers, key=lambda column: float(worst[column]))
    tuned, aside = means["rbf", "1", "tuned on"], means["rbf", "1", "set aside"]
    loo = pd.read_csv(BENCHMARKS / "loo_grid.csv").set_index(["problem", "method"]).loc["image"]
    linear = means["linear", "1", "tuned on"]
    assert tuned[3] == linear[3] == "10 of 10" and aside[3] == "8 of 8"
    sizes = pd.read_csv(BENCHMARKS / "compare.csv").groupby("problem")["rows"].first()
    assert loo["extrapolated"].astype(str).to_dict() == {"10-fold": "no", "leave-one-out": "yes"}
    assert said == {
        ("training, RBF kernel, C = 1: mean of ten problems", "LIBSVM"): tuned[4],
        ("the same", "the fastest peer"): tuned[5],
        ("the same, on eight problems set aside", "the fastest peer"): aside[5],
        (f"the worst of the eight: {sizes[worst[2]]} rows", headings[fastest]): worst[-1],
        ("training, linear kernel, C = 1: mean of ten problems", "the fastest peer"): linear[5],
        ("10 folds of 64 RBF models, image", "`GridSearchCV`"): f"{loo.loc['10-fold', 'speedup']:.3g}",
        (
            "leave-one-out of the same models, extrapolated",
            "`GridSearchCV`",
        ): f"{loo.loc['leave-one-out', 'speedup']:,.0f}",
    }


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_screen_has_the_times_of_the_file(page):
    rows = pd.read_csv(BENCHMARKS / "loo_grid.csv").set_index(["problem", "method"]).loc["image"]
    first = " ".join(documents()[page].split("## ")[0].split())
    said = r"10 folds take (\S+) seconds, .* takes (\S+) seconds[.] .* takes (\S+) seconds for these folds"
    folds, one_by_one, theirs = re.search(said, first).groups()
    assert is_rounded(folds, rows.loc["10-fold", "svmselect_cpu_s"])
    assert is_rounded(one_by_one, rows.loc["leave-one-out", "svmselect_cpu_s"])
    assert is_rounded(theirs, rows.loc["10-fold", "sklearn_cpu_s"])
    assert rows.loc["leave-one-out", "sklearn_cpu_s"] / 3600 == pytest.approx(1, abs=0.1)
    assert set(rows["rows"]) == {1300} and "64 models on 1,300 rows" in first


def test_the_page_on_speed_has_the_means_of_training():
    assert "{include} ../benchmarks/results/compare_means.md" in documents()["docs/speed.md"]
    whole = [rows for rows in tables((BENCHMARKS / "compare.md").read_text()) if rows[0][2] == "problems"]
    assert tables((BENCHMARKS / "compare_means.md").read_text()) == whole != []


def test_the_page_on_speed_has_the_costs_of_seeds():
    rows = pd.read_csv(PAPER / "wen2017/seeds.csv")
    rows = rows[(rows["exhibit"] == "chosen") & (rows["metric"] == "time")]
    time = rows.set_index(["dataset", "setting", "method"])["value"].rename({"heart-statlog": "heart"})
    (table,) = [rows for rows in tables(documents()["docs/speed.md"]) if rows[0][0] == "data set"]
    for dataset, _, *cells in table[1:]:
        for k, (cold, *ratios) in (("k=10", cells[:4]), ("k=100", cells[4:])):
            number, unit = cold.split()
            assert is_rounded(number, time[dataset, k, "cold"] * {"s": 1, "ms": 1000}[unit])
            for method, ratio in zip(("sir", "avg", "top"), ratios, strict=True):
                assert is_rounded(ratio, time[dataset, k, method] / time[dataset, k, "cold"]), (dataset, k)
    assert len(table) == 5


def test_the_page_on_speed_has_the_costs_of_folds():
    rows = pd.read_csv(BENCHMARKS / "folds.csv")
    methods = [f"{name}_cpu_s" for name in ("cold", "top", "unlearn", "libsvm")]
    ours = rows[rows["C"] == 10].set_index(["problem", "folds"])
    text = documents()["docs/speed.md"]
    (table,) = [rows for rows in tables(text) if rows[0][:3] == ["problem", "rows", "k = 10, cold"]]
    for problem, m, *cells in table[1:]:
        assert int(m.replace(",", "")) == ours["rows"][problem, 10]
        for k, seconds in ((10, cells[:4]), (100, cells[4:])):
            for number, column in zip(seconds, methods, strict=True):
                assert is_rounded(number, ours[column][problem, k]), (problem, k, column)
    assert len(table) == 7
    hundred = rows[rows["folds"] == 100]
    for column, mean, least in zip(
        ("libsvm_cpu_s", "cold_cpu_s", "top_cpu_s"),
        re.search(r"LIBSVM takes (\S+), cold starts (\S+), and TOP (\S+) times as long", text).groups(),
        re.search(r"the least ratios are (\S+), (\S+) and (\S+) \(", text).groups(),
        strict=True,
    ):
        ratio = hundred[column] / hundred["unlearn_cpu_s"]
        assert is_rounded(mean, ratio.prod() ** (1 / len(ratio))) and is_rounded(least, ratio.min())
    assert rows["points_different"].sum() == 0


def read(name):
    return pd.read_csv(BENCHMARKS / f"{name}.csv")


def bandwidths():
    rows = read("bandwidth").query("rows >= 5000")
    random = rows["random_rows_gb_s"]
    return rows["all_gb_s"].min(), rows["all_gb_s"].max(), rows["dram_gb_s"].max(), random.min(), random.max()


def costs_of_smoothing():
    seconds = read("grid").query("threads == 1").pivot(index="grid", columns="peer", values="wall_s")
    ratio = seconds["TorchKM"] / seconds["svmselect"]
    return ratio.min(), ratio.max()


def costs_of_left_out_regressions():
    rows = read("regression").query("rows == 1000")
    ratio = rows["sklearn_loo_cpu_s"] / rows["loo_cpu_s"]
    return len(ratio), ratio.min(), ratio.max(), ratio.prod() ** (1 / len(ratio))


def wins_of_ten_cold_folds():
    rows = read("folds").query("folds == 10")
    return (rows["cold_cpu_s"] < rows["unlearn_cpu_s"]).sum(), len(rows)


def costs_of_decision_values():
    rows = read("loo_decisions")
    ratio = rows["ratio"]
    return ratio.min(), ratio.max(), rows["largest_ratio"].max(), rows["largest_extra_s"].max()


@pytest.mark.parametrize(
    ("page", "sentence", "measured"),
    [
        ("speed", "run at N to N GB/s, .* read N GB/s .* order, .* at N to N GB/s", bandwidths),
        ("speed", "TorchKM, .*, takes N to N times as long on one thread", costs_of_smoothing),
        (
            "speed",
            "of N problems of 1,000 rows, scikit-learn takes N to N times as long, .* The mean is N[.]",
            costs_of_left_out_regressions,
        ),
        ("speed", "cold starts are faster than unlearning on N of N models", wins_of_ten_cold_folds),
        (
            "how_it_works",
            "values cost N to N times as much .* costs up to N times as much, at most N seconds more",
            costs_of_decision_values,
        ),
    ],
)
def test_a_sentence_has_the_numbers_of_its_file(page, sentence, measured):
    text = " ".join(documents()[f"docs/{page}.md"].split())
    numbers = re.search(sentence.replace("N ", r"([\d.]+) ").replace("N[", r"(\d+)["), text).groups()
    assert all(is_rounded(*pair) for pair in zip(numbers, measured(), strict=True)), numbers


def test_few_folds_choose_as_well_as_leave_one_out_and_the_least_cost_less():
    rows = pd.read_csv(PAPER / "comparison/estimators.csv").set_index(["metric", "method"])["value"]
    assert rows["regret"][["kfold_3", "kfold_5", "kfold_10"]].max() <= rows["regret"]["loo"]
    assert rows["fits"]["kfold_3"] < rows["fits"]["loo"]
    best = rows["regret"].sort_values().index
    assert list(best[:3]) == ["kfold_3", "kfold_5", "kfold_10"]
    assert set(best[-3:]) == {"random", "radius_margin", "rescaled_radius_margin"}
    assert best[-3] == "random"


def test_numbers_outside_their_tolerance_are_mostly_costs():
    card = pd.read_csv(PAPER / "scorecard.csv")
    metrics = card.loc[card["within"] == "no", "metric"]
    costs = metrics.str.match("time|iterations|kernel_columns|kernel_column_speedup")
    assert costs.mean() > 0.5
