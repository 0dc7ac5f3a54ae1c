"""The rules: plans of the presets, style, and a small run from data to exhibits."""

import re

import pandas as pd
import pytest
from checkouts import ROOT, SMALL, planned
from lib.rows import OK, read_rows
from lib.tables import TIDY_COLUMNS, read_tidy


def rules(root):
    """Text of each rule by name."""
    text = "\n".join(path.read_text() for path in sorted((root / "workflow").rglob("*.smk")))
    # some stand under an if
    result = re.findall(r"^( *)rule (\w+):\n(.*?)(?=^\1?\S|\Z)", text, flags=re.MULTILINE | re.DOTALL)
    return {name: body for _, name, body in result}


def paper_of(rule):
    """The paper, or the comparison, that a rule's name begins with."""
    return re.match(r"(?:([a-z]+\d{4}|comparison)_)?", rule).group(1) or ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "jobs", "most"),
    [
        ([], {"franc2008_loo": 1, "franc2008_stopping": 1, "sarafis2018_models": 1, "prepare_data": 10}, 60),
        (
            ["--configfile", "config/paper.yaml", "--config", "compute=true", "causes=[]"],
            {
                "download_data": 32,
                "franc2008_loo": 13 * 5,
                "franc2008_stopping": 9,
                "sarafis2018_models": 118,
            },
            900,
        ),
    ],
)
def test_plan(checkout, arguments, jobs, most):
    done = checkout.snakemake("--dry-run", "--quiet", "rules", *arguments)
    assert done.returncode == 0, done.stderr
    counts = planned(done.stdout)
    assert {name: counts[name] for name in jobs} == jobs and counts["total"] <= most
    assert not (checkout.folder / "resources").exists() and not (checkout.folder / "results").exists()


@pytest.mark.slow
def test_the_paper_preset_computes_nothing(checkout):
    """From another folder, which has nothing but the committed rows."""
    for rows in (ROOT / "results/paper").glob("*/rows"):
        link = checkout.folder / rows.relative_to(ROOT)
        link.parent.mkdir(parents=True)
        link.symlink_to(rows)
    paper = ("--dry-run", "--quiet", "rules", "--profile", "profiles/paper", "--")
    done = checkout.snakemake(*paper, "results/paper/wen2017/figure2.pdf")
    assert planned(done.stdout) == {"wen2017_make_exhibits": 1, "total": 1}
    jobs = planned(checkout.snakemake(*paper, "figures").stdout)
    verbs = ("make_exhibits", "make_causes", "make_scorecard", "figures")
    assert [name for name in jobs if not name.endswith((*verbs, "total"))] == []


@pytest.mark.slow
def test_selection_by_one_method_compares_none(checkout):
    config = {**SMALL, "franc2008": {**SMALL["franc2008"], "methods": ["unlearn"]}}
    done = checkout.snakemake("--dry-run", "--quiet", "rules", "--", "all", "report", config=config)
    assert done.returncode == 0, done.stderr
    jobs = planned(done.stdout)
    assert {"franc2008_make_exhibits", "make_scorecard"} <= set(jobs)
    for exhibit in ("table3.csv", "agreement.csv", "speedup.pdf"):
        absent = checkout.snakemake("--dry-run", "--", f"results/small/franc2008/{exhibit}", config=config)
        assert "MissingRuleException" in absent.stdout + absent.stderr


@pytest.mark.slow
def test_mistake_in_the_configuration_is_one_sentence(checkout):
    done = checkout.snakemake("--dry-run", config={"franc2008": {"datasets": ["titanik"]}})
    output = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Unknown data set 'titanik' in the configuration's franc2008.datasets; the known ones" in output
    assert "titanic-table" in output and "Traceback" not in output


def test_rule_script_and_log_have_one_name(root):
    for name, text in rules(root).items():
        verb = name.removeprefix(f"{paper_of(name)}_")
        script = re.search(r'script:\n +"\S*/(\w+)\.py"', text)
        assert script is None or script.group(1) == verb, name
        log = re.search(r'log:\n +"(\S+)"', text)
        assert log is None or verb in log.group(1), name


