"""Many threads on one Gram matrix: the results of one thread, and an end when they are asked to stop.

`make test-threads` runs this file on a build with gcc's thread sanitizer, `make test` on the usual one.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numerics.problems import two_classes
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from slow import slow
from svmselect.gram._columns import allocate, padded_length
from threadpoolctl import threadpool_info

import svmselect.threads
from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate,
    cross_validate_grid,
    decision_function,
    interruptible_threads,
    leave_one_out,
    solve_csvc,
    solve_nusvc,
    span_rule,
)
from svmselect.threads import blas_libraries, check_interrupted, one_blas_thread, run, thread_count

THREADS = 4


@pytest.fixture(autouse=True)
def turns():
    """Threads take turns a hundred times as often as usual."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(interval)


def at_once(*tasks):
    """Call every task in a thread of its own, all from the same moment; their results."""
    start = threading.Barrier(len(tasks))

    def begin(task):
        start.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [future.result() for future in [pool.submit(begin, task) for task in tasks]]


def columns_mb(n, m):
    """The budget that holds n columns of m rows."""
    return n * padded_length(m) * 8 / 2**20


def test_the_sanitized_build_is_the_one_that_is_tested():
    assert ("TSAN_OPTIONS" in os.environ) == (Path(svmselect.__file__).parent.parent.name == "threads")


def test_fits_on_a_matrix_that_they_fill():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = np.where(X[:, 0] + rng.normal(size=1500) > 0, 1, -1)
    Cs = [0.5, 5, 20, 100]
    alone = [solve_csvc(Gram(X, RBF(0.3)), y, C, tol=1e-5) for C in Cs]
    gram = Gram(X, RBF(0.3))
    together = at_once(*(lambda C=C: solve_csvc(gram, y, C, tol=1e-5) for C in Cs))
    for one, other in zip(alone, together, strict=True):
        assert other.converged and other.objective == pytest.approx(one.objective, rel=1e-6)
        np.testing.assert_allclose(other.decision, one.decision, atol=1e-3)
    # every thread counted what it did, and nothing was counted twice or lost
    assert sum(s.columns_requested for s in together) == gram.columns_requested
    assert sum(s.kernel_values for s in together) == gram.kernel_values
    assert all(s.columns_requested >= 2 * s.n_iter for s in together)


def test_fits_on_a_computed_matrix_are_the_same_to_the_last_bit():
    X, y = two_classes(np.random.default_rng(1), 400, 4, gap=0.5)
    Cs = [0.5, 5, 50, 500]
    alone = [solve_csvc(Gram(X, RBF(0.3)).compute(), y, C) for C in Cs]
    gram = Gram(X, RBF(0.3)).compute()
    for one, other in zip(alone, at_once(*(lambda C=C: solve_csvc(gram, y, C) for C in Cs)), strict=True):
        np.testing.assert_array_equal(other.decision, one.decision)
        assert (other.n_iter, other.columns_requested) == (one.n_iter, one.columns_requested)


@pytest.mark.parametrize(("capacity", "as_csr"), [(8, False), (9, True), (40, False)])
def test_fits_with_few_columns(capacity, as_csr):
    X, y = two_classes(np.random.default_rng(2), 120, 4, gap=0.5)
    rows, Cs = sparse.csr_array(X) if as_csr else X, [0.5, 2, 5, 10]
    alone = [solve_csvc(Gram(X, RBF(0.3)), y, C, tol=1e-6) for C in Cs]
    gram = Gram(rows, RBF(0.3), memory_mb=columns_mb(capacity, 120))
    together = at_once(*(lambda C=C: solve_csvc(gram, y, C, tol=1e-6) for C in Cs))
    for one, other in zip(alone, together, strict=True):
        assert other.converged
        np.testing.assert_allclose(other.decision, one.decision, atol=1e-4)
    assert sum(s.kernel_values for s in together) == gram.kernel_values


def test_a_thread_that_ends_leaves_its_columns_to_the_next():
    X = np.random.default_rng(3).normal(size=(200, 3))
    gram = Gram(X, RBF(0.3), memory_mb=columns_mb(40, 200))

    def capacity():
        return gram.columns.capacity

    assert at_once(capacity) == [40] and at_once(capacity) == [40]
    assert gram.columns.capacity == 40  # both have ended
    assert at_once(capacity) == [10]  # this thread has not


