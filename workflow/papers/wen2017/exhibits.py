"""The paper's tables and figure as tidy rows, computed from result rows, and exhibits beyond them."""

import numpy as np
import pandas as pd

from lib import sample
from lib.rows import OK
from lib.tables import averaged, measured
from papers.wen2017.problem import LOO, PUBLISHED

LIBSVM, COLD, PATH, UNLEARN = "libsvm", "cold", "path", "unlearn"
# our cold start, the paper's three seeds, and the two of others
SEEDS = (COLD, "ato", "mir", "sir", "avg", "top")
# in the order of the tables: LIBSVM itself, the seeds, and folds by unlearning where they were run
METHODS = (LIBSVM, *SEEDS, UNLEARN)
CHAINED = ("ato", "mir", "sir")
TABLE1_K = "10"
# the paper's two, our cold start, a seed from the solution of all points, and unlearning
TABLE3_METHODS = (LIBSVM, COLD, "sir", "top", UNLEARN)
# quantity of a round -> that of the fit of all points, which no round contains
QUANTITIES = {
    "n_iter": "full_n_iter",
    "seeding_cpu_s": "full_cpu_s",
    "training_cpu_s": None,
    "kernel_values": "full_kernel_values",
}


TIMES = ("time_kernel", "time_init", "time_rest", "time_total")
UNITS = {
    **dict.fromkeys(("iterations", "kernel_values", "rounds", "cached_rounds", "points", "failed"), "count"),
    **dict.fromkeys((*TIMES, "time", "cached_time"), "s"),
    "accuracy": "percent",
}


def total(row, *quantities, relative_spread=None):
    """Return the sum of some quantities (of `QUANTITIES`) over all k folds, from a row (namedtuple), and its
    variance. If fewer folds were run, they are a sample, since rows are assigned to folds at random: see
    `lib.sample.total`. The first fold of a chain has no seed, and is not in the sample."""
    recorded = [name for name in quantities if getattr(row, f"round_{name}") is not None]
    if not recorded:
        return 0.0, 0.0
    rounds = sum(np.asarray(getattr(row, f"round_{name}"), dtype=float) for name in recorded)
    full = [QUANTITIES[name] for name in recorded if QUANTITIES[name] is not None]
    known = sum(getattr(row, name) for name in full if not pd.isna(getattr(row, name)))
    units = row.k
    if row.method in CHAINED and rounds.size > 1:
        known, rounds, units = known + rounds[0], rounds[1:], units - 1
    value, variance = sample.total(rounds, units, relative_spread)
    return float(known + value), variance


def costs(rows):
    """Return the cost of each cross-validation: a DataFrame with one row for each.

    Columns ``dataset``, ``settings``, ``fold`` (k as text), ``method``, ``k``, ``rounds``, ``failed``, and,
    NaN where it failed: ``accuracy`` (percent), ``iterations``, ``kernel_values``, and the CPU times
    ``time_kernel`` of the Gram matrix, ``time_init`` of the seeds, ``time_rest`` of the fits, and
    ``time_total`` of all three, in seconds. LIBSVM computes kernel values as it goes: its ``time_rest`` is
    all there is. Beside ``iterations`` and ``time_total`` there are their variances, for example
    ``iterations_variance``, 0 where all folds were run.
    """
    table = rows[["dataset", "settings", "fold", "method", "k", "rounds"]].copy()
    ok = rows["status"] == OK
    spreads = _relative_spreads(rows[ok])

    def totals(*quantities):
        pairs = [
            total(row, *quantities, relative_spread=spread)
            for row, spread in zip(rows[ok].itertuples(), spreads, strict=True)
        ]
        return (pd.Series(part, rows.index[ok], dtype=float) for part in np.reshape(pairs, (-1, 2)).T)

    table["failed"] = (~ok).astype(int)
    table["accuracy"] = 100 * (1 - rows["estimate"].where(ok))
    table["iterations"], table["iterations_variance"] = totals("n_iter")
    table["kernel_values"], _ = totals("kernel_values")
    table["time_kernel"] = rows["gram_cpu_s"].fillna(0).where(ok)
    table["time_init"], _ = totals("seeding_cpu_s")
    table["time_rest"], _ = totals("training_cpu_s")
    table["time_total"] = table["time_kernel"] + table["time_init"] + table["time_rest"]
    _, table["time_total_variance"] = totals("seeding_cpu_s", "training_cpu_s")
    return table


def _relative_spreads(rows):
    """Return, for each row, the relative deviation from fold to fold of the iterations of its cell's cold
    start, which takes LIBSVM's steps; None if that was not run on two folds."""
    cold = rows[(rows["method"] == COLD) & (rows["rounds"] > 1)]
    keys = ["dataset", "settings", "fold"]
    spreads = {
        key: float(np.std(n_iter, ddof=1) / np.mean(n_iter))
        for *key, n_iter in cold[[*keys, "round_n_iter"]].itertuples(index=False, name=None)
        for key in [tuple(key)]
    }
    return [spreads.get(key) for key in rows[keys].itertuples(index=False, name=None)]


