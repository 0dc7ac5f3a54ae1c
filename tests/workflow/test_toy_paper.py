"""What CONTRIBUTING.md promises: a paper is a folder, an estimator a file, and no other file has to know."""

import re
import shutil

import pandas as pd
import pytest
from checkouts import ROOT
from lib.rows import OK, read_rows

TOY = ROOT / "tests/workflow/toy2026"
ESTIMATOR = TOY.with_name("toy_estimator.py")
CONFIG = {
    "preset": "toy",
    "papers": ["toy2026", "comparison"],
    "toy2026": {"dataset": "iris-versicolor", "C": [0.01, 1]},
    "comparison": {
        "folds": [3],
        "linear": {"C": [1]},
        "rbf": {"C": [1], "gamma": [5]},
        "datasets": [{"name": "iris-versicolor", "realisations": 1}],
    },
}


@pytest.mark.slow
def test_a_paper_is_one_folder_and_an_estimator_one_file(checkout):
    workflow = checkout.folder / "workflow"
    workflow.unlink()  # a link to that of this checkout
    shutil.copytree(ROOT / "workflow", workflow, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(TOY, workflow / "papers/toy2026", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ESTIMATOR, workflow / "papers/comparison/estimators/sv_count.py")
    done = checkout.snakemake("--cores", "2", "--quiet", "rules", "progress", "--", "report", config=CONFIG)
    assert done.returncode == 0, done.stderr
    results = checkout.folder / "results/toy"
    assert {path.name for path in results.iterdir() if path.is_dir()} == {"toy2026", "comparison"}

    toy = results / "toy2026"
    rows = read_rows([toy / "rows/cells.parquet"])
    assert rows["C"].tolist() == [0.01, 1] and (rows["status"] == OK).all()
    table = [re.split(r" *\| *", line)[2:5] for line in (toy / "table1.md").read_text().splitlines()[4:]]
    errors = [f"{100 * error:.1f}" for error in rows["estimate"]]
    assert table == [["C=0.01", errors[0], "n/a"], ["C=1", errors[1], "50.0"]]
    assert pd.read_csv(toy / "claims.csv")[["claim", "tests", "held"]].to_numpy().tolist() == [
        ["few-errors", 2, 2]
    ]
    card = pd.read_csv(results / "scorecard.csv")
    # three standard errors of a share of 50 rows are more than half of it
    assert card[["paper", "exhibit", "dataset", "explained_by"]].to_numpy().tolist() == [
        ["toy2026", "table1", "iris", "too wide to decide"]
    ]
    assert card["reproduced"].tolist() == [100 * rows["estimate"][1]]

    sections = (results / "report.html").read_text().split("<h2 ")
    (section,) = [entry for entry in sections if ">Toy (2026)</h2>" in entry]
    assert section.count('class="exhibit"') == 1
    for shown in (
        "C=0.01</td>",
        "On iris (versicolor).",
        "Every model of the toy errs on less than all points.",
    ):
        assert shown in section

    comparison = results / "comparison"
    rows = read_rows([comparison / "rows/cells.parquet"])
    entry, test = (rows[rows["method"] == method].set_index("kernel") for method in ("sv_count", "test"))
    assert (entry["status"] == OK).all() and entry["errors"].to_dict() == test["n_sv"].to_dict()
    assert "sv_count" in set(pd.read_csv(comparison / "estimators.csv")["method"])
    assert re.search(r"\| +LOO \| +SVs \|", (comparison / "regret.md").read_text())
    assert "Support vectors (" in (comparison / "estimators.md").read_text()
    (section,) = [entry for entry in sections if ">All estimators</h2>" in entry]
    assert '<th scope="row">Support vectors</th>' in section and "assumes the worst" in section
