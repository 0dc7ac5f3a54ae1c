"""The paper's tables and figure as tidy rows, computed from result rows, and what goes beyond them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.rows import OK
from papers.wen2017.problem import LOO, PUBLISHED

__all__ = [
    "COLD",
    "LIBSVM",
    "METHODS",
    "PATH",
    "SEEDS",
    "TABLE3_METHODS",
    "UNLEARN",
    "agreement",
    "figure2",
    "folds",
    "seeds",
    "table1",
    "table2",
    "table3",
]

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


def total(row, quantity):
    """What all k folds take; where fewer were run, those that were not take the mean of those that were.

    The first fold of a chain has no seed: the others take the mean of the seeded ones.

    Parameters
    ----------
    row : namedtuple
        Of the result rows.
    quantity : str
        Of `QUANTITIES`.
    """
    rounds = getattr(row, f"round_{quantity}")
    if rounds is None:
        return 0.0
    rounds = np.asarray(rounds, dtype=float)
    full = QUANTITIES[quantity]
    of_all = 0.0 if full is None or pd.isna(getattr(row, full)) else getattr(row, full)
    typical = rounds[1:] if row.method in CHAINED and rounds.size > 1 else rounds
    return float(of_all + rounds.sum() + (row.k - rounds.size) * typical.mean())


def costs(rows):
    """The cost of each cross-validation: a DataFrame with one row for each.

    Columns ``dataset``, ``settings``, ``fold`` (k as text), ``method``, ``k``, ``rounds``, ``failed``, and,
    NaN where it failed: ``accuracy`` (percent), ``iterations``, ``kernel_values``, and the CPU times
    ``time_kernel`` of the Gram matrix, ``time_init`` of the seeds, ``time_rest`` of the fits, and
    ``time_total`` of all three, in seconds. LIBSVM computes kernel values as it goes: its ``time_rest`` is
    all there is.
    """
    found = []
    for row in rows.itertuples():
        cost = {name: getattr(row, name) for name in ("dataset", "settings", "fold", "method", "k", "rounds")}
        cost["failed"] = int(row.status != OK)
        if row.status == OK:
            kernel = 0.0 if pd.isna(row.gram_cpu_s) else row.gram_cpu_s
            init, rest = total(row, "seeding_cpu_s"), total(row, "training_cpu_s")
            cost |= {
                "accuracy": 100 * (1 - row.estimate),
                "iterations": total(row, "n_iter"),
                "kernel_values": total(row, "kernel_values"),
                "time_kernel": kernel,
                "time_init": init,
                "time_rest": rest,
                "time_total": kernel + init + rest,
            }
        found.append(cost)
    columns = [
        "accuracy",
        "iterations",
        "kernel_values",
        "time_kernel",
        "time_init",
        "time_rest",
        "time_total",
    ]
    frame = pd.DataFrame(found)
    return frame.reindex(columns=[*dict.fromkeys([*frame.columns, *columns])])


UNITS = {
    "accuracy": "percent",
    "iterations": "count",
    "kernel_values": "count",
    "rounds": "count",
    "failed": "count",
}


def tidy(exhibit, setting, row, metrics):
    """Tidy rows of some columns of a row of `costs`."""
    for metric in metrics:
        yield {
            "exhibit": exhibit,
            "dataset": row.dataset,
            "setting": setting,
            "method": row.method,
            "metric": metric,
            "value": getattr(row, metric),
            "spread": np.nan,
            "unit": UNITS.get(metric, "s"),
        }


def of_methods(frame, methods):
    """Rows of some methods, in their order within each data set and k."""
    order = {method: place for place, method in enumerate(methods)}
    frame = frame[frame["method"].isin(order)]
    names = {dataset: place for place, dataset in enumerate(dict.fromkeys(frame["dataset"]))}
    keys = pd.DataFrame({"d": frame["dataset"].map(names), "k": frame["k"], "m": frame["method"].map(order)})
    return frame.loc[keys.sort_values(["d", "k", "m"], kind="stable").index]


def table1(rows, settings):
    """k = 10: CPU times of seeds and fits, iterations, accuracy.

    Parameters
    ----------
    rows : DataFrame
        Of the seeds and of LIBSVM.
    settings : {"published", "chosen"}

    Returns
    -------
    list of dict
        Tidy rows; ``rounds`` is the number of folds run: with fewer than 10, times and iterations are
        extrapolated.
    """
    own = rows[(rows["settings"] == settings) & (rows["fold"] == TABLE1_K)]
    metrics = (
        "time_kernel",
        "time_init",
        "time_rest",
        "time_total",
        "iterations",
        "accuracy",
        "rounds",
        "failed",
    )
    return [
        line
        for row in of_methods(costs(own), METHODS).itertuples()
        for line in tidy("table1", f"k={TABLE1_K}", row, metrics)
    ]


def table2(rows, features):
    """The settings, published and chosen, and what the kernel looks like with them.

    Parameters
    ----------
    rows : DataFrame
        Of the seeds.
    features : dict of str to int

    Returns
    -------
    list of dict
        Tidy rows, with the settings as ``setting``. ``kernel_share`` is the percentage of the kernel values
        off the diagonal that are above 1e-6, ``kernel_largest`` the largest of these values.
    """
    found = []
    for (dataset, settings), own in rows.groupby(["dataset", "settings"], sort=False):
        first = own.iloc[0]
        values = {
            "rows": (first["m"], "count"),
            "features": (features[dataset], "count"),
            "C": (first["C"], ""),
            "gamma": (first["gamma"], ""),
            "kernel_share": (100 * first["kernel_share"], "percent"),
            "kernel_largest": (first["kernel_largest"], ""),
        }
        found += [
            {
                "exhibit": "table2",
                "dataset": dataset,
                "setting": settings,
                "method": "",
                "metric": metric,
                "value": value,
                "spread": np.nan,
                "unit": unit,
            }
            for metric, (value, unit) in values.items()
        ]
    return found


def table3(rows, settings):
    """Every k: total CPU time of LIBSVM, of our cold start, of SIR, of TOP and of unlearning; else as
    `table1`."""
    own = rows[(rows["settings"] == settings) & (rows["fold"] != LOO)]
    metrics = ("time_kernel", "time_total", "iterations", "rounds", "failed")
    return [
        line
        for row in of_methods(costs(own), TABLE3_METHODS).itertuples()
        for line in tidy("table3", f"k={row.fold}", row, metrics)
    ]


def figure2(rows):
    """Leave-one-out: CPU time of every method, with the settings of the paper.

    Returns
    -------
    list of dict
        Tidy rows; ``rounds`` is the number of points left out, ``points`` that of all: with fewer, times and
        iterations are extrapolated.
    """
    own = costs(rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == LOO)]).assign(points=lambda c: c["k"])
    metrics = (
        "time_kernel",
        "time_init",
        "time_rest",
        "time_total",
        "iterations",
        "rounds",
        "points",
        "failed",
    )
    return [
        {**line, "unit": "count"} if line["metric"] == "points" else line
        for row in of_methods(own, METHODS).itertuples()
        for line in tidy("figure2", LOO, row, metrics)
    ]


def seeds(rows, cached, along_C):
    """Beyond the paper: what each seed costs where all folds share the Gram matrix, and where each fit has a
    cache of its own.

    Parameters
    ----------
    rows, cached, along_C : DataFrame
        Of the stages.

    Returns
    -------
    list of dict
        Tidy rows of the exhibits ``published``, ``chosen`` (settings ``k=...``) and ``along_C`` (settings are
        values of C). ``time`` is that of seeds and fits, without the matrix; ``kernel_values`` are those that
        a cache of 100 MB computes, extrapolated from ``cached_rounds`` folds.
    """
    found = []
    for row in of_methods(costs(rows[rows["fold"] != LOO]), METHODS[1:]).itertuples():
        found += seed_costs(row.settings, f"k={row.fold}", row)
    for row in of_methods(costs(cached), METHODS[1:]).itertuples():
        found += seed_kernel_values(row.settings, f"k={row.fold}", row)
    order = of_methods(costs_along_C(along_C), (*METHODS[1:], PATH))
    for row in order.itertuples():
        make = seed_kernel_values if row.cached else seed_costs
        found += make("along_C", f"{row.C:.6g}", row)
    return found


def seed_costs(exhibit, setting, row):
    yield from tidy(exhibit, setting, row, ("iterations", "failed"))
    (line,) = tidy(exhibit, setting, row, ("time_total",))
    yield {**line, "metric": "time", "value": line["value"] - row.time_kernel}


def seed_kernel_values(exhibit, setting, row):
    yield from tidy(exhibit, setting, row, ("kernel_values",))
    (line,) = tidy(exhibit, setting, row, ("rounds",))
    yield {**line, "metric": "cached_rounds"}


def costs_along_C(rows):
    """`costs`, and of which C, and whether with a cache; the path's rows are sums already."""
    found = []
    for row in rows.itertuples():
        cost = {name: getattr(row, name) for name in ("dataset", "fold", "method", "k", "rounds", "C")}
        ok = row.status == OK
        cost |= {
            "cached": not pd.isna(row.cache_mb),
            "failed": int(not ok),
            "iterations": row.n_iter if ok else np.nan,
            "kernel_values": row.kernel_values if ok else np.nan,
            "time_kernel": 0.0,
            "time_total": row.cpu_s if ok else np.nan,
        }
        found.append(cost)
    return pd.DataFrame(found)


