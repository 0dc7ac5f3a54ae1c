"""The cells of wen2017: what they compute, and the plan that lists them."""

import json
from collections import OrderedDict
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from data.dataset import Dataset
from lib.checkpoint import Checkpoint
from lib.rows import CV_ROWS, ERROR, NOT_CONVERGED, OK, read_rows, write_rows
from lib.run import planned
from papers.wen2017 import causes, cells, file_order, libsvm, readings
from papers.wen2017.cache import Cached
from papers.wen2017.cells import run_along_C, run_cached, run_seeds
from papers.wen2017.choice import run_choice
from papers.wen2017.exhibits import folds
from papers.wen2017.libsvm import run_libsvm
from papers.wen2017.problem import chosen_model, folds_of, load, training_rows
from papers.wen2017.variants import run_variants
from scipy import sparse
from sklearn.svm import SVC
from workflow.exhibit_calls import tidy_of
from workflow.wen2017_rows import (
    SEEDS,
    made_row,
)

from svmselect import RBF, Gram, cross_validate, solve_csvc, stratified_folds
from svmselect.cv.seeds.transition import Transition

MODEL = {"C": 2.0, "gamma": 0.5}


@pytest.fixture
def data(tmp_path):
    """60 rows of three features, one of them constant, with another scale each; dense and sparse."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1).astype(np.int8)
    X = (rng.normal(size=(60, 2)) + (y[:, None] > 0)) * [1, 50]
    X = np.hstack([X, np.full((60, 1), 3.0)])
    Dataset("dense", X, y, None, None, "generated").save(tmp_path / "dense.npz")
    Dataset("sparse", sparse.csr_matrix(X), y, None, None, "generated").save(tmp_path / "sparse.npz")
    return tmp_path


@pytest.fixture
def run(job_of):
    """A function: the rows of a cell, some of its settings changed."""

    def rows(path, function=run_seeds, k="5", known="chosen", settings=None, **given):
        inputs = repr((path, k, known, settings, given))
        job = job_of(path, digest=inputs, paper="wen2017", settings=known)
        shared = {"dtype": "float64", "rounds": None, "tol": 1e-3, "max_iter": None, "seed": 0}
        settings = SimpleNamespace(**{**shared, **(settings or {})})
        return job.rows(function, k=k, settings=settings, **given)

    return rows


def test_chosen_settings_scale_every_feature(data):
    X, y, sha256 = load(data / "dense.npz", "published")
    scaled, _, same = load(data / "dense.npz", "chosen")
    assert sha256 == same and set(y) == {-1.0, 1.0}
    np.testing.assert_allclose(np.ptp(scaled[:, :2], axis=0), 1)
    np.testing.assert_array_equal(scaled[:, 2], X[:, 2])
    thin, _, _ = load(data / "sparse.npz", "chosen")
    assert sparse.issparse(thin)
    np.testing.assert_allclose(thin.toarray(), scaled)


def test_rows_are_those_of_the_library_and_of_libsvm(data, run, tmp_path):
    rows = run(data / "dense.npz", model=MODEL, seedings=SEEDS)
    single = run(data / "dense.npz", run_libsvm, model=MODEL, settings={"budget_s": 60})
    write_rows(tmp_path / "rows.parquet", [*rows, *single], CV_ROWS)
    frame = read_rows([tmp_path / "rows.parquet"]).set_index("method")
    assert list(frame.index) == [*SEEDS, "libsvm"] and (frame["status"] == OK).all()
    X, y, _ = load(data / "dense.npz", "chosen")
    assignment = stratified_folds(y, 5, 0)
    for method in SEEDS:
        gram = Gram(X, RBF(0.5))
        cv = cross_validate(gram, y, 2.0, assignment, method, active_set=False)
        assert frame["n_iter"][method] == cv.n_iter and frame["estimate"][method] == cv.error
        assert sum(frame["round_n_iter"][method]) + frame["full_n_iter"][method] == cv.n_iter
    K = Gram(X, RBF(0.5)).matrix()[~np.eye(60, dtype=bool)]
    assert frame["kernel_share"]["cold"] == np.mean(K > 1e-6)
    assert frame["kernel_largest"]["cold"] == K.max()
    wrong, n_iter = 0, []
    for h in range(5):
        machine = SVC(C=2.0, gamma=0.5).fit(X[assignment != h], y[assignment != h])
        wrong += np.count_nonzero(machine.predict(X[assignment == h]) != y[assignment == h])
        n_iter.append(machine.n_iter_[0])
    entry = frame.loc["libsvm"]
    assert (entry["errors"], list(entry["round_n_iter"]), entry["rounds"]) == (wrong, n_iter, 5)
    assert (frame["errors"] == wrong).all()


def test_a_cell_resumes_and_is_not_written_with_decision_values(data, run, tmp_path):
    rows = run(data / "sparse.npz", model=MODEL, seedings=["cold", "sir"])
    path = tmp_path / "checkpoint.jsonl"
    checkpoint = Checkpoint(path, json.loads(path.read_text().splitlines()[0])["digest"])
    stored = checkpoint.get(["sir"])
    checkpoint.add(["sir"], {**stored, "n_iter": -1})
    again = run(data / "sparse.npz", model=MODEL, seedings=["cold", "sir"])
    assert [row["n_iter"] for row in again] == [rows[0]["n_iter"], -1]
    assert "decision" in stored and not any("decision" in row for row in rows)


def test_leave_one_out_of_some_rows(data, run):
    seedings = ["cold", "top"]
    rows = run(data / "dense.npz", k="loo", model=MODEL, seedings=seedings, settings={"rounds": 4})
    assert [(row["k"], row["rounds"], row["rows_tested"]) for row in rows] == [(60, 4, 4)] * 2
    y = np.ones(60)
    np.testing.assert_array_equal(np.sort(folds_of(y, "loo", 0)), np.arange(60))
    assert np.isfinite([row["min_abs_decision"] for row in rows]).all()


def test_seeds_that_run_on_a_sample_are_compared_where_all_ran(data, run):
    seedings = ["cold", "top"]
    whole = run(data / "dense.npz", model=MODEL, seedings=seedings)
    cold, top = run(data / "dense.npz", model=MODEL, seedings=seedings, settings={"sample": {"cold": 2}})
    assert (cold["rounds"], top["rounds"]) == (2, 5) and cold["rows_tested"] < top["rows_tested"]
    assert top["errors"] == whole[1]["errors"]
    assert list(cold["round_n_iter"]) == list(whole[0]["round_n_iter"])[:2]
    # points outside the sample have no decision value that could differ
    assert set(cold["differing_points"]) <= set(whole[0]["differing_points"])


@pytest.mark.slow
def test_baselines_are_sampled_where_the_configuration_says_so(tmp_path, root):
    def settings(baselines):
        path = tmp_path / "config.yaml"
        path.write_text(f"baselines: {baselines}")
        papers, _, _ = planned(root / "config/paper.yaml", path)
        plan = papers["wen2017"].plan
        return {f"{run.stage}/{name}": run.settings_of(name) for run in plan.runs for name in run.cells} | {
            "facts": plan.facts,
            "sarafis": papers["sarafis2018"].plan.runs[0].settings,
        }

    full, sampled = settings("full"), settings("sampled")
    assert sampled["seeds/adult/published/k-100"]["sample"] == {"cold": 10, "avg": 20, "top": 10}
    assert sampled["seeds/adult/published/k-loo"]["sample"] == {"cold": 5, "ato": 100, "avg": 50, "top": 50}
    # what Table 1 prints is run in full, but for MIR on mnist, of which a fold takes a minute
    table1_table = {
        name: entry["sample"]
        for name, entry in sampled.items()
        if name.endswith("k-10") and "sample" in entry
    }
    assert table1_table == {"seeds/mnist/published/k-10": {"mir": 7}}
    # a fold of LIBSVM that takes long is not run at all
    assert "libsvm/mnist/chosen/k-10" in full and "libsvm/mnist/chosen/k-10" not in sampled
    assert (
        full["libsvm/adult/published/k-10"]["budget_s"],
        sampled["libsvm/adult/published/k-10"]["budget_s"],
    ) == (120, 20)
    assert (full["facts"]["sampled"], sampled["facts"]["sampled"]) == (False, True)
    assert "libsvm_folds" not in full["sarafis"] and sampled["sarafis"]["libsvm_folds"] == 1
    assert not any("sample" in entry for entry in full.values())


def test_cached_columns_are_counted_as_an_lru_cache_computes_them(data):
    X, _, _ = load(data / "dense.npz", "chosen")
    whole = Gram(X, RBF(0.5), dtype="float32").compute()
    cached = Cached(whole, 9 * 64 * 4 / 2**20)
    assert cached.columns.capacity == 9
    stored, misses = OrderedDict(), 0
    for i in np.random.default_rng(0).integers(0, 14, 300):
        np.testing.assert_array_equal(cached.columns.column(i), whole.matrix()[:, i])
        misses += i not in stored
        stored[i] = None
        stored.move_to_end(i)
        if len(stored) > 9:
            stored.popitem(last=False)
    assert 20 < misses < 280 and cached.kernel_values == 60 * misses

    before = cached.kernel_values
    held = list(stored)
    absent = next(i for i in range(60) if i not in stored)
    some = cached.submatrix([3, 4], [held[0], absent])
    np.testing.assert_array_equal(some, whole.matrix()[np.ix_([3, 4], [held[0], absent])])
    assert cached.kernel_values == before + 2
    np.testing.assert_allclose(cached.product([absent], [2.0]), 2.0 * whole.matrix()[:, absent])
    assert cached.kernel_values == before + 2 + 60

    rows = np.sort([held[0], absent, 50, 51])
    part = cached.restricted(rows)
    column = part.columns.column(int(np.searchsorted(rows, held[0])))
    np.testing.assert_array_equal(column, whole.matrix()[rows, held[0]])
    assert part.kernel_values == before + 62
    part.columns.column(int(np.searchsorted(rows, absent)))
    assert part.kernel_values == cached.kernel_values == before + 62 + 4
    cached.empty()
    assert not cached.columns.holds(slice(None)).any()


def test_a_cache_costs_kernel_values_and_changes_nothing_else(data, run):
    X, y, _ = load(data / "dense.npz", "chosen")
    rows = run(data / "dense.npz", run_cached, model=MODEL, seedings=SEEDS, settings={"rounds": 3})
    for row in rows:
        gram = Gram(X, RBF(0.5), dtype="float32")
        cv = cross_validate(
            gram, y, 2.0, stratified_folds(y, 5, 0), row["method"], rounds=3, active_set=False
        )
        assert row["n_iter"] == cv.n_iter and row["cache_mb"] == 100
    values = {row["method"]: row["round_kernel_values"] for row in rows}
    # every fit computes each column it asks for, anew
    assert all(0 < value <= 3600 and value % 60 == 0 for value in values["cold"])


def test_failures_and_unfinished_fits_are_rows_too(data, run, tmp_path, monkeypatch, cold):
    given = {"model": MODEL, "seedings": ["cold", "sir"]}
    rows = run(data / "dense.npz", **given, settings={"max_iter": 1})
    assert [row["status"] for row in rows] == [NOT_CONVERGED] * 2
    assert "iteration limit reached by 5 fits" in rows[0]["reason"]

    def fails(gram, *arguments, **options):
        raise ValueError("no")

    monkeypatch.setattr(cells, "cross_validate", fails)
    (tmp_path / "checkpoint.jsonl").unlink()
    rows = run(data / "dense.npz", **given)
    assert rows[0]["status"] == ERROR and rows[0]["reason"] == "ValueError: no"
    assert not (tmp_path / "checkpoint.jsonl").exists()


def test_libsvm_runs_whole_folds_within_its_budget(data, run, monkeypatch):
    requested = []

    def fold(*arguments):
        requested.append(1)
        return {"n_iter": 7, "cpu_s": 2.0, "errors": 1, "rows_tested": 12, "status": OK}

    monkeypatch.setattr(libsvm, "_fold", fold)
    for budget, rounds in ((1, 1), (5, 2), (6, 3), (100, 5)):
        requested.clear()
        (row,) = run(
            data / "dense.npz", run_libsvm, known="published", model=MODEL, settings={"budget_s": budget}
        )
        assert len(requested) == rounds
        assert (row["rounds"], row["n_iter"], row["cpu_s"]) == (rounds, 7 * rounds, 2 * rounds)
        assert row["round_training_cpu_s"] == [2.0] * rounds


def test_path_starts_from_the_c_before(data, run, tmp_path):
    worse = {"C": 7.0, "gamma": 7.0, "errors": 2}
    choice = pd.DataFrame(
        [{"dataset": "d", **worse}, {"dataset": "d", **MODEL, "errors": 1}, {"dataset": "e", "errors": 0}]
    )
    given = {"C": [0.1, 1.0, 10.0], "seedings": ["cold", "top"], "choice": choice}
    rows = run(data / "dense.npz", run_along_C, k="4", settings={"rows": 40}, **given)
    frame = pd.DataFrame(rows)
    assert len(frame) == 2 * 3 * 3 and (frame["m"] == 40).all() and (frame["status"] == OK).all()
    entry = frame[frame["cache_mb"].isna()].pivot(index="C", columns="method", values="n_iter")
    assert entry["path"][0.1] == entry["cold"][0.1] and (entry["path"][1:] != entry["cold"][1:]).any()
    errors = frame.pivot_table(index="C", columns=["method", frame["cache_mb"].isna()], values="errors")
    assert (errors.nunique(axis=1) == 1).all()


def test_choice_takes_the_first_of_the_best(data, job_of, tmp_path):
    grid = {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}
    job = job_of(data / "dense.npz", paper="wen2017", settings="chosen")
    settings = SimpleNamespace(rows=50, folds=5, **grid, tol=1e-3, seed=0)
    write_rows(tmp_path / "rows.parquet", job.rows(run_choice, settings=settings), CV_ROWS)
    frame = read_rows([tmp_path / "rows.parquet"])
    assert len(frame) == 4 and (frame["rows_tested"] == 50).all()
    X, y, _ = load(data / "dense.npz", "chosen")
    X, y = training_rows(X, y, 50, 0)
    for row in frame.itertuples():
        cv = cross_validate(Gram(X, RBF(row.gamma)), y, row.C, stratified_folds(y, 5, 0), "cold")
        assert abs(row.errors - np.count_nonzero(cv.errors)) <= 1
    best = frame[frame["errors"] == frame["errors"].min()].iloc[0]
    assert chosen_model(frame[::-1]) == {"C": best["C"], "gamma": best["gamma"]}


def test_variants_of_an_identity_matrix(run, tmp_path):
    """With K = I the two seeds of our own start all points that enter at 0: |T| / 2 steps per fold, as
    published on madelon."""
    y = np.where(np.arange(40) % 2, 1, -1).astype(np.int8)
    Dataset("far", 100.0 * np.arange(40)[:, None], y, None, None, "generated").save(tmp_path / "far.npz")
    given = {"model": {"C": 1.0, "gamma": 1.0}, "seedings": ["cold", "sir"]}
    shuffles = {"stratified": 2, "unstratified": 1}
    rows = run(tmp_path / "far.npz", run_variants, k="4", known="published", settings=shuffles, **given)
    write_rows(tmp_path / "rows.parquet", rows, CV_ROWS)
    frame = pd.DataFrame(rows)
    n_iter = frame[frame["folds"] == "stratified"].groupby("method")["n_iter"].unique()
    assert {method: list(result) for method, result in n_iter.items()} == {
        "cold": [60],
        "sir": [15],
        "sir_positive": [30],
        "zero": [30],
    }
    assert frame.groupby("folds").size().to_dict() == {
        "stratified": 8,
        "stratified, file order": 4,
        "unstratified": 4,
        "unstratified, file order": 4,
    }


def test_a_file_sorted_by_class_has_no_folds_in_its_order(run, tmp_path):
    y = np.repeat(np.array([1, -1], dtype=np.int8), 6)
    Dataset("sorted", np.arange(12.0)[:, None], y, None, None, "generated").save(tmp_path / "sorted.npz")
    given = {"model": {"C": 1.0, "gamma": 1.0}, "seedings": ["cold"]}
    shuffles = {"stratified": 1, "unstratified": 0}
    rows = run(tmp_path / "sorted.npz", run_variants, k="2", known="published", settings=shuffles, **given)
    write_rows(tmp_path / "rows.parquet", rows, CV_ROWS)
    failed = [row for row in rows if row["status"] == ERROR]
    assert {row["folds"] for row in failed} == {"unstratified, file order"} and len(failed) == 3
    assert all("holds all points of class" in row["reason"] for row in failed)
    tidy = tidy_of(tmp_path, folds, read_rows([tmp_path / "rows.parquet"]))
    entry = tidy[tidy["setting"] == "unstratified, file order"].set_index(["method", "metric"])["value"]
    assert entry["cold", "assignments"] == 0 and np.isnan(entry["cold", "iterations"])


def test_readings_of_seeds_of_an_identity_matrix(run, tmp_path):
    """Nothing is handed over where no kernel value is above 0: each fold takes |T| / 2 steps. A seed made of
    the seed before lacks all points that have entered: one fold's worth of steps more each time."""
    y = np.where(np.arange(40) % 2, 1, -1).astype(np.int8)
    Dataset("far", 100.0 * np.arange(40)[:, None], y, None, None, "generated").save(tmp_path / "far.npz")
    settings = {"rounds": None, "memory_mb": 10}
    result = {}
    for reading in readings.READINGS:
        given = {"model": {"C": 1.0, "gamma": 1.0}, "reading": reading, "shuffles": 2}
        rows = run(tmp_path / "far.npz", readings.run_reading, "4", "published", settings, **given)
        write_rows(tmp_path / "rows.parquet", rows, CV_ROWS)
        result[reading] = [
            list(row["round_n_iter"]) for row in read_rows([tmp_path / "rows.parquet"]).to_dict("records")
        ]
    assert result["sir_positive_all"] == [[15, 5, 5, 5]] * 2
    assert result["zero_of_seeds"] == [[15, 5, 10, 15]] * 2
    rows = pd.DataFrame(rows).assign(dataset="far", fold="4")
    (total,) = causes.reading_counts(rows.assign(round_n_iter=[[15, 5]] * 2), "sir")
    assert (total["exhibit"], total["setting"], total["value"]) == ("table3", "k=4", 30 / 60)