def tidy(exhibit, setting, row, metrics):
    """Yield tidy rows of some columns of a row of `costs`. A list of metrics names columns; a dict maps
    metrics to columns."""
    row_key = {"exhibit": exhibit, "dataset": row.dataset, "setting": setting, "method": row.method}
    for metric in metrics:
        column = metrics[metric] if isinstance(metrics, dict) else metric
        yield measured(row_key, metric, getattr(row, column), UNITS[metric])


def intervals(exhibit, costs, methods):
    """Yield tidy rows of the values that were extrapolated from a sample of the folds, from rows of `costs`:
    half of the 95 % intervals of iterations and times, and LIBSVM's time over that of a method, with half of
    its interval as the spread."""
    for (dataset, k), group in costs[costs["method"].isin(methods)].groupby(["dataset", "fold"], sort=False):
        row_key = {"exhibit": exhibit, "dataset": dataset, "setting": LOO if k == LOO else f"k={k}"}
        time = {row.method: (row.time_total, row.time_total_variance) for row in group.itertuples()}
        for row in rows_of_methods(group, methods):
            here = {**row_key, "method": row.method}
            for metric in ("iterations", "time_total"):
                value, variance = getattr(row, metric), getattr(row, f"{metric}_variance")
                if variance > 0:
                    half = sample.half_width(value, (value, variance))
                    yield measured(here, f"{metric}_half_width", half, UNITS[metric])
            if LIBSVM in time and row.method != LIBSVM:
                ratio = time[LIBSVM][0] / row.time_total
                half = sample.half_width(ratio, time[LIBSVM], time[row.method])
                if half > 0:
                    yield measured(here, "libsvm_over", ratio, "ratio", half)


def rows_of_methods(frame, methods):
    """Return rows of some methods, as named tuples, in their order within each data set and k."""
    order = {method: place for place, method in enumerate(methods)}
    frame = frame[frame["method"].isin(order)]
    names = {dataset: place for place, dataset in enumerate(dict.fromkeys(frame["dataset"]))}
    keys = pd.DataFrame({"d": frame["dataset"].map(names), "k": frame["k"], "m": frame["method"].map(order)})
    return frame.loc[keys.sort_values(["d", "k", "m"], kind="stable").index].itertuples()


def table1(rows, settings, sampled=False):
    """Yield CPU times of seeds and fits, iterations and accuracy at k = 10, with published or chosen
    settings. ``rounds`` is the number of folds run: with fewer than 10, times and iterations are
    extrapolated. If baselines are `sampled`, there are `intervals`."""
    selected = costs(rows[(rows["settings"] == settings) & (rows["fold"] == TABLE1_K)])
    for row in rows_of_methods(selected, METHODS):
        yield from tidy(
            "table1", f"k={TABLE1_K}", row, [*TIMES, "iterations", "accuracy", "rounds", "failed"]
        )
    yield from intervals("table1", selected, METHODS) if sampled else ()


def table2(rows, features):
    """Yield the settings, published and chosen, as ``setting``, and measures of the kernel with them.
    ``kernel_share`` is the percentage of the kernel values off the diagonal that are above 1e-6,
    ``kernel_largest`` the largest of these values."""
    for (dataset, settings), group in rows.groupby(["dataset", "settings"], sort=False):
        row_key, first = {"exhibit": "table2", "dataset": dataset, "setting": settings}, group.iloc[0]
        yield measured(row_key, "rows", first["m"], "count")
        yield measured(row_key, "features", features[dataset], "count")
        yield measured(row_key, "C", first["C"], "")
        yield measured(row_key, "gamma", first["gamma"], "")
        yield measured(row_key, "kernel_share", 100 * first["kernel_share"], "percent")
        yield measured(row_key, "kernel_largest", first["kernel_largest"], "")


def table3(rows, settings, sampled=False):
    """Yield, for every k, the total CPU time of LIBSVM, of our cold start, of SIR, of TOP and of unlearning;
    else as `table1`."""
    selected = costs(rows[(rows["settings"] == settings) & (rows["fold"] != LOO)])
    for row in rows_of_methods(selected, TABLE3_METHODS):
        metrics = ["time_kernel", "time_total", "iterations", "rounds", "failed"]
        yield from tidy("table3", f"k={row.fold}", row, metrics)
    yield from intervals("table3", selected, TABLE3_METHODS) if sampled else ()


def figure2(rows, sampled=False):
    """Yield the CPU time of leave-one-out by every method, with the settings of the paper. ``rounds`` is the
    number of points left out, ``points`` that of all: with fewer, times and iterations are extrapolated."""
    selected = costs(rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == LOO)]).assign(
        points=lambda c: c["k"]
    )
    for row in rows_of_methods(selected, METHODS):
        yield from tidy("figure2", LOO, row, [*TIMES, "iterations", "rounds", "points", "failed"])
    yield from intervals("figure2", selected, METHODS) if sampled else ()


