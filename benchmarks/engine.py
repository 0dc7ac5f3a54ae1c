"""The parts of the library, each beside what it should not be slower than: results/engine.csv and engine.md.

python benchmarks/engine.py
python benchmarks/engine.py --sections leave-one-out predictions

README.md has the sections. Times are CPU seconds of one thread, but for "two threads", where they are
wall-clock seconds. The two sides of a row are measured in turn; what the CSV file has already is measured
again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from functools import partial
from pathlib import Path

import numpy as np
import origin
from csv_rows import read_rows, write_rows
from problems import load_problem, make_data
from scipy import sparse
from sklearn.svm import SVC as TheirSVC
from threadpoolctl import threadpool_limits

from svmselect import (
    RBF,
    Gram,
    Linear,
    cross_validate_grid,
    decision_function,
    leave_one_out,
    solve_csvc,
)
from svmselect.sklearn import SVC, LOOSearchCV

try:
    from sklearnex import svm
except ImportError:  # it has no wheel for every machine
    svm = None

RESULTS = Path(__file__).resolve().parent / "results" / "engine.csv"
SMALL = ["heart", "diabetis", "german", "image", "waveform-400", "twonorm-400", "ringnorm-400"]
GRID = 2.0 ** np.arange(-5, 11, 2), 2.0 ** np.arange(-8, 0)  # C, gamma
NEW_ROWS = 50_000
PROCESSES = "one process alone"


def problem(name):
    """Dense rows, each feature standardised, and labels."""
    make_data(name)
    data = load_problem(name)
    X = np.asarray(data.X)
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), data.y


def in_turn(calls, repeats, clock):
    """Median seconds of each call, warmed up once. Each turn has another order: what comes after a call that
    takes other memory pays for that."""
    times = [[] for _ in calls]
    rng = np.random.default_rng(0)
    for repeat in range(repeats + 1):
        for k in rng.permutation(len(calls)):
            begin = clock()
            calls[k]()
            if repeat:
                times[k].append(clock() - begin)
    return [statistics.median(several) for several in times]


def leave_one_outs(repeats):
    """Unlearning against the faster of the paper's two methods, on easy and hard models."""
    for name in SMALL:
        X, y = problem(name)
        for label, kernel in (
            ("rbf", RBF(1 / X.shape[1])),
            ("wide rbf", RBF(0.1 / X.shape[1])),
            ("linear", Linear()),
        ):
            gram = Gram(X, kernel).compute()
            for C in (0.1, 1.0, 10.0):
                ours, *theirs = in_turn(
                    [
                        lambda gram=gram, y=y, C=C, m=method: leave_one_out(gram, y, C, m)
                        for method in ("unlearn", "certified", "retrain")
                    ],
                    repeats,
                    time.process_time,
                )
                yield f"{name} {label} C={C:g}", y.size, ours, "faster of certified and retrain", min(theirs)


def gram_matrices(repeats):
    """The whole matrix against one product of BLAS of the same rows."""
    rng = np.random.default_rng(0)
    for m, d in ((500, 2), (2000, 24), (2000, 200), (5000, 54), (5000, 780)):
        for dtype in ("float32", "float64"):
            X = rng.normal(size=(m, d))
            rows = X.astype(dtype)
            gram = Gram(X, RBF(1 / d), dtype)
            ours, product = in_turn(
                [
                    lambda gram=gram, d=d: gram.set_kernel(RBF(1 / d)).compute(),
                    lambda rows=rows: rows @ rows.T,
                ],
                repeats,
                time.process_time,
            )
            yield f"{m} x {d} {dtype}", m, ours, "A A' by BLAS", product


def predictions(repeats):
    """The function against the estimator, and the estimator against those of other libraries."""
    rng = np.random.default_rng(0)
    for name, C in (("waveform-2000", 1.0), ("image", 10.0)):
        X, y = problem(name)
        new = X[rng.integers(0, len(X), NEW_ROWS)] + 0.1 * rng.normal(size=(NEW_ROWS, X.shape[1]))
        gamma = 1 / X.shape[1]
        gram = Gram(X, RBF(gamma))
        solution = solve_csvc(gram, y, C)
        own = SVC(C=C, gamma=gamma).fit(X, y)
        other = TheirSVC(C=C, gamma=gamma).fit(X, y)
        peers = {"scikit-learn": (other, new)}
        if svm is not None:
            single = svm.SVC(C=C, gamma=gamma).fit(X.astype(np.float32), y)
            peers["scikit-learn-intelex float32"] = single, new.astype(np.float32)
        function, estimator, *theirs = in_turn(
            [
                lambda gram=gram, y=y, solution=solution, new=new: decision_function(gram, y, solution, new),
                *(
                    lambda model=model, rows=rows: model.decision_function(rows)
                    for model, rows in [(own, new), *peers.values()]
                ),
            ],
            repeats,
            time.process_time,
        )
        yield f"function, {name}, {solution.n_sv} SVs", NEW_ROWS, function, "estimator", estimator
        for peer, seconds in zip(peers, theirs, strict=True):
            yield f"estimator, {name}, {solution.n_sv} SVs", NEW_ROWS, estimator, peer, seconds


