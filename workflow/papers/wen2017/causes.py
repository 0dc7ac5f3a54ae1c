"""Variants of the protocol for results that ours miss, from rows that the exhibits have, too."""

import numpy as np

from lib.plan import Cell, Run
from lib.rows import OK
from lib.tables import measured
from papers.wen2017.exhibits.costs import costs
from papers.wen2017.exhibits.folds import iterations_by_folds
from papers.wen2017.exhibits.methods import CHAINED, COLD, LIBSVM
from papers.wen2017.file_order import FILE_ORDER
from papers.wen2017.problem import LOO, PUBLISHED, load

K = 10
# k -> the seed whose folds are counted one by one, and how many of them are run
IN_FILE_ORDER = {3: ("sir", 3), K: ("mir", 3), 100: ("sir", 5)}
COLUMNS_MB = 1500  # budget for columns, where readings are run
LARGE_MB = 4000  # and on webdata, most of whose rows are asked for again and again


def _published(section, datasets):
    """Return the published model of each data set that the configuration has."""
    entries = (entry for entry in section["datasets"] if entry["name"] in datasets)
    return {entry["name"]: {key: float(entry[key]) for key in ("C", "gamma")} for entry in entries}


def _plan_readings(config, reading, datasets):
    """Return the run of a reading. `datasets` has, by data set, the number of assignments to folds, the folds
    run (None: all), and the values of k."""
    section = config["wen2017"]
    cells = {}
    for dataset, model in _published(section, datasets).items():
        shuffles, rounds, ks = datasets[dataset]
        for k in ks:
            arguments = {"k": str(k), "model": model, "reading": reading, "shuffles": shuffles}
            cell = Cell(dataset, {"settings": PUBLISHED}, arguments, {"rounds": rounds}, 3000, 60)
            cells[f"{dataset}/k-{k}"] = cell
    settings = {key: section[key] for key in ("tol", "max_iter", "seed")} | {"timing": config["timing"]}
    return Run("reading", "readings.run_reading", "CV_ROWS", cells, {**settings, "memory_mb": COLUMNS_MB})


def plan_positive_sir(config, registry):
    ks = (3, K, 100)
    datasets = {"heart-statlog": (5, None, ks), "madelon": (1, None, ks)}
    return _plan_readings(config, "sir_positive_all", datasets)


def plan_first_step_of_ato(config, registry):
    return _plan_readings(config, "ato_first_step", {"heart-statlog": (5, None, (K,))})


def plan_seeds_of_seeds(config, registry):
    return _plan_readings(config, "zero_of_seeds", {"madelon": (1, None, (K,))})


def plan_last_index(config, registry):
    settings = {"timing": config["timing"]}
    cells = {name: Cell(name, mem_mb=2000) for name in _published(config["wen2017"], ["mnist"])}
    return Run("last_index", "causes.run_last_index", "BOUND_ROWS", cells, settings)


def run_last_index(job, settings):
    """Find the number of the last feature that some row has, as ``bound``."""
    X, y, sha256 = load(job.data, PUBLISHED)
    job.identity["data_sha256"] = sha256
    last = 1 + int(X.nonzero()[1].max())
    return [{"method": "last_index", "m": y.size, "bound": float(last), "status": OK}]


def last_index(rows):
    """Yield Table 2's features if those after the last one that some row has do not count."""
    for row in rows.itertuples():
        row_key = {"exhibit": "table2", "dataset": row.dataset, "setting": PUBLISHED, "method": ""}
        yield measured(row_key, "features", row.bound, "count")


def plan_similarity_by_libsvm(config, registry):
    section = config["wen2017"]
    models = _published(section, ["adult", "heart-statlog", "madelon", "webdata"])
    cells = {
        dataset: Cell(dataset, {"settings": PUBLISHED}, {"k": str(K), "model": model}, {}, 3000, 60)
        for dataset, model in models.items()
    }
    settings = {key: section[key] for key in ("tol", "seed")} | {"timing": config["timing"]}
    return Run("similarity", "readings.run_similarity", "CV_ROWS", cells, settings)


def similarity_by_libsvm(rows):
    """Yield times of SIR's seeds over LIBSVM's, from the rows of both."""
    indexed = rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == str(K))].set_index(
        ["method", "dataset"]
    )
    for dataset in indexed.loc["similarity"].index:
        seed_s = indexed.loc[("similarity", dataset), "seeding_cpu_s"]
        fold_s = np.mean(indexed.loc[(LIBSVM, dataset), "round_training_cpu_s"])
        share = (K - 1) * seed_s / (K * fold_s)
        yield _row("table1", dataset, "sir", "time_init", share, "ratio")


