"""The cells of sarafis2018: what they compute, and the plan that lists them."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from data.splits import SplitRecipe
from lib import cell
from lib.rows import ERROR, NOT_CONVERGED, OK, WEIGHT_ROWS, read_rows, write_rows
from papers.sarafis2018 import causes, cells, general_qp, readings
from papers.sarafis2018.exhibits import table4, table6
from papers.sarafis2018.exhibits.published_beside import lookup
from papers.sarafis2018.grid import CLASS_WEIGHTS, INSTANCE_WEIGHTS
from sklearn.svm import SVC
from workflow.exhibit_calls import table_of
from workflow.sarafis2018_rows import AXES, exhibits, made_rows

from svmselect import (
    RBF,
    Gram,
    decision_function,
    leave_one_out,
    smallest_enclosing_sphere,
    solve_csvc,
    span_bound,
    span_rule,
    xi_alpha,
)

SETTINGS = {
    "tol": 1e-3,
    "max_iter": None,
    "folds": 5,
    "memory_mb": 64,
    "cache_mb": 10,
}


@pytest.fixture
def data(tmp_path):
    """50 training rows that overlap and 40 to test on, with a column of scores."""
    rng = np.random.default_rng(3)
    y = np.where(rng.uniform(size=90) < 0.4, 1, -1).astype(np.int8)
    X = rng.normal(size=(90, 3)) + (y[:, None] > 0)
    recipe = SplitRecipe(50, 40, 3, 11)
    path = tmp_path / "d.npz"
    Dataset("d", X, y, None, None, "generated", extra={"age": rng.uniform(20, 60, 90)}, recipe=recipe).save(
        path
    )
    return path


@pytest.fixture
def run(data, job_of):
    """A function: the rows of a cell with some settings changed."""

    def rows(experiment=CLASS_WEIGHTS, m=50, **changed):
        job = job_of(data, digest=repr((experiment, m, changed)), paper="sarafis2018", experiment=experiment)
        grid = {"axes": AXES, "every": 1, "jobs": 1, "loo_every": 1, "libsvm_every": 1}
        settings = SimpleNamespace(**{**SETTINGS, **grid, **changed})
        return job.rows(cells.run_models, m=m, part=1, settings=settings)

    return rows


def test_rows_are_those_of_the_library_and_of_libsvm(data, run, tmp_path):
    rows = run(realisation=2)
    write_rows(tmp_path / "rows.parquet", rows, WEIGHT_ROWS)
    frame = read_rows([tmp_path / "rows.parquet"])
    assert len(frame) == 9 * len(cells.METHODS) and (frame["status"] == OK).all()
    assert (frame["cpu_s"] >= 0).all() and (frame["realisation"] == 2).all()
    part, _ = cells.training_part(Dataset.load(data), 2, 50)
    X, y, X_test, y_test = part.X, part.y, part.X_test, part.y_test
    gram = Gram(X, RBF(1 / 3))
    for positive, negative in ((2**-4, 1), (16, 2**-4), (16, 16)):
        entry = frame[(frame["C_positive"] == positive) & (frame["C_negative"] == negative)].set_index(
            "method"
        )
        C = np.where(y > 0, positive, negative)
        solution = solve_csvc(gram, y, C)
        assert entry["objective"]["test"] == solution.objective and entry["n_sv"]["test"] == solution.n_sv
        wrong = (decision_function(gram, y, solution, X_test) >= 0) != (y_test > 0)
        assert entry["errors"]["test"] == wrong.sum()
        assert entry["estimate"]["span_rule"] == span_rule(gram, y, solution).error
        assert entry["estimate"]["span_rule_lazy"] == entry["estimate"]["span_rule"]
        assert entry["estimate"]["xi_alpha"] == xi_alpha(gram, y, solution).error
        bound = span_bound(gram, y, solution)
        assert entry["bound"]["span_bound"] == bound.bound and entry["n_empty"]["span_bound"] == bound.n_empty
        assert entry["errors"]["loo"] == leave_one_out(gram, y, C, "retrain").errors.sum()
        assert abs(entry["errors"]["kfold"] - entry["errors"]["kfold_libsvm"]) <= 1
        svc = SVC(C=1.0, gamma=1 / 3, class_weight={1: positive, -1: negative}).fit(X, y)
        assert (svc.predict(X_test) != y_test).sum() == pytest.approx(entry["errors"]["test"], abs=1)
    assert frame[frame["method"] == "span_rule_lazy"]["kernel_values"].gt(0).all()


def test_spans_of_the_fits_of_libsvm(data, job_of):
    """Fits to 1e-6 have the spans and errors of the library's, and only models in the box are fitted."""
    job = job_of(data, paper="sarafis2018", experiment=CLASS_WEIGHTS)
    box = {"C_positive": [0, 4], "C_negative": [-4, 0]}
    settings = SimpleNamespace(**{**SETTINGS, "tol": 1e-6, "axes": AXES, "every": 1, "jobs": 1, "box": box})
    frame = pd.DataFrame(job.rows(readings.run_libsvm_spans, m=50, part=1, settings=settings))
    models = frame[["C_positive", "C_negative"]].drop_duplicates()
    within = [2.0**value for value in AXES["log2_C"] if 0 <= value <= 4]
    assert set(models["C_positive"]) == set(within) and models["C_negative"].max() == 1
    part, _ = cells.training_part(Dataset.load(data), 1, 50)
    gram = Gram(part.X, RBF(1 / 3))
    for _, row in frame.iterrows():
        C = np.where(part.y > 0, row["C_positive"], row["C_negative"])
        fit = solve_csvc(gram, part.y, C, tol=1e-8)
        if row["method"] == "span_rule":
            assert row["errors"] == span_rule(gram, part.y, fit).errors.sum()
            continue
        wrong = (decision_function(gram, part.y, fit, part.X_test) >= 0) != (part.y_test > 0)
        assert (row["n_sv"], row["errors"]) == (fit.n_sv, wrong.sum()) and row["kkt_gap"] < 1e-5
    (chosen,) = causes.selection_by_libsvm(frame.assign(dataset="d", A=np.nan, B=np.nan, C=np.nan))
    by_rule = frame.pivot(index=["C_positive", "C_negative"], columns="method", values="estimate")
    least = by_rule["span_rule"] == by_rule["span_rule"].min()
    assert chosen["value"] == by_rule.loc[least, "test"].max()


