"""Costs of cross-validations, from rows, and as tidy rows."""

import numpy as np
import pandas as pd

from lib import sample
from lib.rows import OK
from lib.tables import by_method, measured, part_of
from papers.wen2017.exhibits.methods import CHAINED, COLD, LIBSVM, METHODS
from papers.wen2017.problem import LOO

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


def with_libsvm(rows):
    """Return the rows of the seeds and of LIBSVM."""
    return pd.concat([rows["seeds"], rows["libsvm"]], ignore_index=True)


def total(row, *quantities, relative_spread=None):
    """Return the sum of some quantities (of `QUANTITIES`) over all k folds, from a row (namedtuple), and its
    variance. If fewer folds were run, they are a sample, since rows are assigned to folds at random: see
    `lib.sample.total`. The first fold of a chain has no seed, and is not in the sample."""
    recorded = [name for name in quantities if np.ndim(getattr(row, f"round_{name}"))]
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


def cost_rows(exhibit, setting, row, metrics):
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


def wide(tidy, exhibit, metric):
    """Return one metric of an exhibit: a DataFrame of data set and setting by method, in the order of the
    rows."""
    rows = part_of(tidy, exhibit, metric)
    frame = by_method(rows, ["dataset", "setting"])
    order = rows[["dataset", "setting"]].drop_duplicates()
    frame = frame.reindex(pd.MultiIndex.from_frame(order))
    return frame.reindex(columns=[*METHODS, *(name for name in frame.columns if name not in METHODS)])