def plan_seeds_in_file_order(config, registry):
    section = config["wen2017"]
    cells = {
        f"{dataset}/k-{k}": Cell(
            dataset,
            {"settings": PUBLISHED},
            {"k": str(k), "model": model, "seeding": seeding, "rounds": rounds},
            {},
            1000 + LARGE_MB,
            60,
        )
        for dataset, model in _published(section, ["webdata"]).items()
        for k, (seeding, rounds) in IN_FILE_ORDER.items()
    }
    settings = {key: section[key] for key in ("tol", "max_iter", "seed")} | {"timing": config["timing"]}
    return Run(
        "file_order", "file_order.run_file_order", "CV_ROWS", cells, {**settings, "memory_mb": LARGE_MB}
    )


def in_file_order(rows):
    """Yield iterations and times of the seeds whose folds were counted one by one (see `reading_counts`), and
    mean iterations of the others (see `counts_of_variant`)."""
    by_fold = rows["round_n_iter"].notna()
    yield from counts_of_variant(rows[~by_fold], FILE_ORDER, [COLD, "sir"])
    for method, group in rows[by_fold].groupby("method", sort=False):
        yield from reading_counts(group, method)


def reading_counts(rows, method):
    """Yield the iterations of a seed at k = 10, and its times over LIBSVM's. Folds that were not run count as
    those that were; the ratio of times is that of its iterations to those of as many cold fits as there are
    folds."""
    for (dataset, fold), group in rows[rows["status"] == OK].groupby(["dataset", "fold"], sort=False):
        k = int(fold)
        round_means = np.mean([list(rounds) for rounds in group["round_n_iter"]], axis=0)
        total = round_means[0] + (k - 1) * round_means[1:].mean()
        share = total / (k * round_means[0])
        if k == K:
            yield _row("table1", dataset, method, "iterations", total, "count")
        yield from _time_rows(dataset, k, method, share)


def counts_of_variant(rows, folds, methods, variant=None):
    """Yield mean iterations at k = 10 with other folds, or of a `variant` in place of the `methods`."""
    names = ("dataset", "setting", "method", "metric")
    counts = {tuple(row[name] for name in names): row["value"] for row in iterations_by_folds(rows)}
    for dataset in dict.fromkeys(rows["dataset"]):
        for method in methods:
            value = counts.get((dataset, folds, variant or method, "iterations"), np.nan)
            yield _row("table1", dataset, LIBSVM if method == COLD else method, "iterations", value, "count")
            share = value / counts.get((dataset, folds, COLD, "iterations"), np.nan)
            yield from _time_rows(dataset, K, method, share)


def times_as_iterations(rows):
    """Yield times of the fits from each seed over LIBSVM's, as its iterations over those of the cold
    start."""
    cost_rows = costs(rows[(rows["settings"] == PUBLISHED) & (rows["fold"] != LOO)])
    for (dataset, fold), dataset_rows in cost_rows.groupby(["dataset", "fold"], sort=False):
        counts = dataset_rows.set_index("method")["iterations"]
        for method in counts.index.intersection(CHAINED):
            share = counts[method] / counts[COLD]
            yield from _time_rows(dataset, int(fold), method, share)


def _time_rows(dataset, k, method, share):
    if k == K:
        yield _row("table1", dataset, method, "time_rest", share, "ratio")
    row_key = {"exhibit": "table3", "dataset": dataset, "setting": f"k={k}", "method": method}
    yield measured(row_key, "time_total", share, "ratio")


def share_of_cold(rows):
    """Yield the iterations of a cold first fold and of k - 1 folds that cost one part in k - 1 of it each."""
    cold_rows = rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == str(K)) & (rows["method"] == COLD)]
    for row in cold_rows[cold_rows["status"] == OK].itertuples():
        yield _row("table1", row.dataset, "sir", "iterations", 2 * row.n_iter / K, "count")


def times_with_cache(rows):
    """Yield times of seeds over that of cold starts, for ten folds of which two were run."""
    selected = rows[(rows["settings"] == PUBLISHED) & (rows["fold"] == str(K)) & (rows["status"] == OK)]
    for dataset, dataset_rows in selected.groupby("dataset", sort=False):
        by_method = dataset_rows.set_index("method")
        cold = np.mean(by_method.loc[COLD, "round_training_cpu_s"]) * K
        for method in ("mir", "sir"):
            init, rest = (by_method.loc[method, f"round_{part}_cpu_s"] for part in ("seeding", "training"))
            times = {"init": (K - 1) * init[1], "rest": rest[0] + (K - 1) * rest[1]}
            times["total"] = sum(times.values())
            for name, value in times.items():
                exhibit = "table3" if name == "total" else "table1"
                yield _row(exhibit, dataset, method, f"time_{name}", value / cold, "ratio")


def _row(exhibit, dataset, method, metric, value, unit):
    row_key = {"exhibit": exhibit, "dataset": dataset, "setting": f"k={K}", "method": method}
    return measured(row_key, metric, value, unit)
