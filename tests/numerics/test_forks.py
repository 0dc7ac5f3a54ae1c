"""A process that is forked while other threads are at work: it uses what they used, and never waits for them.

Each test runs in a process of its own, whose forked children have a time limit.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

HEAD = """
import os, signal, sys, threading, time, warnings
import numpy as np
from svmselect import RBF, Gram, Linear, Custom, solve_csvc

warnings.simplefilter("ignore", DeprecationWarning)  # Python's own, of forks beside threads
rng = np.random.default_rng(0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

def in_child(function):
    "Call a function in a forked process that may take 300 s; exit with what it did wrong."
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status:
        os._exit(100 + abs(status))  # no thread of this process is waited for

def in_thread(function):
    threading.Thread(target=function, daemon=True).start()
"""


def run(code):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-c", HEAD + code + "\nos._exit(0)"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr


def test_a_gram_matrix_that_a_thread_is_filling():
    """The thread was once waited for: 20 s without CPU time, until the test stopped it."""
    run("""
X = rng.standard_normal((1500, 5))
y = np.where(X[:, 0] + 0.5 * rng.standard_normal(1500) > 0, 1.0, -1.0)
reference = solve_csvc(Gram(X, RBF(0.2)), y, 10.0, tol=1e-6)

def fit():
    fit = solve_csvc(gram, y, 10.0, tol=1e-6)
    assert fit.converged and abs(fit.objective - reference.objective) < 1e-9 * abs(reference.objective)

for memory_mb in (2048, 4):
    for _ in range(6):
        gram = Gram(X, RBF(0.2), memory_mb=memory_mb)
        in_thread(fit)
        time.sleep(0.01 * rng.random())
        in_child(fit)
""")


@pytest.mark.slow
@pytest.mark.parametrize("memory_mb", [2048, 0.04])
def test_a_gram_matrix_whose_kernel_is_being_computed(memory_mb):
    run(f"""
parent, inside = os.getpid(), threading.Event()

def kernel(X, Z):
    if inside is not None and threading.current_thread() is not threading.main_thread():
        inside.set()
        time.sleep(1000)
    return X @ Z.T

X = rng.standard_normal((200, 3))
gram = Gram(X, Custom(kernel), memory_mb={memory_mb})
in_thread(lambda: gram.columns.fetch([0, 7]))
inside.wait()

def columns():
    for i in (7, 0, 3):
        np.testing.assert_allclose(gram.columns.column(i), X @ X[i], rtol=1e-12, atol=1e-12)
    if gram.full:
        np.testing.assert_allclose(gram.matrix(), X @ X.T, rtol=1e-12, atol=1e-12)

in_child(columns)
""")


@pytest.mark.slow
def test_columns_that_were_half_published():
    """A slot that is taken and holds no column is free again, so that all columns find room."""
    run("""
X = rng.standard_normal((64, 3))
gram = Gram(X, Linear())
gram.columns.fetch([0, 1])
held = threading.Event()

def publish():
    with gram.columns.lock:
        gram.columns.publish(np.array([5]), np.array([2, 3]))  # column 5 into slot 2; slot 3 is just taken
        gram.columns.arena[2, :64] = X @ X[5]
        held.set()
        time.sleep(1000)

in_thread(publish)
held.wait()

def fill():
    gram.columns.fetch(range(64))
    np.testing.assert_allclose(gram.matrix(), X @ X.T, rtol=1e-12, atol=1e-12)
    assert sorted(gram.columns.places()) == list(range(64))

in_child(fill)
""")


@pytest.mark.parametrize(
    "holder", ["gram._store", "gram._source.counts", "gram._budget", "svmselect.threads._one_thread"]
)
def test_locks_that_another_thread_holds(holder):
    run(f"""
import svmselect.threads
X = rng.standard_normal((60, 3))
y = np.where(X[:, 0] > 0, 1.0, -1.0)
gram, held = Gram(X, RBF(1.0)), threading.Event()

def hold():
    with {holder}._lock:
        held.set()
        time.sleep(1000)

in_thread(hold)
held.wait()
in_child(lambda: solve_csvc(gram.restricted(np.arange(1, 60)), y[1:], 1.0))
""")


@pytest.mark.slow
def test_a_value_that_another_thread_is_computing():
    run("""
from svmselect.forks import cached_property
inside = threading.Event()

class Slow:
    @cached_property
    def value(self):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            time.sleep(1000)
        return object()

slow = Slow()
in_thread(lambda: slow.value)
inside.wait()

def ask():
    assert slow.value is slow.value and Slow().value is not slow.value

in_child(ask)
""")


@pytest.mark.slow
@pytest.mark.parametrize("inside", [False, True])
def test_the_limit_of_blas_ends_with_the_threads_that_set_it(inside):
    run(f"""
from contextlib import nullcontext
from svmselect.threads import blas_libraries, one_blas_thread, thread_count
held = threading.Event()

def numbers():
    return {{library["num_threads"] for library in blas_libraries().info()}}

def hold():
    with one_blas_thread():
        held.set()
        time.sleep(1000)

assert numbers() == {{2}}
in_thread(hold)
held.wait()
assert numbers() == {{1}}

def check(inside):
    assert numbers() == ({{1}} if inside else {{2}}) and thread_count() == 2
    X = rng.standard_normal((300, 300))
    np.testing.assert_allclose((X @ X)[0], X[0] @ X)

with one_blas_thread() if {inside} else nullcontext():
    in_child(lambda: check({inside}))
if {inside}:
    pid = os.fork()
    assert numbers() == {{1}}
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)

def nested():
    with one_blas_thread():
        in_grandchild = os.fork()
        if in_grandchild:
            assert os.waitstatus_to_exitcode(os.waitpid(in_grandchild, 0)[1]) == 0
            return
    assert numbers() == {{2}}  # the child left the context
    os._exit(0)

in_child(nested)
""")


@pytest.mark.slow
def test_ctrl_c_in_a_process_that_another_thread_forked_stops_one_fit():
    run("""
from svmselect import interruptible_threads
from svmselect.threads import check_interrupted

def interrupted():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(300)
    except KeyboardInterrupt:
        pass
    check_interrupted()

statuses = []

def fork():
    pid = os.fork()
    if pid == 0:
        signal.alarm(300)
        status = 1
        try:
            interrupted()
            status = 0
        finally:
            os._exit(status)
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

with interruptible_threads():
    thread = threading.Thread(target=fork)
    thread.start()
    thread.join()
assert statuses == [0]
""")


def test_ctrl_c_while_holders_come_and_go():
    """An interrupt was once lost when it came while a holder was forgotten."""
    run("""
from svmselect.forks import renew_after_fork

class Holder:
    def renew(self):
        pass

def come_and_go():
    # Python 3.13.0 catches an interrupt around a call, not at the jump back of a loop that ends a "try"
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        renew_after_fork(Holder())

for _ in range(10):
    try:
        come_and_go()
    except KeyboardInterrupt:
        continue
    raise AssertionError("the interrupt was lost")
""")