def fitted(X, y, C, gamma):
    return SVC(C=C, gamma=gamma).fit(X, y)


def estimators(repeats):
    """`SVC.fit` against the same fit without the estimator, and against scikit-learn's."""
    for name in ("heart", "german"):
        X, y = problem(name)
        gamma = 1 / X.shape[1]
        for C in (0.1, 10.0):
            estimator = partial(fitted, X, y, C, gamma)
            others = {
                "Gram and solve_csvc": lambda X=X, y=y, C=C, g=gamma: solve_csvc(Gram(X, RBF(g)), y, C),
                "scikit-learn": lambda X=X, y=y, C=C, g=gamma: TheirSVC(C=C, gamma=g).fit(X, y),
            }
            for beside, other in others.items():
                fit, seconds = in_turn([estimator, other], 10 * repeats, time.process_time)
                yield f"SVC.fit, {name}, C={C:g}", y.size, fit, beside, seconds


def sparse_problems():
    """Name, rows and labels: few values in very many columns, hashed words, and rows of zeros and ones."""
    rng = np.random.default_rng(0)
    problems = {}
    for d in (10**6, 10**7, 10**8):
        columns = rng.integers(0, d, (100, 50))
        problems[f"100 x {d:,}"] = in_columns(columns, d)
    # each text has 80 words, frequent ones in most, and a column is the remainder of a word's number
    words = rng.zipf(1.3, (2_000, 80)) % 2**20
    problems["hashed text, 2,000 x 1,048,576"] = in_columns(words, 2**20)
    bits = (rng.random((2_000, 100)) < 0.3).astype(float)
    problems["zeros and ones, 2,000 x 100"] = sparse.csr_matrix(bits)
    for name, X in problems.items():
        # labels of a random direction, with noise
        values = rng.normal(size=X.indices.max() + 1)
        margins = X.data * values[X.indices]
        scores = np.add.reduceat(margins, X.indptr[:-1])
        scores += 0.3 * scores.std() * rng.normal(size=scores.size)
        yield name, X, np.where(scores > np.median(scores), 1.0, -1.0)


def in_columns(columns, d):
    """Return the CSR matrix of d columns with as many ones as each row of `columns` names."""
    n, per_row = columns.shape
    numbers, starts = columns.ravel().astype(np.int32), np.arange(n + 1, dtype=np.int32) * per_row
    X = sparse.csr_matrix((np.ones(columns.size), numbers, starts), shape=(n, d))
    X.sum_duplicates()
    return X


def sparse_rows(repeats):
    """`SVC.fit` and predictions of rows in CSR format against scikit-learn's."""
    for name, X, y in sparse_problems():
        for kernel in ("rbf", "linear"):
            options = {"kernel": kernel, "C": 10.0, "gamma": 0.01}
            own, other = (kind(**options).fit(X, y) for kind in (SVC, TheirSVC))
            fits = in_turn([partial(own.fit, X, y), partial(other.fit, X, y)], repeats, time.process_time)
            yield f"fit, {name}, {kernel}", y.size, fits[0], "scikit-learn", fits[1]
            values = in_turn(
                [partial(model.decision_function, X) for model in (own, other)], repeats, time.process_time
            )
            yield f"predictions, {name}, {kernel}", y.size, values[0], "scikit-learn", values[1]
    make_data("w8a")
    data = load_problem("w8a")
    options = {"C": 1.0, "gamma": 1 / data.X.shape[1]}
    own, other = (kind(**options).fit(data.X, data.y) for kind in (SVC, TheirSVC))
    values = in_turn(
        [partial(model.decision_function, data.X_test) for model in (own, other)], repeats, time.process_time
    )
    yield "predictions, w8a, rbf", data.X_test.shape[0], values[0], "scikit-learn", values[1]