@pytest.mark.slow
def test_every_use_at_once():
    """Fits, leave-one-out, folds, estimates and restrictions, each in its thread, on all matrices."""
    X, y = two_classes(np.random.default_rng(4), 80, 4, gap=0.5)
    X[70:] = X[:10]  # identical points: restrictions
    some = np.flatnonzero(np.arange(80) % 3)
    uses = [
        lambda gram: leave_one_out(gram, y, 2.0).errors,
        lambda gram: leave_one_out(gram, y, 0.5, method="certified", tol=1e-6).errors,
        lambda gram: cross_validate(gram, y, 2.0, 5, "top", tol=1e-8).decision,
        lambda gram: cross_validate(gram, y, 2.0, 20, "unlearn", tol=1e-8).decision,
        lambda gram: span_rule(gram, y, solve_csvc(gram, y, 1.0, tol=1e-10)).error,
        lambda gram: solve_csvc(gram.restricted(some), y[some], 2.0, tol=1e-8).decision,
        lambda gram: solve_nusvc(gram, y, 0.8, tol=1e-8).decision,
        lambda gram: gram.product(some, y[some]),
        lambda gram: gram.submatrix(some, some[::-1]),
        lambda gram: gram.squared_radius(),
    ]
    for kernel in (RBF(0.3), Linear()):
        expected = [use(Gram(X, kernel)) for use in uses]
        for gram in (
            Gram(X, kernel),
            Gram(X, kernel).compute(),
            Gram(X, kernel, memory_mb=columns_mb(9, 80)),
            Gram(X, kernel, memory_mb=columns_mb(40, 80)),
        ):
            result = at_once(*(lambda use=use, gram=gram: use(gram) for use in uses))
            for one, other in zip(expected, result, strict=True):
                np.testing.assert_allclose(other, one, atol=1e-5)


@pytest.mark.parametrize("capacity", [8, 30, 300])
def test_columns_under_load(capacity):
    """Requests, fetches, restrictions and, of the whole matrix, its computation, in no order."""
    m = 300
    X = np.random.default_rng(5).normal(size=(m, 3))
    K = rbf_kernel(X, gamma=0.5)
    gram = Gram(X, RBF(0.5), memory_mb=columns_mb(capacity, m))

    def work(seed):
        rng = np.random.default_rng(seed)
        for step in range(60):
            i = rng.integers(m)
            np.testing.assert_allclose(gram.columns.column(i), K[:, i], atol=1e-12)
            gram.columns.fetch(rng.integers(0, m, 6))
            rows = np.flatnonzero(rng.random(m) < 0.3)
            part, j = gram.restricted(rows), rng.integers(rows.size)
            np.testing.assert_allclose(part.columns.column(j), K[rows, rows[j]], atol=1e-12)
            np.testing.assert_allclose(part.block([0, j + 1] if j + 1 < rows.size else [0]).diagonal(), 1)
            if step == 5 * seed:
                gram.compute()
        return gram.columns.requested

    requested = at_once(*(lambda seed=seed: work(seed) for seed in range(2 * THREADS)))
    assert requested == [120] * 2 * THREADS and gram.columns_requested == sum(requested)
    if gram.full:
        np.testing.assert_allclose(gram.matrix(), K, atol=1e-12)
        assert gram.kernel_values <= 3 * m * m


def test_folds_and_kernels_in_the_librarys_threads(monkeypatch):
    X, y = two_classes(np.random.default_rng(10), 100, 4, gap=0.5)
    monkeypatch.setattr(svmselect.threads, "WORK_FOR_THREADS", 0)
    results = []
    for threads in (1, 3):
        gram = Gram(X, RBF(0.3))
        with blas_libraries().limit(limits=threads):
            for seeding in ("cold", "top", "unlearn"):
                results.append(cross_validate(gram, y, 2.0, 5, seeding, tol=1e-8).decision)
            grid = cross_validate_grid(Gram(X, RBF(1.0)), y, [0.5, 2.0], [0.1, 0.3, 1.0], tol=1e-8)
            results.append(grid.errors)
    for one, other in zip(results[:4], results[4:], strict=True):
        np.testing.assert_allclose(other, one, atol=1e-5)