def test_readings_are_those_of_the_library(data, job_of):
    """Spans by a QP each have a time, and the bounds have the radius that is said."""
    job = job_of(data, paper="sarafis2018", experiment=CLASS_WEIGHTS)
    settings = SimpleNamespace(**{**SETTINGS, "axes": AXES, "every": 1, "jobs": 1})
    qp, radius = (
        pd.DataFrame(job.rows(function, m=50, part=1, settings=settings)).set_index(
            ["C_positive", "C_negative", "method"]
        )
        for function in (readings.run_qp, readings.run_radius)
    )
    part, _ = cells.training_part(Dataset.load(data), 1, 50)
    gram = Gram(part.X, RBF(1 / 3)).compute()
    least, sphere = gram.matrix().min(), smallest_enclosing_sphere(gram)
    for C_positive, C_negative in ((2**-4, 1), (16, 16)):
        C = np.where(part.y > 0, C_positive, C_negative)
        solution = solve_csvc(gram, part.y, C)
        entry = radius.loc[C_positive, C_negative]
        slack = np.maximum(0, 1 - part.y * solution.decision)
        expected = np.mean((solution.alpha > 0) & (2 * solution.alpha * (1 - least) + slack >= 1))
        assert entry.loc["xi_alpha", "estimate"] == pytest.approx(expected)
        half = replace(sphere, squared_radius=sphere.squared_radius / 4)
        assert entry.loc["span_bound", "bound"] == pytest.approx(
            span_bound(gram, part.y, solution, half).bound
        )
        assert qp.loc[(C_positive, C_negative, "span_rule_qp"), "cpu_s"] > 0
    # files of rows have the columns of both kinds of weights
    (ratio, *_) = causes.times_by_qp(qp.reset_index().assign(dataset="d", A=np.nan, B=np.nan, C=np.nan))
    assert ratio["value"] > 0