def seeds(rows, cached, along_C):
    """Yield the cost of each seed, beyond the paper: where all folds share the Gram matrix, and where each
    fit has a cache of its own.

    The exhibits are ``published`` and ``chosen``, whose settings are ``k=...``, and ``along_C``, whose
    settings are values of C. ``time`` is that of seeds and fits, without the matrix; with a cache of 100 MB
    for each fit instead ``cached_time``, and ``kernel_values``, extrapolated from ``cached_rounds`` folds.
    """
    apart = {"iterations": "iterations", "failed": "failed", "time": "time_apart"}
    with_cache = {"kernel_values": "kernel_values", "cached_rounds": "rounds", "cached_time": "time_total"}
    whole = costs(rows[rows["fold"] != LOO])
    whole["time_apart"] = whole["time_total"] - whole["time_kernel"]
    for row in rows_of_methods(whole, METHODS[1:]):
        yield from tidy(row.settings, f"k={row.fold}", row, apart)
    for row in rows_of_methods(costs(cached), METHODS[1:]):
        yield from tidy(row.settings, f"k={row.fold}", row, with_cache)
    for row in rows_of_methods(costs_along_C(along_C), (*METHODS[1:], PATH)):
        yield from tidy("along_C", f"{row.C:.6g}", row, with_cache if row.cached else apart)


def costs_along_C(rows):
    """Return the cost of each cross-validation along C, as `costs`, with C and whether a cache was used. Rows
    of the path are sums already."""
    ok = rows["status"] == OK
    time = rows["cpu_s"].where(ok)
    return rows[["dataset", "method", "k", "rounds", "C"]].assign(
        cached=rows["cache_mb"].notna(),
        failed=(~ok).astype(int),
        iterations=rows["n_iter"].where(ok),
        kernel_values=rows["kernel_values"].where(ok),
        time_apart=time,
        time_total=time,
    )


def folds(rows):
    """Yield total iterations of every seed over many assignments of the rows to folds, with the kind of
    assignment as ``setting``: their mean, ``iterations_least``, ``iterations_most`` and ``assignments``."""
    for (dataset, kind, method), group in rows.groupby(["dataset", "folds", "method"], sort=False):
        row_key = {"exhibit": "folds", "dataset": dataset, "setting": kind, "method": method}
        n_iter = group.loc[group["status"] == OK, "n_iter"].astype(float)
        yield averaged(row_key, "iterations", n_iter, "count")
        yield measured(row_key, "iterations_least", n_iter.min(), "count")
        yield measured(row_key, "iterations_most", n_iter.max(), "count")
        yield measured(row_key, "assignments", len(n_iter), "count")


def agreement(rows, tie):
    """Compare the classes that all seeds give. Folds by unlearning are a cell of their own, which has not
    seen the decision values of the seeds.

    Returns a summary, one row per data set, settings and k: seeds compared, seeds that failed, points
    compared, points that differ, how many of these are no ties, and the least and the largest accuracy
    (percent). And one row per point that differs: its row number in the data, its fold, the decision value of
    each seed, and whether it is a tie, which it is if none of these is larger than `tie` in size.
    """
    rows = rows[rows["method"].isin(SEEDS)]
    summary, points = [], []
    for (dataset, settings, k), group in rows.groupby(["dataset", "settings", "fold"], sort=False):
        key = {"dataset": dataset, "settings": settings, "k": k}
        # a fit that stopped early has decision values too, but not those of a solution
        ok = group[group["status"] == OK]
        differing_points = differing(ok, tie)
        # seeds that were run on fewer folds have the accuracy of other points
        accuracy = 100 * (1 - ok.loc[ok["rounds"] == ok["rounds"].max(), "estimate"])
        summary.append(
            {
                **key,
                "seeds": len(ok),
                "failed": len(group) - len(ok),
                "points": int(ok["rows_tested"].min()) if len(ok) else 0,
                "differing": len(differing_points),
                "no_ties": sum(point["tie"] == "no" for point in differing_points),
                "accuracy_least": accuracy.min(),
                "accuracy_most": accuracy.max(),
            }
        )
        points += [{**key, **point} for point in differing_points]
    columns = ["dataset", "settings", "k", "point", "fold", *SEEDS, "tie"]
    return pd.DataFrame(summary), pd.DataFrame(points, columns=columns)


def differing(rows, tie):
    """Return the points of one cell on which its seeds differ."""
    if not len(rows):
        return []
    decisions = np.array([list(values) for values in rows["differing_decisions"]], dtype=float)
    first = rows.iloc[0]
    points = []
    for i, (point, fold) in enumerate(zip(first["differing_points"], first["differing_folds"], strict=True)):
        values = decisions[:, i]
        # seeds that failed may be what made the point differ
        if (values >= 0).all() or (values < 0).all():
            continue
        named = dict(zip(rows["method"], values.tolist(), strict=True))
        is_tie = "yes" if np.abs(values).max() <= tie else "no"
        points.append({"point": int(point), "fold": int(fold), **named, "tie": is_tie})
    return points
