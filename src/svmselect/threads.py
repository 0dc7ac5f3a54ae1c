"""Threads that compute blocks of a matrix, each with a BLAS of one thread, and their interruption."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from queue import Empty, SimpleQueue

from threadpoolctl import ThreadpoolController

from svmselect.forks import renew_after_fork, renewed

__all__ = [
    "blas_libraries",
    "check_interrupted",
    "in_parallel",
    "in_turn",
    "interruptible_threads",
    "one_blas_thread",
    "run",
    "share_out",
    "thread_count",
]

WORK_FOR_THREADS = 2**25  # this many multiplications are worth a second thread

# Parts of the names, and of the names of links, of libraries with a BLAS or OpenMP.
LIBRARY_NAMES = ("blas", "blis", "mkl", "lapack", "omp")

# The threads that `run` may use: as many as BLAS had before it was limited to one. None without a limit.
_allowed = ContextVar("allowed", default=None)


class _Controller(ThreadpoolController):
    """The thread pools of the loaded libraries whose name may be that of BLAS or OpenMP.

    Resolving the path of each of some hundred libraries takes longer than a small fit.
    """

    def _make_controller_from_path(self, filepath):
        name = os.path.basename(filepath).lower()
        if any(part in name for part in LIBRARY_NAMES):
            super()._make_controller_from_path(filepath)


@cache
def blas_libraries():
    """Return the BLAS libraries of this process."""
    return _Controller().select(user_api="blas")


@cache
def _by_scope():
    """Return the libraries whose number of threads is set for the process, and those of OpenMP.

    The number of OpenMP is set for the calling thread alone.
    """
    paths = {True: [], False: []}
    for library in blas_libraries().lib_controllers:
        paths[getattr(library, "threading_layer", None) == "openmp"].append(library.filepath)
    return tuple(blas_libraries().select(filepath=paths[openmp]) for openmp in (False, True))


def _let_others_control(libraries):
    """Let any thread set the limits again.

    From threadpoolctl 3.8 on, only the thread that set them first can do so while it lives.
    """
    for kind in {type(library) for library in libraries.lib_controllers}:
        getattr(kind, "clear_controlling_thread", lambda: None)()


class _OneThread:
    """The limit of BLAS to one thread.

    Threads enter and leave at any time. The first one to enter limits the process, the last one to leave
    restores the former numbers.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._inside = []  # the threads inside, repeated as often as they entered
        self._before, self._limits = 1, None
        renew_after_fork(self)

    def renew(self):
        """Forget the threads that a fork left behind, in the forked process."""
        self._lock = renewed(self._lock)
        self._inside = [thread for thread in self._inside if thread == threading.get_ident()]
        self._restore()

    def enter(self):
        """Limit BLAS; return its former number of threads, and the limits of the calling thread alone."""
        process_libraries, thread_libraries = _by_scope()
        with self._lock:
            if not self._inside:
                numbers = [library["num_threads"] for library in blas_libraries().info()]
                self._before = min(numbers, default=1)
                self._limits = process_libraries.limit(limits=1) if self._before > 1 else None
                _let_others_control(process_libraries)
            self._inside.append(threading.get_ident())
            thread_limits = (
                thread_libraries.limit(limits=1)
                if self._before > 1 and thread_libraries.lib_controllers
                else None
            )
            return self._before, thread_limits

    def leave(self, thread_limits):
        """Undo `enter`, given the limits of the calling thread that it returned."""
        with self._lock:
            if thread_limits is not None:
                thread_limits.restore_original_limits()
            self._inside.remove(threading.get_ident())
            self._restore()

    def _restore(self):
        """Restore the former numbers if no thread is inside."""
        if not self._inside and self._limits is not None:
            self._limits.restore_original_limits()
            self._limits = None
            _let_others_control(_by_scope()[0])


_one_thread = _OneThread()


@contextmanager
def one_blas_thread():
    """Limit BLAS to one thread inside, as a context or a decorator.

    The many small products of a fit are faster on one thread, much faster if other cores are busy. `run`
    still uses as many threads as BLAS had. The limit holds for the process while any thread is inside.
    """
    if _allowed.get() is not None:
        yield
        return
    threads, thread_limits = _one_thread.enter()
    token = _allowed.set(threads)
    try:
        yield
    finally:
        _allowed.reset(token)
        _one_thread.leave(thread_limits)


@one_blas_thread()
def thread_count():
    """Return how many threads `run` may use."""
    return _allowed.get()


class _Stop:
    """A request to stop. Setting an attribute is safe in a signal handler, taking a lock is not."""

    requested = False


# requests to the calling thread from the runs that it works for, and requests to all threads after Ctrl-C
_stops = ContextVar("stops", default=())
_everywhere: list[_Stop] = []


def check_interrupted():
    """Raise KeyboardInterrupt after a request to stop; solvers call this several times a second."""
    if any(stop.requested for stop in (*_everywhere, *_stops.get())):
        raise KeyboardInterrupt


