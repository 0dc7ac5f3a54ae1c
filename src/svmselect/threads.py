"""Threads: many blocks of a matrix at once, each product of matrices on one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from threadpoolctl import ThreadpoolController

WORK_FOR_THREADS = 2**25  # multiplications that are worth a second thread

# threads that BLAS had before it was limited to one
_allowed = ContextVar("allowed", default=None)


@cache
def blas_libraries():
    """The BLAS libraries of this process."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread():
    """BLAS on one thread inside, also as a decorator: the many small products of a fit are faster so, by much
    where the threads' cores are busy. `run` still uses as many threads as BLAS had.
    """
    if _allowed.get() is not None:
        yield
        return
    threads = min((library["num_threads"] for library in blas_libraries().info()), default=1)
    token = _allowed.set(threads)
    try:
        if threads == 1:
            yield
        else:
            with blas_libraries().limit(limits=1):
                yield
    finally:
        _allowed.reset(token)


@one_blas_thread()
def thread_count():
    """How many threads `run` may use."""
    return _allowed.get()


@one_blas_thread()
def run(function, tasks, work, progress=None):
    """Call ``function(task)`` for every task, on as many threads as BLAS may use, each with a BLAS of one
    thread; one after another where the `work`, in multiplications, is too little for threads.

    `progress` is called as ``progress(done, total)`` from the calling thread. No task is started after an
    exception, which Ctrl-C is too.
    """
    threads = min(_allowed.get(), len(tasks)) if work >= WORK_FOR_THREADS else 1
    if threads == 1:
        for done, task in enumerate(tasks, 1):
            function(task)
            if progress is not None:
                progress(done, len(tasks))
        return
    with ThreadPoolExecutor(threads) as pool:
        try:
            futures = [pool.submit(function, task) for task in tasks]
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                if progress is not None:
                    progress(done, len(tasks))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
