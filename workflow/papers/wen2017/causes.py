"""Variants of the protocol for results that ours miss, from rows that the exhibits have, too."""

import numpy as np

from lib.rows import OK
from lib.tables import measured
from papers.wen2017 import exhibits
from papers.wen2017.exhibits import COLD, LIBSVM
from papers.wen2017.problem import PUBLISHED

K = 10


def counts_of_variant(rows, folds, methods, variant=None):
    """Mean iterations at k = 10 with other folds, or of a `variant` in place of the `methods`."""
    names = ("dataset", "setting", "method", "metric")
    found = {tuple(row[name] for name in names): row["value"] for row in exhibits.folds(rows)}
    for dataset in dict.fromkeys(rows["dataset"]):
        for method in methods:
            value = found.get((dataset, folds, variant or method, "iterations"), np.nan)
            yield _row("table1", dataset, LIBSVM if method == COLD else method, "iterations", value, "count")


def share_of_cold(rows):
    """Iterations of a cold first fold, and of k - 1 folds that cost one in k - 1 of it each."""
    own = rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == str(K)) & (rows["method"] == COLD)]
    for row in own[own["status"] == OK].itertuples():
        yield _row("table1", row.dataset, "sir", "iterations", 2 * row.n_iter / K, "count")


def times_with_cache(rows):
    """Times of seeds over that of cold starts, each of ten folds of which two were run."""
    own = rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == str(K)) & (rows["status"] == OK)]
    for dataset, of_set in own.groupby("dataset", sort=False):
        of = of_set.set_index("method")
        cold = np.mean(of.loc[COLD, "round_training_cpu_s"]) * K
        for method in ("mir", "sir"):
            init, rest = (of.loc[method, f"round_{part}_cpu_s"] for part in ("seeding", "training"))
            times = {"init": (K - 1) * init[1], "rest": rest[0] + (K - 1) * rest[1]}
            times["total"] = sum(times.values())
            for name, value in times.items():
                exhibit = "table3" if name == "total" else "table1"
                yield _row(exhibit, dataset, method, f"time_{name}", value / cold, "ratio")


def _row(exhibit, dataset, method, metric, value, unit):
    at = {"exhibit": exhibit, "dataset": dataset, "setting": f"k={K}", "method": method}
    return measured(at, metric, value, unit)
