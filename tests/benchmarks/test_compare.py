"""The comparison with other libraries, on a tiny problem and with the peers that every environment has."""

import csv
import re
import subprocess
import sys
from collections import Counter
from types import SimpleNamespace

import compare
import fit_map
import numpy as np
import pytest
import scale
from bandwidth import step_bytes
from problems import kernel_of, load_problem
from quality import assess, disagreement

from svmselect import Gram, solve_csvc

TOL = 1e-3
PROBLEM = "ringnorm-120"
# runs each program of its arguments as `python PROGRAM --help` does
HELP_OF_EACH = """
import runpy, sys
programs, sys.path[0] = sys.argv[1:], ""
for program in programs:
    sys.argv = [program, "--help"]
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
"""


def run(benchmarks, output, *arguments):
    command = [sys.executable, benchmarks / "compare.py", "--problems", PROBLEM, "--threads", "1"]
    command += ["--output", output, "--memory", "64", "--repeats", "1", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def measured(benchmarks, tmp_path_factory):
    output = tmp_path_factory.mktemp("compare") / "compare.csv"
    finished = run(benchmarks, output, "--peers", "svmselect", "scikit-learn", "--C", "1")
    assert finished.returncode == 0, finished.stderr
    return output


@pytest.fixture(scope="module", params=["rbf", "linear"])
def model(request):
    problem = load_problem(PROBLEM)
    kernel = kernel_of(request.param, problem.X.shape[1])
    return problem, kernel, solve_csvc(Gram(problem.X, kernel), problem.y, 1.0, tol=TOL)


@pytest.mark.slow
def test_peers_agree(measured):
    rows = rows_of(measured)
    assert {(row["kernel"], row["peer"]) for row in rows} == {
        (kernel, peer) for kernel in ("rbf", "linear") for peer in ("svmselect", "scikit-learn")
    }
    assert {(row["status"], row["disagrees"]) for row in rows} == {("ok", "")}
    for kernel in ("rbf", "linear"):
        first, second = (float(row["objective"]) for row in rows if row["kernel"] == kernel)
        assert first == pytest.approx(second, rel=2 * TOL)
    assert all(float(row["kkt_gap"]) <= 2 * TOL and float(row["violation"]) < 1e-9 for row in rows)
    assert all(float(row["test_accuracy"]) > 0.5 and int(row["n_sv"]) > 0 for row in rows)


def programs_of(benchmarks):
    return [path for path in sorted(benchmarks.glob("*.py")) if "ArgumentParser(" in path.read_text()]


def test_make_bench_runs_every_program_but_that_of_two_builds(benchmarks):
    text = (benchmarks.parent / "more.mk").read_text().replace("\\\n", " ")
    names = re.search(r"^PROGRAMS := (.*)", text, re.MULTILINE)[1].split()
    assert sorted([*names, "builds"]) == [path.stem for path in programs_of(benchmarks)]


@pytest.mark.slow
def test_every_program_says_how_it_is_called(benchmarks):
    programs = programs_of(benchmarks)
    assert len(programs) > 10
    # all in one process, which imports the libraries once
    command = [sys.executable, "-c", HELP_OF_EACH, *map(str, programs)]
    finished = subprocess.run(command, cwd=benchmarks, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    said = re.findall(r"^usage: (\w+)\.py", finished.stdout, flags=re.MULTILINE)
    assert said == [path.stem for path in programs]


@pytest.mark.slow
def test_rows_of_the_file_are_not_measured_again(benchmarks, measured):
    before = measured.read_text()
    finished = run(benchmarks, measured, "--peers", "svmselect", "scikit-learn", "--C", "1")
    assert finished.returncode == 0, finished.stderr
    assert "CPU" not in finished.stdout
    assert measured.read_text() == before


def test_an_unfinished_or_outdated_row_is_measured_again():
    row = {"version": "1", "status": "ok", "limit_s": 60, "processor": compare.processor()}
    assert compare.is_done(row, "1", 60)
    assert not compare.is_done({**row, "processor": "another"}, "1", 60)
    assert not compare.is_done(None, "1", 60)
    assert not compare.is_done(row, "2", 60)
    assert not compare.is_done({**row, "status": "error: no memory"}, "1", 60)
    over = {**row, "status": compare.OVER}
    assert compare.is_done(over, "1", 60)
    assert not compare.is_done(over, "1", 61)


def test_fits_are_repeated_only_where_a_peer_is_near(model, monkeypatch, tmp_path):
    _, kernel, solution = model
    seconds = {"svmselect": 1.0, "LIBSVM": 3.0, "scikit-learn": 1.5, "scikit-learn-intelex": 30.0}

    def run_fit(task):
        spent = seconds[task["peer"]]
        fitted = {"alpha": solution.alpha, "b": solution.b, "n_iter": 1, "blas": "None"}
        return compare.OK, {"cpu_s": spent, "wall_s": spent, **fitted}

    monkeypatch.setattr(compare, "run_fit", run_fit)
    options = {"tol": TOL, "limit": 600, "memory": 64, "peers": None, "force": False, "repeats": 3}
    options = SimpleNamespace(**options, output=tmp_path / "compare.csv")
    rows = {}
    compare.measure((PROBLEM, kernel.name, 1.0, 1), dict.fromkeys(seconds, "1"), options, rows)
    repeats = {row["peer"]: row["repeats"] for row in rows.values()}
    assert repeats == {"svmselect": 3, "LIBSVM": 1, "scikit-learn": 3, "scikit-learn-intelex": 1}


@pytest.mark.parametrize(
    ("times", "fits"), [({fit_map.FASTEST: 2.1, "LIBSVM": 9}, 1), ({fit_map.FASTEST: 1.9, "LIBSVM": 9}, 3)]
)
def test_cells_of_the_map_are_repeated_only_where_a_peer_is_near(monkeypatch, times, fits):
    times = {"svmselect": 1.0, **times}
    fitted = []

    def run_fit(task):
        fitted.append(task["peer"])
        return compare.OK, {"cpu_s": times[task["peer"]]}

    monkeypatch.setattr(fit_map, "run_fit", run_fit)
    options = SimpleNamespace(limit=600, repeats=3)
    row = fit_map.measure((500, 4, "linear", 1.0, "warm"), list(times)[1:], options)
    assert Counter(fitted) == dict.fromkeys(times, fits)
    assert (row["peer"], float(row["ratio"])) == (fit_map.FASTEST, times[fit_map.FASTEST])


@pytest.mark.parametrize(
    ("rows", "installed", "named", "fitted"),
    [
        (6_000, fit_map.COMPARED, False, fit_map.COMPARED),
        (9_500, fit_map.COMPARED, False, [fit_map.FASTEST]),
        (9_500, fit_map.COMPARED, True, fit_map.COMPARED),
        (9_500, ["scikit-learn"], False, ["scikit-learn"]),
    ],
)
def test_large_cells_of_the_map_have_the_fastest_peer_unless_others_are_named(rows, installed, named, fitted):
    assert fit_map.peers_of(rows, installed, named) == list(fitted)


@pytest.mark.parametrize(
    ("peer", "problem", "kernel", "C", "rows", "fitted"),
    [
        ("svmselect", "a9a", "linear", 100.0, 32_561, True),
        ("LIBSVM", "a9a", "linear", 100.0, 32_561, False),
        ("LIBSVM", "a9a", "linear", 1.0, 32_561, True),
        ("LIBSVM", "a9a", "rbf", 100.0, 32_561, True),
        ("ThunderSVM", "a9a-5000", "rbf", 1.0, 5_000, True),
        ("ThunderSVM", "a9a-10000", "rbf", 1.0, 10_000, False),
    ],
)
def test_fits_of_hours_are_left_out(peer, problem, kernel, C, rows, fitted):
    task = {"peer": peer, "problem": problem, "kernel": kernel, "C": C}
    assert compare.is_affordable(task, rows) == fitted


@pytest.mark.parametrize(
    ("peer", "threads", "rows", "fitted"),
    [
        ("svmselect", 2, 431_913, True),
        ("svmselect", 1, 431_913, False),
        ("scikit-learn", 1, 100_000, True),
        ("scikit-learn", 1, 200_000, False),
        ("scikit-learn", 2, 1_000, False),
    ],
)
def test_growth_is_measured_as_far_as_it_takes_minutes(peer, threads, rows, fitted):
    assert scale.is_affordable(peer, threads, rows) == fitted


@pytest.mark.slow
def test_a_fit_over_the_limit_is_said_to_be():
    task = {"problem": "ringnorm-400", "kernel": "linear", "C": 1e6, "tol": 1e-9, "peer": "scikit-learn"}
    task |= {"threads": 1, "memory_mb": 64, "limit_s": 0}
    assert compare.run_fit(task) == (compare.OVER, None)


def test_a_failed_fit_is_an_error_with_its_reason():
    task = {"problem": PROBLEM, "kernel": "rbf", "C": -1.0, "tol": TOL, "peer": "svmselect"}
    status, result = compare.run_fit({**task, "threads": 1, "memory_mb": 64, "limit_s": 60})
    assert result is None
    assert status.startswith("error: ValueError: C must be")


def test_a_peer_asked_for_must_be_installed(monkeypatch):
    monkeypatch.setattr(compare, "version_of", lambda peer: None if peer == "LIBSVM" else "1")
    with pytest.raises(SystemExit, match="LIBSVM is not installed"):
        compare.present(["svmselect", "LIBSVM"])
    assert "LIBSVM" not in compare.present(None)


@pytest.mark.parametrize("argument", ["--peers=nosuch", "--threads=0", "--repeats=0"])
def test_bad_arguments_are_refused(argument, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["compare.py", argument])
    with pytest.raises(SystemExit):
        compare.arguments()
    assert argument.split("=")[1] in capsys.readouterr().err


def test_an_unknown_problem_is_refused():
    with pytest.raises(ValueError, match="got 'nosuch-1'"):
        load_problem("nosuch-1")


def test_quality_is_that_of_the_dense_problem(model):
    problem, kernel, solution = model
    theta, K = solution.alpha * problem.y, Gram(problem.X, kernel).matrix()
    gradient = problem.y * (K @ theta) - 1
    up = ((problem.y > 0) & (solution.alpha < 1)) | ((problem.y < 0) & (solution.alpha > 0))
    low = ((problem.y > 0) & (solution.alpha > 0)) | ((problem.y < 0) & (solution.alpha < 1))
    score = -problem.y * gradient
    quality = assess(problem, kernel, 1.0, solution.alpha, solution.b)
    assert quality.objective == pytest.approx(0.5 * theta @ K @ theta - solution.alpha.sum(), rel=1e-12)
    assert quality.kkt_gap == pytest.approx(score[up].max() - score[low].min(), abs=1e-12)
    assert quality.kkt_gap <= 1.001 * TOL
    assert quality.train_accuracy == np.mean(np.sign(K @ theta + solution.b) == problem.y)
    assert quality.violation < 1e-12


def test_quality_does_not_depend_on_the_blocks(model, monkeypatch):
    problem, kernel, solution = model
    whole = assess(problem, kernel, 1.0, solution.alpha, solution.b)
    monkeypatch.setattr("quality.BLOCK_VALUES", 1000)
    assert assess(problem, kernel, 1.0, solution.alpha, solution.b) == pytest.approx(
        whole, rel=1e-9, abs=1e-12
    )


def test_a_wrong_solution_is_marked(model):
    problem, kernel, solution = model
    right = assess(problem, kernel, 1.0, solution.alpha, solution.b)._asdict()
    shrunk = assess(problem, kernel, 1.0, 0.5 * solution.alpha, solution.b)._asdict()
    larger = assess(problem, kernel, 1.0, 1.2 * solution.alpha, solution.b)._asdict()
    moved = solution.alpha.copy()
    moved[np.argmin(moved)] = 1
    unbalanced = assess(problem, kernel, 1.0, moved, solution.b)._asdict()
    marks = disagreement([shrunk, right, larger, unbalanced], TOL)
    assert marks[1] == ""
    assert "objective off" in marks[0]
    assert "constraints broken" in marks[2]
    assert "constraints broken" in marks[3]
    assert "objective off" in disagreement([right, {**right, "objective": float("nan")}], TOL)[1]
    turned = {**right, "test_accuracy": 1 - right["test_accuracy"]}
    assert "test accuracy" in disagreement([right, turned], TOL)[1]


def test_disagreement_stands_in_the_row():
    key = {"problem": PROBLEM, "kernel": "rbf", "C": 1.0, "tol": TOL}
    good = {"objective": -10.0, "violation": 0.0, "train_accuracy": 0.9, "test_accuracy": 0.9}
    rows = {
        peer: {
            **key,
            **good,
            "peer": peer,
            "threads": 1,
            "status": "ok",
            "objective": objective,
            "disagrees": "",
        }
        for peer, objective in (("a", -10.0), ("b", -9.9))
    }
    lines = compare.compare(key, rows)
    assert rows["a"]["disagrees"] == "" and rows["b"]["disagrees"].startswith("objective off by 1.0e-02")
    assert len(lines) == 1 and lines[0].startswith("b")


def test_bytes_of_a_step_are_those_of_its_arrays():
    m = 6400
    column, f, diagonal, index_set = np.empty(m, "f4"), np.empty(m), np.empty(m), np.empty(m // 64, "u8")
    selection = [column, f, diagonal, index_set]
    update = [column, column, f, f, index_set, index_set]
    columns, state = step_bytes(m, 4)
    assert columns == 2 * column.nbytes
    assert columns + state == sum(array.nbytes for array in selection + update)
