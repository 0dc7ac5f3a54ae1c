"""Runs on small problems, figures and claims on rows made by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from data.splits import SplitRecipe
from lib import cell
from lib.claims import claim_tests, decide
from lib.exhibits import Context
from lib.papers import load_papers
from lib.rows import BOUND_ROWS, ERROR, NOT_CONVERGED, OK, read_rows, write_rows
from papers.chapelle1999 import cells, claims
from papers.chapelle1999.claims import Results
from papers.chapelle1999.exhibits import figure2, figure3, figure4
from workflow.exhibit_calls import assert_stable, tidy_of

from svmselect import RBF, Gram, leave_one_out, radius_margin, solve_csvc, span_rule

DECLARED = load_papers()["chapelle1999"].claims
# those that the rows made here are about; test_claims.py has all
DECIDED = ["span-rule", "span-cost", "rescaling", "span-is-loo"]
TESTS = claim_tests(claims)
CLAIMS = {name: DECLARED["claims"][name] for name in DECIDED}
LIMITS = {name: limit["value"] for name, limit in DECLARED["limits"].items()}


def problem(rng, m, d=3):
    y = np.where(np.arange(m) % 2, 1, -1).astype(np.int8)
    return rng.normal(size=(m, d)) + (y[:, None] > 0), y


@pytest.fixture
def data(tmp_path):
    """A data set with a test part of its own and one with splits."""
    rng = np.random.default_rng(0)
    X, y = problem(rng, 60)
    X_test, y_test = problem(rng, 30)
    recipe = SplitRecipe(40, 20, 5, 7)
    Dataset("own", X, y, X_test, y_test, "generated").save(tmp_path / "own.npz")
    Dataset("splits", X, y, None, None, "generated", recipe=recipe).save(tmp_path / "splits.npz")
    return tmp_path


@pytest.fixture
def run(job_of, tmp_path):
    """A function: the rows of a cell."""

    def rows(path, experiment, models, max_iter=None, **part):
        (tmp_path / "checkpoint.jsonl").unlink(missing_ok=True)
        job = job_of(path, paper="chapelle1999", experiment=experiment)
        part = {"realisation": 1, "parts": 1, **part}
        settings = SimpleNamespace(tol=1e-3, max_iter=max_iter)
        return job.rows(cells.run_models, **part, models=models, settings=settings)

    return rows


def test_parts_of_a_training_set_share_no_row_and_leave_none(data):
    dataset = Dataset.load(data / "own.npz")
    parts = [cells.training_part(dataset, r, 7) for r in range(1, 8)]
    assert sorted({len(part.y) for part in parts}) == [8, 9]
    together = np.vstack([part.X for part in parts])
    assert len(np.unique(together, axis=0)) == 60
    assert all(part.y_test is not None and len(part.y_test) == 30 for part in parts)
    assert parts[2].identity["origin"] == "seeded" and parts[2].identity["seed"] == [cells.SEED]
    again = cells.training_part(dataset, 3, 7)
    np.testing.assert_array_equal(again.X, parts[2].X)
    with pytest.raises(ValueError, match="realisation must be at most parts = 7, got 8"):
        cells.training_part(dataset, 8, 7)


def test_a_data_set_with_splits_is_not_cut(data):
    dataset = Dataset.load(data / "splits.npz")
    part = cells.training_part(dataset, 2, 1)
    assert (len(part.y), len(part.y_test)) == (40, 20) and part.identity["seed"] == [7, 2]
    with pytest.raises(ValueError, match="parts must be 1 for data set 'splits', which has splits, got 3"):
        cells.training_part(dataset, 2, 3)


def test_rows_are_those_of_the_library(data, run, tmp_path):
    models = [{"C": 1e10, "gamma": gamma} for gamma in (0.1, 2.0)]
    rows = run(data / "own.npz", "width", models, realisation=2, parts=2)
    write_rows(tmp_path / "rows.parquet", rows, BOUND_ROWS)
    frame = read_rows([tmp_path / "rows.parquet"])
    assert len(frame) == 2 * len(cells.EXPERIMENTS["width"]) and (frame["status"] == OK).all()
    part = cells.training_part(Dataset.load(data / "own.npz"), 2, 2)
    X, y = part.X, part.y
    for model in models:
        entry = frame[frame["gamma"] == model["gamma"]].set_index("method")
        gram = Gram(X, RBF(model["gamma"]))
        solution = solve_csvc(gram, y, 1e10)
        assert entry["estimate"]["span_rule"] == span_rule(gram, y, solution).error
        assert entry["bound"]["radius_margin"] == pytest.approx(radius_margin(gram, y, solution).bound)
        assert entry["estimate"]["loo"] == leave_one_out(gram, y, 1e10).error
        assert entry["estimate"]["loo_retrain"] == entry["estimate"]["loo"]
        assert entry["rows_tested"]["test"] == 30 and entry["rows_tested"]["loo"] == 30
        assert (entry["cpu_s"] >= 0).all() and entry["n_inbound"]["test"] == solution.n_inbound


def test_unfinished_fits_are_rows_too(data, run):
    rows = run(data / "splits.npz", "C", [{"C": 10.0, "gamma": 0.5}], max_iter=2)
    assert [row["method"] for row in rows] == list(cells.EXPERIMENTS["C"])
    assert [row["status"] for row in rows] == [NOT_CONVERGED] * 3
    assert all("iteration limit" in row["reason"] for row in rows)


def test_failures_are_rows_too(data, run, monkeypatch, cold):
    def fails(*arguments, **options):
        raise ValueError("no")

    monkeypatch.setattr(cells, "leave_one_out", fails)
    rows = run(data / "splits.npz", "C", [{"C": 10.0, "gamma": 0.5}])
    assert [row["status"] for row in rows] == [OK, OK, ERROR]
    assert rows[2]["reason"] == "ValueError: no"

    def no_fit(*arguments, **options):
        # not the one that pays for page faults
        if "max_iter" in options:
            raise ValueError("no")

    monkeypatch.setattr(cell, "solve_csvc", no_fit)
    rows = run(data / "splits.npz", "C", [{"C": 10.0, "gamma": 0.5}])
    assert [row["status"] for row in rows] == [ERROR] * 3


def made_rows():
    """Two realisations of five widths and three values of C; test error and span rule have their minimum in
    the middle."""
    rows = []

    def add(experiment, realisation, place, method, **result):
        model = {"C": 1e10, "gamma": 0.5 * np.exp(-2 * place)} if experiment == "width" else {}
        model = model or {"C": np.exp(place), "gamma": 0.1}
        row = {"experiment": experiment, "dataset": "d", "realisation": realisation, "method": method}
        rows.append({**row, **model, "m": 100, "status": OK, "estimate": np.nan, "bound": np.nan, **result})

    for realisation in (1, 2):
        for place in (-2, -1, 0, 1, 2):
            error = 0.1 + 0.05 * abs(place) + 0.01 * realisation
            add("width", realisation, place, "test", estimate=error, cpu_s=0.1)
            add("width", realisation, place, "span_rule", estimate=error + 0.01, cpu_s=0.01)
            add("width", realisation, place, "loo", estimate=error + 0.012, cpu_s=0.02)
            add("width", realisation, place, "loo_retrain", estimate=error, cpu_s=0.5)
            add("width", realisation, place, "radius_margin", bound=(place - 0.1) ** 4, cpu_s=0.1)
            add("width", realisation, place, "rescaled_radius_margin", bound=error**2, cpu_s=0.1)
        for place in (-1, 0, 1):
            for method, shift in (("test", 0), ("span_rule", 0.02), ("loo", 0.02)):
                add("C", realisation, place, method, estimate=0.2 + 0.02 * abs(place) + shift, cpu_s=0.1)
    rows.append({**rows[0], "realisation": 3, "status": ERROR, "estimate": np.nan})
    return pd.DataFrame(rows)


def test_figures_are_means_over_the_realisations(tmp_path):
    rows = made_rows()
    errors = tidy_of(tmp_path, figure2, rows).set_index(["exhibit", "setting", "method", "metric"])
    assert errors["value"]["figure2a", "-1", "test", "error"] == pytest.approx(16.5)
    assert errors["spread"]["figure2a", "-1", "test", "error"] == pytest.approx(np.sqrt(0.5))
    assert errors["value"]["figure2a", "-2", "test", "error_failed"] == 1
    assert errors["value"]["figure2b", "1", "span_rule", "error"] == pytest.approx(24)
    times = tidy_of(tmp_path, figure3, rows).set_index(["setting", "method", "metric"])["value"]
    assert times["0", "train", "time"] == pytest.approx(0.1)
    assert times["0", "loo_retrain", "time"] == pytest.approx(0.5)
    functional = tidy_of(tmp_path, figure4, rows).set_index(["setting", "method", "metric"])["value"]
    assert functional["2", "radius_margin", "functional"] == pytest.approx(100 * 1.9**4)


@pytest.mark.parametrize("module", [figure2, figure3, figure4])
def test_figures_are_stable_and_described(tmp_path, module):
    assert_stable(tmp_path, module, tidy_of(tmp_path, module, made_rows()))


def results_of(tmp_path, rows):
    exhibits = {module.__name__: tidy_of(tmp_path, module, rows) for module in (figure2, figure3, figure4)}
    return Results(exhibits, Context(limits=LIMITS))


def test_claims(tmp_path):
    verdicts, numbers = decide(CLAIMS, TESTS, results_of(tmp_path, made_rows()))
    verdicts = verdicts.set_index("claim")
    assert list(verdicts.index) == list(CLAIMS)
    assert verdicts["verdict"].drop(index="span-is-loo").eq("reproduced").all(), numbers
    assert (verdicts["tests"]["span-rule"], verdicts["tests"]["span-cost"]) == (4, 1)
    ratio = numbers[numbers["claim"] == "span-cost"].set_index("quantity")["value"]
    assert ratio["CPU time, leave-one-out by retraining / span rule"] == pytest.approx(50)
    assert verdicts["verdict"]["span-is-loo"] == "reproduced"


def test_claims_that_do_not_hold(tmp_path):
    rows = made_rows()
    late = (rows["method"] == "span_rule") & (rows["experiment"] == "width")
    rows.loc[late, "estimate"] = 0.4 - 0.5 * np.log(2 * rows.loc[late, "gamma"]) * -0.1
    rows.loc[rows["method"] == "rescaled_radius_margin", "bound"] *= -1
    verdicts, _ = decide(CLAIMS, TESTS, results_of(tmp_path, rows))
    verdict = verdicts.set_index("claim")["verdict"]
    assert (verdict[["span-rule", "rescaling"]] != "reproduced").all()


def test_claims_need_results(tmp_path):
    rows = made_rows()
    verdicts, _ = decide(CLAIMS, TESTS, results_of(tmp_path, rows[rows["experiment"] == "C"]))
    verdict = verdicts.set_index("claim")["verdict"]
    assert verdict["span-cost"] == verdict["rescaling"] == "not testable here"