def test_folds_in_the_order_of_the_file(data, run, tmp_path):
    """The first folds stand for the others; without them means of whole runs count."""
    settings = {"memory_mb": 10}
    given = {"model": MODEL, "seeding": "sir", "rounds": 3}
    (row,) = run(data / "dense.npz", file_order.run_file_order, "10", "published", settings, **given)
    write_rows(tmp_path / "rows.parquet", [row], CV_ROWS)
    dataset = Dataset.load(data / "dense.npz")
    gram = Gram(np.array(dataset.X), RBF(MODEL["gamma"]), dtype="float32")
    y, in_order = dataset.y.astype(float), stratified_folds(dataset.y, 10, None)
    cv = cross_validate(gram, y, MODEL["C"], in_order, "sir", working_set="wss2", active_set=False)
    counts = [fold.n_iter for fold in cv.rounds]
    assert row["round_n_iter"] == counts[:3] and row["rows_tested"] == np.count_nonzero(in_order < 3)
    whole = {"folds": file_order.FILE_ORDER, "status": OK, "round_n_iter": None, "rounds": 10}
    rows = pd.concat(
        [
            pd.DataFrame([row]).assign(dataset="d", fold="10", method="mir"),
            pd.DataFrame([{**whole, "dataset": "d", "method": name, "n_iter": n} for name, n in SAMPLE]),
        ]
    )
    result = {
        (line["exhibit"], line["method"], line["metric"]): line["value"]
        for line in causes.in_file_order(rows)
    }
    total = counts[0] + 9 * np.mean(counts[1:3])
    assert result["table1", "mir", "iterations"] == pytest.approx(total)
    assert result["table1", "mir", "time_rest"] == pytest.approx(total / (10 * counts[0]))
    assert result["table1", "libsvm", "iterations"] == 200 and result["table3", "sir", "time_total"] == 0.5