def two_threads(repeats):
    """The same call with two threads and with one: wall-clock seconds."""
    X, y = problem("german")
    Cs, gammas = GRID
    large, labels = problem("ringnorm-30000")
    make_data("covtype-25000")
    forest = load_problem("covtype-25000")
    gram = Gram(X, RBF(1.0))
    trained = SVC(C=1.0, gamma=0.05).fit(X, y)
    new = np.random.default_rng(0).normal(size=(NEW_ROWS, X.shape[1]))

    grid = {"C": Cs.tolist(), "gamma": gammas.tolist()}
    # what is called with a number of threads, or of processes for a search
    calls = {
        "fit, ringnorm, rbf C=1": (
            30_000,
            lambda n: solve_csvc(Gram(large, RBF(0.05), "float32"), labels, 1.0),
        ),
        "fit, covtype-25000, rbf C=10": (
            25_000,
            lambda n: solve_csvc(Gram(forest.X, RBF(1 / 54), "float32"), forest.y, 10.0),
        ),
        "5 folds of 64 models, german": (y.size, lambda n: cross_validate_grid(gram, y, Cs, gammas, 5)),
        "100 folds of 64 models, german": (y.size, lambda n: cross_validate_grid(gram, y, Cs, gammas, 100)),
        "leave-one-out of 64 models, german, n_jobs": (
            y.size,
            lambda n: LOOSearchCV(SVC(), grid, n_jobs=n).fit(X, y),
        ),
        "predictions, german": (NEW_ROWS, lambda n: trained.decision_function(new)),
    }
    for case, (rows, call) in calls.items():

        def with_threads(n, call=call):
            with threadpool_limits(n, user_api="blas"):
                call(n)

        one, two = in_turn([lambda: with_threads(1), lambda: with_threads(2)], repeats, time.perf_counter)
        yield case, rows, two, "one thread", one
        alone, both = at_once(lambda: with_threads(1), repeats)
        yield f"{case}, each in two processes at once", rows, both / 2, PROCESSES, alone


def at_once(call, repeats):
    """Median wall-clock seconds of a call in a process alone, and of two such calls in two processes at once.

    They share nothing but the processor, so a second thread cannot gain more than a second process does.
    """
    context = multiprocessing.get_context("fork")
    times = {1: [], 2: []}
    for _ in range(repeats):
        for n, measured in times.items():
            barrier, seconds = context.Barrier(n), context.SimpleQueue()

            def timed(barrier=barrier, seconds=seconds):
                call()  # memory and code that are used for the first time
                barrier.wait()
                begin = time.perf_counter()
                call()
                seconds.put(time.perf_counter() - begin)

            processes = [context.Process(target=timed) for _ in range(n)]
            for process in processes:
                process.start()
            measured.append(max(seconds.get() for _ in processes))
            for process in processes:
                process.join()
    return statistics.median(times[1]), statistics.median(times[2])


SECTIONS = {
    "leave-one-out": leave_one_outs,
    "Gram matrices": gram_matrices,
    "predictions": predictions,
    "estimators": estimators,
    "sparse rows": sparse_rows,
    "two threads": two_threads,
}


def report(rows):
    """Geometric mean, least and greatest ratio of each section, and every row, in Markdown."""
    lines = ["| section | beside | cases | geometric mean | least | greatest |", "|---|---|---|---|---|---|"]
    sections = dict.fromkeys((row["section"], row["beside"]) for row in rows)
    for section, beside in sections:
        ratios = [float(r["ratio"]) for r in rows if (r["section"], r["beside"]) == (section, beside)]
        mean = statistics.geometric_mean(ratios)
        lines.append(
            f"| {section} | {beside} | {len(ratios)} | {mean:.3g} | {min(ratios):.3g} | {max(ratios):.3g} |"
        )
    lines += [
        "",
        "| section | case | rows | ours, ms | beside | its, ms | its / ours |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['section']} | {r['case']} | {r['rows']} | {1e3 * float(r['seconds']):.3g} | {r['beside']} "
        f"| {1e3 * float(r['other_seconds']):.3g} | {r['ratio']} |"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=5, metavar="N")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    origin.warn_of_forced_kernels()
    for section in options.sections:
        threads = 2 if section == "two threads" else 1
        if threads > len(os.sched_getaffinity(0)):
            parser.error("two threads need two cores")
        rows = [row for row in read_rows(options.output) if row["section"] != section]
        with threadpool_limits(threads, user_api="blas"):
            for case, size, ours, beside, other in SECTIONS[section](options.repeats):
                row = {"section": section, "case": case, "rows": size, "threads": threads}
                row |= {"seconds": f"{ours:.4g}", "beside": beside, "other_seconds": f"{other:.4g}"}
                row |= {"ratio": f"{other / ours:.3g}"}
                print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
                rows.append(row)
                write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