def folds(rows):
    """Total iterations of every seed over many assignments of the rows to folds.

    Returns
    -------
    list of dict
        Tidy rows, with the kind of assignment as ``setting``: ``iterations`` with their standard deviation (n
        - 1), ``iterations_least``, ``iterations_most`` and ``assignments``.
    """
    found = []
    for (dataset, kind, method), own in rows.groupby(["dataset", "folds", "method"], sort=False):
        n_iter = own.loc[own["status"] == OK, "n_iter"].astype(float)
        values = {
            "iterations": (n_iter.mean(), n_iter.std(ddof=1)),
            "iterations_least": (n_iter.min(), np.nan),
            "iterations_most": (n_iter.max(), np.nan),
            "assignments": (len(n_iter), np.nan),
        }
        found += [
            {
                "exhibit": "folds",
                "dataset": dataset,
                "setting": kind,
                "method": method,
                "metric": metric,
                "value": value,
                "spread": spread,
                "unit": "count",
            }
            for metric, (value, spread) in values.items()
        ]
    return found


def agreement(rows, tie):
    """Do all seeds give the same classes?

    Parameters
    ----------
    rows : DataFrame
        Of the seeds.
    tie : float
        A point on which they differ is a tie if no decision value there is larger in size.

    Returns
    -------
    summary : DataFrame
        One row per data set, settings and k: seeds compared, seeds that failed, points compared, points that
        differ, how many of these are no ties, and the least and the largest accuracy (percent).
    points : DataFrame
        One row per point that differs: its row number in the data, its fold, the decision value of each seed,
        and whether it is a tie.

    Notes
    -----
    Folds by unlearning are a cell of their own, which has not seen the decision values of the seeds.
    """
    rows = rows[rows["method"].isin(SEEDS)]
    summary, points = [], []
    for (dataset, settings, k), own in rows.groupby(["dataset", "settings", "fold"], sort=False):
        key = {"dataset": dataset, "settings": settings, "k": k}
        # a fit that stopped early has decision values too, but not those of a solution
        ok = own[own["status"] == OK]
        found = differing(ok, tie)
        accuracy = 100 * (1 - ok["estimate"])
        summary.append(
            {
                **key,
                "seeds": len(ok),
                "failed": len(own) - len(ok),
                "points": int(ok["rows_tested"].max()) if len(ok) else 0,
                "differing": len(found),
                "no_ties": sum(point["tie"] == "no" for point in found),
                "accuracy_least": accuracy.min(),
                "accuracy_most": accuracy.max(),
            }
        )
        points += [{**key, **point} for point in found]
    columns = ["dataset", "settings", "k", "point", "fold", *SEEDS, "tie"]
    return pd.DataFrame(summary), pd.DataFrame(points, columns=columns)


def differing(rows, tie):
    """The points of one cell on which its seeds differ."""
    if not len(rows):
        return []
    decisions = np.array([list(values) for values in rows["differing_decisions"]], dtype=float)
    first = rows.iloc[0]
    found = []
    for i, (point, fold) in enumerate(zip(first["differing_points"], first["differing_folds"], strict=True)):
        values = decisions[:, i]
        # seeds that failed may be what made the point differ
        if (values >= 0).all() or (values < 0).all():
            continue
        named = dict(zip(rows["method"], values.tolist(), strict=True))
        found.append(
            {
                "point": int(point),
                "fold": int(fold),
                **named,
                "tie": "yes" if np.abs(values).max() <= tie else "no",
            }
        )
    return found