# iterations of whole cross-validations
SAMPLE = [("cold", 200), ("sir", 100)]


def test_all_points_move_where_an_alpha_is_handed_to_nobody(data):
    """Points far from all others have no one to hand their alphas to: the rest is put right by everyone."""
    dataset = Dataset.load(data / "dense.npz")
    X, y = np.array(dataset.X), dataset.y.astype(float)
    X[:20] += 1e3 * np.arange(1, 21)[:, None]
    gram, C = Gram(X, RBF(0.5), dtype="float32"), np.full(60, 2.0)
    leaves, enters = np.arange(20, 40), np.arange(20)
    bound = np.where(np.isin(np.arange(60), enters), 0, 2.0)
    solution = solve_csvc(gram, y, bound)
    theta = solution.alpha * y
    f = solution.decision - solution.b - y
    change = Transition(gram, y, C, theta, f, -solution.b, leaves, enters, 1e-3)
    for seed in (readings.positive_sir, readings.first_step_of_ato):
        start = seed(change)
        assert abs(start.sum()) < 1e-9 and (start[leaves] == 0).all()
        assert ((start * y >= 0) & (start * y <= C)).all()
    moved = readings.positive_sir(change) != theta
    assert moved[40:].any()
    path = readings.ToFirstEvent(change)
    path.step()
    assert path.steps == 1 and path.exact