@contextmanager
def interruptible_threads() -> Iterator[None]:
    """Let Ctrl-C end the fits of all threads, not only those of the main thread.

    Python delivers Ctrl-C to the main thread alone. The threads of `cross_validate` and `cross_validate_grid`
    stop with the thread that waits for them. For your own threads, enter this context in the main thread
    *around* the statement that waits for them::

        with interruptible_threads(), ThreadPoolExecutor() as pool:
            solutions = list(pool.map(fit, Cs))

    After Ctrl-C, every fit that runs or begins inside raises KeyboardInterrupt in its thread within about a
    second, until the context is left. The former handler of SIGINT is called, too, and restored at the end.
    If Ctrl-C is ignored or kills the process, nothing is changed.

    Raises
    ------
    RuntimeError
        Outside the main thread, where Python sets no handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("interruptible_threads must be entered in the main thread")
    former = signal.getsignal(signal.SIGINT)
    if not callable(former):
        yield
        return
    stop, thread = _Stop(), threading.get_ident()

    def handler(number, frame):
        # a process that another thread has forked never leaves this context
        stop.requested = threading.get_ident() == thread
        former(number, frame)

    _everywhere.append(stop)
    try:
        signal.signal(signal.SIGINT, handler)
        yield
    finally:
        signal.signal(signal.SIGINT, former)
        _everywhere.remove(stop)


class _Helpers:
    """Threads that wait for work from one `run` to the next: to start one takes longer than a small task."""

    def __init__(self):
        self._lock = threading.Lock()
        self._executor = None
        renew_after_fork(self)

    def renew(self):
        """Forget the threads, which a forked process does not have."""
        self._lock, self._executor = renewed(self._lock), None

    def submit(self, n, function):
        """Let n threads call the function, as soon as they are idle, each in a context of its own."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(os.cpu_count() or 1, "svmselect")
        return [self._executor.submit(copy_context().run, function) for _ in range(n)]


_helpers = _Helpers()


@one_blas_thread()
def run(function, tasks, work, progress=None):
    """Return ``function(task)`` for every task, computed on as many threads as BLAS may use.

    The calling thread takes one task after the other, and helpers do so, too, if the `work`, in
    multiplications, is worth it. Each thread has a BLAS of one thread. `progress` is called as
    ``progress(done, total)`` from the calling thread. After an exception, including Ctrl-C, no further task
    starts, and solvers of running tasks stop.
    """
    threads = min(_allowed.get(), len(tasks)) if work >= WORK_FOR_THREADS else 1
    if threads == 1:
        results = []
        for task in tasks:
            results.append(function(task))
            if progress is not None:
                progress(len(results), len(tasks))
        return results
    results, finished, reported, errors, stop = [None] * len(tasks), [], 0, [], _Stop()
    numbers = SimpleQueue()
    for k in range(len(tasks)):
        numbers.put(k)

    def report():
        nonlocal reported
        while progress is not None and reported < len(finished):
            reported += 1
            progress(reported, len(tasks))

    def take_tasks(report=lambda: None):
        # nested runs of a task stay on its thread
        _allowed.set(1)
        _stops.set((*_stops.get(), stop))
        _, thread_limits = _one_thread.enter()
        try:
            while not stop.requested:
                try:
                    k = numbers.get_nowait()
                except Empty:
                    break
                check_interrupted()
                results[k] = function(tasks[k])
                finished.append(k)
                report()
        except BaseException as error:
            if not stop.requested:
                errors.append(error)
            stop.requested = True
        finally:
            _one_thread.leave(thread_limits)

    helpers = _helpers.submit(threads - 1, take_tasks)
    try:
        copy_context().run(take_tasks, report)
        # helpers that have not begun find nothing to do
        running = [helper for helper in helpers if not helper.cancel()]
        while running:
            running = wait(running, 0.1 if progress is not None else None).not_done
            report()
    except BaseException:
        stop.requested = True
        wait(helper for helper in helpers if not helper.cancel())
        raise
    if errors:
        raise errors[0]
    return results


def in_turn(gram, task, tasks, work):
    """Call ``task(t)`` for every t of `tasks` on the calling thread, with the arguments of `in_parallel`."""
    for t in tasks:
        task(t)


def in_parallel(gram, task, tasks, work):
    """Call ``task(t)`` for every t of `tasks`, on several threads if the matrix fits its budget.

    The threads share the matrix. Tasks run in turn if it does not fit, or if the `work` is too little.
    """
    if thread_count() == 1 or len(tasks) == 1 or not gram.full:
        in_turn(gram, task, tasks, work)
    else:
        gram.compute()
        run(task, tasks, work)


def share_out(objects, task, tasks, work, progress=None):
    """Return ``task(object, t)`` for every t, on threads, with an object that is idle; see `run`."""
    idle = SimpleQueue()
    for each in objects:
        idle.put(each)

    def on_idle(t):
        each = idle.get()
        try:
            return task(each, t)
        finally:
            idle.put(each)

    return run(on_idle, tasks, work, progress)