def test_several_kernels_on_copies():
    X, y = two_classes(np.random.default_rng(6), 200, 4, gap=0.5)
    gammas = [0.1, 0.3, 1.0, 3.0]
    alone = [leave_one_out(Gram(X, RBF(gamma)), y, 2.0) for gamma in gammas]
    copies = Gram(X, RBF(9.0)).copies(4)
    tasks = zip(copies, gammas, strict=True)
    result = at_once(*(lambda c=c, g=g: leave_one_out(c.set_kernel(RBF(g)), y, 2.0) for c, g in tasks))
    for one, other in zip(alone, result, strict=True):
        np.testing.assert_array_equal(other.errors, one.errors)
        assert (other.columns_requested, other.kernel_values) == (one.columns_requested, one.kernel_values)


def test_stored_columns_stay_where_they_are():
    """A solver holds a pointer to one column while it asks for the next, which may compute the matrix."""
    X, y = two_classes(np.random.default_rng(7), 200, 4, gap=0.5)
    expected = solve_csvc(Gram(X, RBF(0.3)), y, 5.0, tol=1e-6)
    for seed in range(8):
        gram = Gram(X, RBF(0.3))
        first = np.random.default_rng(seed).permutation(200)[:50]
        gram.columns.fetch(first)
        places = [gram.columns.column(i).ctypes.data for i in first]
        solution = solve_csvc(gram, y, 5.0, tol=1e-6, active_set=False)
        np.testing.assert_allclose(solution.decision, expected.decision, atol=1e-4)
        gram.compute()
        assert [gram.columns.column(i).ctypes.data for i in first] == places
        np.testing.assert_array_equal(gram.matrix(), gram.matrix().T)


def test_the_limit_of_blas_ends_with_the_last_thread():
    entered, leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            entered.set()
            assert leave.wait(600)

    def numbers():
        return {library["num_threads"] for library in blas_libraries().info()}

    with blas_libraries().limit(limits=3):
        with ThreadPoolExecutor(1) as pool:
            with one_blas_thread():
                assert numbers() == {1} and thread_count() == 3
                second = pool.submit(stay)
                assert entered.wait(600)
            assert numbers() == {1}  # the second thread is still inside
            leave.set()
            second.result()
        assert numbers() == {3} and thread_count() == 3
        at_once(*[thread_count] * 8)
        assert numbers() == {3}


@pytest.mark.parametrize("threads", [1, 3])
def test_no_task_is_started_after_an_exception(threads, monkeypatch):
    monkeypatch.setattr(svmselect.threads, "WORK_FOR_THREADS", 0)
    started = []

    def task(number):
        started.append(number)
        if number == 3:
            raise ArithmeticError("the third")
        if number > 3:
            while True:  # a solver: it goes on until it is stopped
                time.sleep(0.001)
                check_interrupted()

    with blas_libraries().limit(limits=threads), pytest.raises(ArithmeticError, match="the third"):
        run(task, range(100), 1)
    # a thread that took an early task may see the exception before it starts that task
    assert 3 in started and max(started) <= 3 + threads and len(started) == len(set(started))
    if threads == 1:
        assert started == [0, 1, 2, 3]


def test_tasks_of_tasks_stay_on_their_thread(monkeypatch):
    monkeypatch.setattr(svmselect.threads, "WORK_FOR_THREADS", 0)
    results = []

    def task(number):
        run(lambda _: results.append((number, threading.get_ident(), thread_count())), range(3), 1)

    with blas_libraries().limit(limits=2):
        run(task, range(2), 1)
        assert thread_count() == 2
    for number in range(2):
        assert len({ident for n, ident, _ in results if n == number}) == 1
    assert {count for _, _, count in results} == {1}


# fits that would take hours: noise, a linear kernel and a huge C, by SMO alone; "fitting" is printed once two
# threads have looked for Ctrl-C
HARD = """
    import signal, threading
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    from svmselect import Gram, Linear, cross_validate, cross_validate_grid, solve_csvc
    from svmselect import interruptible_threads
    from svmselect.solver import _smo
    from svmselect.threads import blas_libraries, check_interrupted
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    blas_libraries().limit(limits=2)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 10)), rng.choice([-1, 1], 1500)
    gram = Gram(X, Linear()).compute()
    def fit(C):
        return solve_csvc(gram, y, 1e9 * C, active_set=False)
    solvers = set()
    def look():
        solvers.add(threading.get_ident())
        if len(solvers) == 2:
            _smo.check_interrupted = check_interrupted
            print("fitting", flush=True)
        check_interrupted()
    _smo.check_interrupted = look
"""
WAYS = {
    "folds": "cross_validate(gram, y, 1e9, 4, active_set=False)",
    "grid": "cross_validate_grid(gram, y, [1e12], [1e-4, 2e-4], folds=2, active_set=False)",
    "threads": """with interruptible_threads(), ThreadPoolExecutor(2) as pool:
                      list(pool.map(fit, [1.0, 2.0, 3.0, 4.0]))""",
    "folds in a thread": """with interruptible_threads(), ThreadPoolExecutor(1) as pool:
                      pool.submit(cross_validate, gram, y, 1e9, 4, active_set=False).result()""",
}