def test_last_feature_and_similarity(data, job_of, run, monkeypatch):
    (row,) = job_of(data / "sparse.npz", paper="wen2017").rows(
        causes.run_last_index, settings=SimpleNamespace()
    )
    assert row["bound"] == 3
    # a clock that goes on by 3 s a call, and by a second for each kernel value
    clock = SimpleNamespace(s=0.0)

    class Counted(readings.SVC):
        def decision_function(self, X):
            clock.s += 3 + len(X) * self.n_support_.sum()

    @contextmanager
    def by_count(mode):
        began, timing = clock.s, SimpleNamespace()
        yield timing
        timing.cpu_s = clock.s - began

    monkeypatch.setattr(readings, "SVC", Counted)
    monkeypatch.setattr(readings, "timed", by_count)
    settings = {"seed": 0}
    rows = run(data / "dense.npz", readings.run_similarity, "10", "published", settings, model=MODEL)
    leaves, enters = np.bincount(folds_of(load(data / "dense.npz", "published")[1], "10", 0))[[1, 0]]
    assert rows[0]["seeding_cpu_s"] == pytest.approx(leaves * enters)
    rows = pd.DataFrame(
        [
            made_row("libsvm", "10", [7] * 10, [2.0] * 10),
            {**made_row("libsvm", "10", [7], [2.0]), "method": "similarity", "seeding_cpu_s": 0.1},
        ]
    )
    (share,) = causes.similarity_by_libsvm(rows)
    assert share["metric"] == "time_init" and share["value"] == pytest.approx(0.9 / 20)


def test_unlearning_is_a_cell_of_its_own(data, run):
    (row,) = run(data / "dense.npz", cells.run_unlearning, model=MODEL)
    (cold,) = run(data / "dense.npz", model=MODEL, seedings=["cold"])
    assert row["method"] == "unlearn" and row["status"] == OK and row["errors"] == cold["errors"]
    assert row["full_n_iter"] > 0 and sum(row["round_n_iter"]) == 0 and row["k"] == 5