@pytest.mark.slow
def test_small_run_from_data_to_exhibits(small_run):
    """Everything on one small set."""
    results = small_run.folder / "results/small/franc2008"
    for exhibit in ("table2", "table3", "figure1"):
        tidy = read_tidy(results / f"{exhibit}.csv")
        assert list(tidy.columns) == TIDY_COLUMNS and set(tidy["exhibit"]) == {exhibit}
        assert set(tidy["dataset"]) - {"all sets"} == {"titanic-table"}
    table2 = read_tidy(results / "table2.csv")
    errors = table2[table2["metric"].isin(["loo_error", "test_error"])]
    assert len(errors) == 4 and errors["value"].between(15, 30).all()
    for file in (
        "table2.md",
        "table2.tex",
        "table3.md",
        "figure1.svg",
        "speedup.pdf",
        "agreement.md",
    ):
        assert (results / file).stat().st_size > 0

    agreement = pd.read_csv(results / "agreement.csv").set_index("kernel")
    assert agreement["models_compared"].to_dict() == {"linear": 2, "rbf": 4, "both": 6}
    assert agreement["points_compared"].to_dict() == {"linear": 300, "rbf": 600, "both": 900}
    assert (agreement["points_differing"] == agreement["points_degenerate"]).all()
    claims = pd.read_csv(results / "claims.csv").set_index("claim")
    assert claims["verdict"]["identical-errors"] == claims["verdict"]["methods-agree"] == "reproduced"
    assert claims["verdict"]["speedup-linear"] == "not testable here"

    chapelle = small_run.folder / "results/small/chapelle1999"
    for exhibit in ("figure2", "figure3", "figure4"):
        tidy = read_tidy(chapelle / f"{exhibit}.csv")
        assert set(tidy["dataset"]) == {"iris-versicolor"}
        assert (chapelle / f"{exhibit}.pdf").stat().st_size > 0
    assert (pd.read_csv(chapelle / "claims.csv")["tests"] > 0).all()

    wen = small_run.folder / "results/small/wen2017"
    for exhibit in ("table1/published", "table2", "table3/published", "figure2", "seeds", "folds"):
        assert set(read_tidy(wen / f"{exhibit}.csv")["dataset"]) == {"iris-versicolor"}
    for file in ("table1/chosen.tex", "table3/published.md", "figure2.pdf", "seeds.svg", "folds.md"):
        assert (wen / file).stat().st_size > 0
    agreement = pd.read_csv(wen / "agreement.csv")
    assert agreement["points"].tolist() == [150, 5, 150] and (agreement["no_ties"] == 0).all()
    claims = pd.read_csv(wen / "claims.csv").set_index("claim")
    assert claims["verdict"]["same-accuracy"] == "reproduced"
    assert claims["verdict"]["cold-counts"] == "not testable here"
    sarafis = small_run.folder / "results/small/sarafis2018"
    for exhibit in (*(f"table{n}" for n in range(1, 7)), *(f"figure{n}" for n in range(2, 7)), "draws"):
        assert len(read_tidy(sarafis / f"{exhibit}.csv")) > 0
    assert set(read_tidy(sarafis / "figure5.csv")["setting"]) == {"64", "128"}
    assert (read_rows([sarafis / "rows/cells.parquet"])["status"] == OK).all()
    verdicts = pd.read_csv(sarafis / "claims.csv").set_index("claim")["verdict"]
    assert verdicts["same-cv"] == "reproduced" and verdicts["published-order"] == "not testable here"
    bakir = small_run.folder / "results/small/bakir2004"
    for exhibit in ("figure1", "figure3", "figure4", "growth"):
        assert (bakir / f"{exhibit}.pdf").stat().st_size > 0
        assert (read_tidy(bakir / f"{exhibit}.csv")["metric"] != "failed").any()
    for table in ("table1", "sensitivity"):
        assert set(read_tidy(bakir / f"{table}.csv")["dataset"]) == {"iris-versicolor"}
    assert "| iris (versicolor) |" in (bakir / "table1.md").read_text()
    assert not list(bakir.rglob("*.jsonl"))

    comparison = small_run.folder / "results/small/comparison"
    rows = read_rows([comparison / "rows/cells.parquet"])
    assert len(rows) == 3 * 3 * (9 + 2) and (rows["status"] == OK).all()
    for table in ("estimators", "regret", "rmse", "cost"):
        assert (read_tidy(comparison / f"{table}.csv")["exhibit"] == table).all()
        assert (comparison / f"{table}.md").stat().st_size > 0
    assert (comparison / "tradeoff.pdf").stat().st_size > 0

    report = (small_run.folder / "results/small/report.html").read_text()
    for paper, exhibits in (
        ("Franc et al. (2008)", 6),
        ("Chapelle and Vapnik (1999)", 3),
        ("Wen et al. (2017)", 10),
        ("Sarafis et al. (2018)", 12),
        ("Bakir et al. (2004)", 6),
        ("All estimators", 5),
    ):
        section = report.split(f">{paper}</h2>")[1].split("<h2 ")[0]
        assert section.count('class="exhibit"') == exhibits, paper
    # exhibits, and the picture of all results
    assert report.count('<img src="data:image/svg+xml;base64,') == 17 + 1
    card = pd.read_csv(small_run.folder / "results/small/scorecard.csv", keep_default_na=False)
    assert len(card) == 582 and (card["reason"] != "").all()
    verdicts = pd.read_csv(small_run.folder / "results/small/scorecard_claims.csv").set_index(
        ["paper", "claim"]
    )
    assert verdicts.loc[("franc2008", "identical-errors"), "verdict"] == "reproduced"
    assert verdicts.loc[("wen2017", "cold-counts"), "verdict"] == "not testable here"
    provenance = (small_run.folder / "results/small/provenance.json").read_text()
    assert '"titanic-table"' in provenance and '"commit"' in provenance
    libraries = pd.read_csv(small_run.folder / "results/small/libraries.csv")
    assert set(libraries["paper"]) == {name for name in SMALL if isinstance(SMALL[name], dict)}
    again = small_run.snakemake("--dry-run", config=SMALL)
    assert "Nothing to be done" in again.stdout + again.stderr