@pytest.mark.parametrize("way", ["folds", *slow("grid", "threads", "folds in a thread")])
def test_ctrl_c_ends_the_solvers_of_all_threads(way):
    code = textwrap.dedent(HARD) + textwrap.dedent("""
        try:
            WAY
        except KeyboardInterrupt:
            # the library's own threads wait for work
            helpers = [t for t in threading.enumerate() if t.name.startswith("svmselect")]
            print("interrupted", threading.active_count() - len(helpers), flush=True)
    """).replace("WAY", WAYS[way].replace("\n" + " " * 22, "\n        "))
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "fitting\n"
        process.send_signal(signal.SIGINT)
        # not hours; how soon depends on the machine
        output, _ = process.communicate(timeout=900)
    finally:
        process.kill()
    assert (output, process.returncode) == ("interrupted 1\n", 0)


def test_ctrl_c_is_put_back():
    seen = []
    former = signal.signal(signal.SIGINT, lambda *_: seen.append("called"))
    try:
        with interruptible_threads(), interruptible_threads():
            signal.raise_signal(signal.SIGINT)
            assert seen == ["called"]
            for check in (check_interrupted, lambda: at_once(check_interrupted)):
                with pytest.raises(KeyboardInterrupt):
                    check()
        check_interrupted()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with interruptible_threads():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
        with pytest.raises(RuntimeError, match="must be entered in the main thread"):
            at_once(lambda: interruptible_threads().__enter__())
    finally:
        signal.signal(signal.SIGINT, former)


@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize("kernel", [RBF(0.3), Linear()])
def test_the_callers_array_may_change(as_csr, kernel):
    X, y = two_classes(np.random.default_rng(8), 120, 3, gap=0.5)
    given = sparse.csr_array(X) if as_csr else X.copy()
    gram = Gram(given, kernel)
    if as_csr:
        given.data *= 100
        given.indices[:] = 0
    else:
        given *= 100
    solution = solve_csvc(gram, y, 1.0, tol=1e-8)
    expected = solve_csvc(Gram(X, kernel), y, 1.0, tol=1e-8)
    np.testing.assert_allclose(solution.decision, expected.decision, atol=1e-6)
    np.testing.assert_allclose(decision_function(gram, y, solution, X), expected.decision, atol=1e-6)


def test_every_blas_is_limited():
    """Libraries are chosen by parts of their names, before links are followed."""
    expected = {library["filepath"] for library in threadpool_info() if library["user_api"] == "blas"}
    assert {library["filepath"] for library in blas_libraries().info()} == expected != set()


@pytest.mark.parametrize("m", [3, 700, 730, 1000, 1040])
def test_memory_of_columns_is_aligned_and_of_the_size(m):
    memory = allocate(4 * m * m)
    assert memory.nbytes == 4 * m * m and memory.ctypes.data % 64 == 0
    memory[:] = 1
    assert memory.base.nbytes <= 4 * m * m + 2**22


def test_an_adopted_array_is_frozen():
    X = np.random.default_rng(9).normal(size=(30, 3))
    Gram(X, Linear())
    X *= 2  # a copy is made by default
    gram = Gram(X, Linear(), copy=False)
    assert np.shares_memory(gram._source.placed.X, X)
    with pytest.raises(ValueError, match="read-only"):
        X *= 2
    csr = sparse.csr_array(X.copy())
    Gram(csr, Linear(), copy=False)
    for array in (csr.data, csr.indices, csr.indptr):
        assert not array.flags.writeable
    single = X.astype(np.float32)
    Gram(single, Linear(), copy=False)
    single *= 2  # had to be copied