def test_spans_by_the_general_solver(data, job_of, monkeypatch):
    """They are those of the rule, and the unit is what LIBSVM takes beside scikit-learn's calls."""
    part, _ = cells.training_part(Dataset.load(data), 1, 50)
    gram = Gram(part.X, RBF(1 / 3)).compute()
    solution = solve_csvc(gram, part.y, 4.0)
    inbound = np.flatnonzero((solution.alpha > 0) & (solution.alpha < 4.0))
    spans = span_rule(gram, part.y, solution).squared_span
    for p in np.flatnonzero(solution.alpha):
        assert general_qp.squared_span(gram.matrix(), p, inbound) == pytest.approx(spans[p], abs=1e-4)

    def folds_of(X, y, C, folds, drawn, gamma, settings):
        return [(np.zeros(4, dtype=bool), 0.01 if y.size == 20 else 0.05) for _ in drawn]

    monkeypatch.setattr(general_qp, "libsvm_folds", folds_of)
    job = job_of(data, paper="sarafis2018", experiment=CLASS_WEIGHTS)
    settings = SimpleNamespace(**{**SETTINGS, "axes": AXES, "every": 2, "jobs": 1})
    rows = pd.DataFrame(job.rows(general_qp.run_general_qp, m=50, part=1, settings=settings))
    result = rows[rows["method"] == "kfold_libsvm"]["cpu_s"]
    assert len(result) and result.tolist() == pytest.approx([SETTINGS["folds"] * 0.04] * len(result))
    assert (rows[rows["method"] == "span_rule_qp"]["cpu_s"] > 0).all()
    assert (rows["gamma"] == 1 / 3).all()
    job = job_of(data, digest="features", paper="sarafis2018", experiment=CLASS_WEIGHTS)
    settings.features = 2
    rows = pd.DataFrame(job.rows(general_qp.run_general_qp, m=50, part=1, settings=settings))
    assert (rows["gamma"] == 1 / 2).all()


def test_instance_weights_and_parts(run, tmp_path):
    score = {"column": "age", "of": "all"}
    rows = run(INSTANCE_WEIGHTS, score=score, loo_every=2, libsvm_every=0)
    counts = pd.Series([row["method"] for row in rows]).value_counts()
    assert counts["test"] == counts["kfold"] == 12 and counts["loo"] == 2 and "kfold_libsvm" not in counts
    (tmp_path / "checkpoint.jsonl").unlink()
    first = run(INSTANCE_WEIGHTS, score=score, jobs=2, loo_every=0, libsvm_every=0)
    assert {row["C"] for row in first} == {2**-4, 2**4} and len(first) == 8 * 5
    whole = {(row["A"], row["B"], row["C"]): row["errors"] for row in rows if row["method"] == "test"}
    assert all(
        row["errors"] == whole[row["A"], row["B"], row["C"]] for row in first if row["method"] == "test"
    )
    (tmp_path / "checkpoint.jsonl").unlink()
    with pytest.raises(
        ValueError, match="data set 'd' has no column 'height' for scores; its extra columns: age"
    ):
        run(INSTANCE_WEIGHTS, score={"column": "height", "of": "all"})
    with pytest.raises(ValueError, match="data set 'd' has 50 training rows, not 64"):
        run(m=64)


def test_a_killed_job_resumes_at_a_stripe(run, tmp_path, monkeypatch):
    options = {"loo_every": 0, "libsvm_every": 0}
    whole = run(**options)
    requested = []
    monkeypatch.setattr(cell.Cell, "run", lambda *arguments: requested.append(1))
    again = run(**options)
    assert requested == [] and [row["estimate"] for row in again if "estimate" in row] == [
        row["estimate"] for row in whole if "estimate" in row
    ]


def test_failures_and_unfinished_fits_are_rows_too(run, monkeypatch, cold):
    rows = run(max_iter=1, loo_every=0, libsvm_every=0)
    unfinished = [row for row in rows if row["status"] == NOT_CONVERGED]
    assert {"test", "span_rule", "kfold"} <= {row["method"] for row in unfinished}
    assert all("iteration limit" in row["reason"] for row in unfinished)

    def fails(*arguments, **options):
        raise ValueError("no")

    monkeypatch.setattr(cell, "leave_one_out", fails)
    rows = run()
    assert {row["status"] for row in rows if row["method"] == "loo"} == {ERROR}
    assert {row["status"] for row in rows if row["method"] != "loo"} == {OK}
    monkeypatch.setattr(cells, "solve_csvc", fails)

    def no_fit(*arguments, **options):
        # not the one that pays for page faults
        if "max_iter" in options:
            raise ValueError("no")

    monkeypatch.setattr(cell, "solve_csvc", no_fit)
    rows = run()
    # cross-validation needs no fit of all points
    validated = {"kfold", "kfold_libsvm"}
    assert len(rows) == 9 * len(cells.METHODS)
    assert {row["status"] for row in rows if row["method"] not in validated} == {ERROR}
    assert {row["status"] for row in rows if row["method"] in validated} == {OK}


