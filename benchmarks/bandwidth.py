"""How much of the machine's memory bandwidth an SMO step uses, on one thread: results/bandwidth.csv.

    python benchmarks/bandwidth.py                     # 1,000 to 20,000 rows; 6 GB of memory, minutes
    python benchmarks/bandwidth.py --rows 1000 5000

README.md explains the columns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
from csv_rows import write_rows
from problems import load_problem
from scipy import sparse
from svmselect.solver._smo import Dual
from threadpoolctl import threadpool_limits

from svmselect import RBF, Gram

RESULTS = Path(__file__).resolve().parent / "results" / "bandwidth.csv"
L2_BYTES = 2**18  # fits the second-level cache of any recent processor
DRAM_BYTES = 2**29  # fits no cache
READ_BYTES = 2**32  # read by one measurement, at most
MEASUREMENTS = 5
TOL = 1e-3  # a smaller one would have the gradient computed afresh, which is more than steps
STEPS = 999  # of one call: the solver looks for a smaller problem after 1,000
MEASURED_S = 0.5  # CPU seconds of steps, at least, per measurement


def step_bytes(rows, itemsize):
    """Bytes that one step of SMO with the second-order rule reads and writes.

    Selecting j reads column i, f, the diagonal and one index set; the update reads columns i and j and both
    index sets and reads and writes f. f and the diagonal are float64, an index set has a bit per row.

    Parameters
    ----------
    rows : int
    itemsize : int
        Bytes of a kernel value.

    Returns
    -------
    columns : float
        Of the two columns, each once: what has to come from where the matrix is.
    state : float
        Of everything else: f (three times), the diagonal, index sets, and column i again, which are small
        and in use at every step, and so in a cache.
    """
    return 2.0 * itemsize * rows, (3 * 8 + 8 + 3 / 8 + itemsize) * rows


def stream_bandwidth(n_bytes):
    """Bytes per second of reading that many bytes again and again, in order."""
    a, b = np.ones((2, n_bytes // 16))
    times = max(1, min(READ_BYTES // 8, 400 * n_bytes) // n_bytes)

    def read():
        for _ in range(times):
            np.dot(a, b)

    return times * n_bytes / median_cpu(read)


def row_bandwidth(rows, dtype):
    """Bytes per second of reading rows of a square matrix in random order."""
    matrix = np.ones((rows, rows), dtype=dtype)
    count = max(rows, min(READ_BYTES // 8 // matrix[0].nbytes, 20 * rows))
    order = np.random.default_rng(1).integers(rows, size=count)
    # SciPy adds up the rows one after another
    chosen = sparse.csr_array((np.ones(count, dtype), order, [0, count]), shape=(1, rows))
    return count * matrix[0].nbytes / median_cpu(lambda: chosen @ matrix)


def step_seconds(rows, dtype):
    """CPU seconds of one SMO step on a precomputed matrix.

    The labels are random: nearly every point becomes a support vector, so that all of the matrix is in use.

    Returns
    -------
    seconds : float
    n_sv : int
        Support vectors: columns in use.
    """
    X = load_problem(f"waveform-{rows}").X
    y = np.where(np.random.default_rng(1).random(rows) < 0.5, -1.0, 1.0)
    gram = Gram(X, RBF(1 / X.shape[1]), dtype=dtype, memory_mb=2 * rows * rows * 8 / 2**20 + 1).compute()
    dual = Dual(gram, y)
    seconds = []
    dual.boxes(y, C := np.full(rows, 1e4))
    dual.solve("wss2", TOL, STEPS)
    n_sv = int(np.count_nonzero(dual.state()[0]))
    for _ in range(MEASUREMENTS):
        steps = spent = 0
        while spent < MEASURED_S:
            before, start = dual.state()[5], time.process_time()
            solved = dual.solve("wss2", TOL, STEPS)
            if solved:  # the end of a fit is more than steps
                dual.boxes(y, C)
                continue
            spent += time.process_time() - start
            steps += dual.state()[5] - before
        seconds.append(spent / steps)
    n_sv = max(n_sv, int(np.count_nonzero(dual.state()[0])))
    return statistics.median(seconds), n_sv


def median_cpu(function):
    """Median CPU seconds of a call, after one that is not counted."""
    function()
    seconds = []
    for _ in range(MEASUREMENTS):
        start = time.process_time()
        function()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def measure(rows, dtype, l2, dram):
    """One row of the table."""
    itemsize = np.dtype(dtype).itemsize
    matrix_bytes = itemsize * rows**2
    columns, state = step_bytes(rows, itemsize)
    stream = stream_bandwidth(matrix_bytes) if matrix_bytes < DRAM_BYTES else dram
    random_rows = row_bandwidth(rows, dtype)
    seconds, n_sv = step_seconds(rows, dtype)
    return {
        "rows": rows,
        "dtype": dtype,
        "matrix_mb": matrix_bytes / 1e6,
        "columns_used": n_sv,
        "us_per_step": seconds * 1e6,
        "column_bytes": columns,
        "state_bytes": state,
        "column_gb_s": columns / seconds / 1e9,
        "all_gb_s": (columns + state) / seconds / 1e9,
        "stream_gb_s": stream / 1e9,
        "random_rows_gb_s": random_rows / 1e9,
        "dram_gb_s": dram / 1e9,
        "l2_gb_s": l2 / 1e9,
        "columns_of_stream": columns / seconds / stream,
        "columns_of_dram": columns / seconds / dram,
        "all_of_stream": (columns + state) / seconds / stream,
        "share": (columns / stream + state / l2) / seconds,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--rows", nargs="+", type=int, default=[1_000, 5_000, 10_000, 20_000])
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    table = []
    with threadpool_limits(1):
        l2, dram = stream_bandwidth(L2_BYTES), stream_bandwidth(DRAM_BYTES)
        print(
            f"reading in order: {l2 / 1e9:.1f} GB/s from L2, {dram / 1e9:.1f} GB/s from main memory",
            flush=True,
        )
        for rows in options.rows:
            for dtype in ("float32", "float64"):
                table.append(measure(rows, dtype, l2, dram))
                print("  ".join(f"{name} {shown(value)}" for name, value in table[-1].items()), flush=True)
    shown_rows = [{name: shown(value) for name, value in row.items()} for row in table]
    write_rows(options.output, shown_rows)


def shown(value):
    return f"{value:.4g}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()