def test_published_figures_have_their_counterparts(tmp_path, root, scorecard_of):
    tidy, _ = exhibits(tmp_path, made_rows(), root)
    tables = pd.concat(rows for key, rows in tidy.items() if key.startswith("table"))
    card = scorecard_of("sarafis2018", tables)
    run = card["dataset"].isin(["splice", "image", "bank-marketing"])
    assert (card.loc[run, "reproduced"] != "").all() and (card.loc[~run, "reproduced"] == "").all()
    splice = card[card["dataset"] == "splice"].set_index(["exhibit", "method", "metric"])
    assert splice.loc[("table1", "", "train_rows"), "within"] == "yes"
    assert splice.loc[("table6", "span_rule", "time"), "relative_to"] == "kfold time"


def test_libsvm_on_a_sample_of_the_folds(run, tmp_path):
    """The sample's errors are those of the same folds of the whole run, ours are compared on the same rows,
    and the time of all folds is stated with an interval."""
    result = {}
    for sample in (None, 1, 2):
        rows = run(**({"libsvm_folds": sample} if sample else {}))
        (tmp_path / "checkpoint.jsonl").unlink()
        write_rows(tmp_path / f"{sample}.parquet", rows, WEIGHT_ROWS)
        result[sample] = read_rows([tmp_path / f"{sample}.parquet"])
    whole = result[None]
    assert whole["folds_run"].isna().all() and whole["fold_errors"].isna().all()
    assert len({tuple(drawn) for drawn in result[1]["folds_run"].dropna()}) > 1
    for sample in (1, 2):
        entry = result[sample]
        for method in ("kfold", "test", "loo"):
            ours, theirs = (rows[rows["method"] == method]["errors"].tolist() for rows in (entry, whole))
            assert ours == theirs
        kfold, libsvm = (entry[entry["method"] == name] for name in ("kfold", "kfold_libsvm"))
        assert [sum(counts) for counts in kfold["fold_errors"]] == kfold["errors"].tolist()
        assert all(len(drawn) == sample for drawn in libsvm["folds_run"])
        assert libsvm["rows_tested"].between(9 * sample, 11 * sample).all()
        # on these few rows LIBSVM and ours err alike, so that the rows have to be the same
        same = [
            sum(counts[h] for h in drawn) == errors
            for counts, drawn, errors in zip(
                kfold["fold_errors"], libsvm["folds_run"], libsvm["errors"], strict=True
            )
        ]
        assert np.mean(same) > 0.7
        tidy = pd.DataFrame(table6.tidy({"cells": entry.assign(dataset="d"), "spans": entry[:0]}, None))
        value = lookup(tidy)
        ratio, half = value("d", "span_rule", "libsvm_over")
        assert half > 0
        times = (value("d", name, "time")[0] for name in ("kfold", "span_rule"))
        assert ratio == pytest.approx(np.divide(*times))
        all_table = [np.mean(seconds) * 5 for seconds in libsvm["fold_cpu_s"]]
        assert value("d", "kfold", "time")[0] == pytest.approx(np.mean(all_table))
        _, notes = table_of(table6, tidy, published=tidy.iloc[:0].assign(printed=""))
        assert any("95 % interval" in note for note in notes)
        distance = lookup(pd.DataFrame(table4.tidy({"cells": entry.assign(dataset="d")}, None)))
        assert distance("d", "kfold", "distance_to_kfold_libsvm")[0] < 0.05
    assert "libsvm_over" not in {
        row["metric"] for row in table6.tidy({"cells": whole.assign(dataset="d"), "spans": whole[:0]}, None)
    }
