"""What the paper claims, and what we do: the numbers that decide each claim."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.claims import at_least, at_most, number
from lib.tables import by_method, part_of
from papers.wen2017.exhibits import COLD, LIBSVM, METHODS, SEEDS, UNLEARN
from papers.wen2017.problem import PUBLISHED

KERNEL = "rbf"
ALL_SETS = "all sets"  # no data set has a name like this
# the sets, with the settings of the paper, on which svmselect claims to be many times faster than LIBSVM
FASTER_ON = ("adult", "madelon", "webdata")
OF_THE_PAPER = ("ato", "mir", "sir")
MIR_BEST_ON = ("heart-statlog", "madelon")
SIR_FEWER_ON = ("adult", "mnist")


@dataclass
class Results:
    """What claims are decided from: tidy rows, of Tables 1 and 3 by their settings, and the summary of the
    agreement."""

    table1: dict
    table3: dict
    figure2: pd.DataFrame
    seeds: pd.DataFrame
    agreement: pd.DataFrame
    published: pd.DataFrame
    limits: dict

    def table(self, exhibit, metric, settings=PUBLISHED):
        """A metric of a table: data set and setting by method."""
        return wide(getattr(self, exhibit)[settings], exhibit, metric)


def wide(tidy, exhibit, metric):
    """One metric of an exhibit: a DataFrame of data set and setting by method, in the order of the rows."""
    own = part_of(tidy, exhibit, metric)
    frame = by_method(own, ["dataset", "setting"])
    order = own[["dataset", "setting"]].drop_duplicates()
    frame = frame.reindex(pd.MultiIndex.from_frame(order))
    return frame.reindex(columns=[*METHODS, *(name for name in frame.columns if name not in METHODS)])


def claim_same_accuracy(results):
    for row in results.agreement.itertuples():
        name = f"{row.settings}, k = {row.k}"
        quantity = f"points whose class differs and that are no ties, {name}"
        yield number(row.dataset, KERNEL, quantity, row.no_ties, "= 0", row.no_ties == 0)
        yield number(row.dataset, KERNEL, f"points whose class differs, {name}", row.differing)
        spread = row.accuracy_most - row.accuracy_least
        yield number(row.dataset, KERNEL, f"largest difference of accuracies, points, {name}", spread)


def named(setting, rounds):
    """A setting, with a remark where LIBSVM's time was extrapolated; `rounds` are the folds it ran."""
    whole = not rounds < int(setting.removeprefix("k="))
    return setting if whole else f"{setting}, LIBSVM extrapolated from folds: {rounds:.0f}"


def _over_cold(results, dataset, setting, method):
    """CPU time of the cold start over that of a seed, and where: with LIBSVM's cache if that was run, else on
    one Gram matrix."""
    for metric, where in (("cached_time", "with a cache"), ("time", "on one matrix")):
        time = wide(results.seeds, PUBLISHED, metric)
        if (dataset, setting) in time.index and method in time:
            ratio = time[COLD][dataset, setting] / time[method][dataset, setting]
            if not pd.isna(ratio):
                return ratio, where
    return np.nan, ""


def claim_seeding_speed(results):
    """Like for like: one solver, and LIBSVM's cache."""
    for dataset, setting in results.table("table1", "time_total").index:
        for method in ("mir", "sir"):
            ratio, where = _over_cold(results, dataset, setting, method)
            quantity = f"cold / {method}, {setting}, {where}"
            yield at_least(dataset, KERNEL, quantity, ratio, results.limits["several"])
    ratio, where = _over_cold(results, "madelon", "k=100", "sir")
    yield at_least("madelon", KERNEL, f"cold / sir, k=100, {where}", ratio, 32)
    time, key = wide(results.figure2, "figure2", "time_total"), ("webdata", "loo")
    if key in time.index:
        quantity = "cold / sir, leave-one-out, both extrapolated from the first rounds"
        yield at_least("webdata", KERNEL, quantity, time[COLD][key] / time["sir"][key], 167)


def claim_seeding_speed_shared(results):
    limits = results.limits
    rounds = results.table("table1", "rounds")[LIBSVM]
    for (dataset, setting), time in results.table("table1", "time_total").iterrows():
        at = named(setting, rounds[dataset, setting])
        for method in ("mir", "sir"):
            ratio = time[LIBSVM] / time[method]
            yield at_least(dataset, KERNEL, f"LIBSVM / {method}, {at}", ratio, limits["several"])
            yield number(dataset, KERNEL, f"cold / {method}, {setting}", time[COLD] / time[method])


def _loo_times(results):
    """Data set, and its leave-one-out times by method."""
    time = wide(results.figure2, "figure2", "time_total")
    for (dataset, _), own in time.iterrows():
        yield dataset, own


def claim_all_faster_loo(results):
    for dataset, time in _loo_times(results):
        for method in (*OF_THE_PAPER, "avg", "top"):
            ratio = time[COLD] / time[method]
            yield number(dataset, KERNEL, f"cold / {method}, leave-one-out", ratio, "> 1", ratio > 1)


def claim_best_seed_loo(results):
    for dataset, time in _loo_times(results):
        best = "mir" if dataset in MIR_BEST_ON else "sir"
        others = time[[*OF_THE_PAPER, "avg", "top"]].drop(best)
        quantity = f"fastest other seed ({others.idxmin()}) / {best}, leave-one-out"
        yield at_least(dataset, KERNEL, quantity, others.min() / time[best], 1)


def claim_avg_like_top(results):
    for dataset, time in _loo_times(results):
        both = time[["avg", "top"]]
        quantity = "slower of AVG and TOP / faster, leave-one-out"
        yield at_most(dataset, KERNEL, quantity, both.max() / both.min(), results.limits["similar"])


def claim_sir_fewer_than_mir(results):
    for (dataset, setting), count in results.table("table1", "iterations").iterrows():
        ratio = count["mir"] / count["sir"]
        limit = ("> 1", ratio > 1) if dataset in SIR_FEWER_ON else ()
        yield number(dataset, KERNEL, f"iterations, mir / sir, {setting}", ratio, *limit)


def claim_sir_for_all_k(results):
    for dataset, setting in results.table("table3", "time_total").index:
        ratio, where = _over_cold(results, dataset, setting, "sir")
        yield number(dataset, KERNEL, f"cold / sir, {setting}, {where}", ratio, "> 1", ratio > 1)


def claim_seeding_cost(results):
    init = results.table("table1", "time_init")
    for (dataset, setting), own in init.iterrows():
        least = own[["ato", "mir"]].min()
        quantity = f"time to seed, the lesser of ato and mir / sir, {setting}"
        yield at_least(dataset, KERNEL, quantity, _ratio(least, own["sir"]), 1)
    for (dataset, setting), time in results.table("table1", "time_total").iterrows():
        ratio = time["ato"] / time[COLD]
        limit = ("> 1", ratio > 1) if dataset == "adult" else ()
        yield number(dataset, KERNEL, f"CPU time, ato / cold, {setting}", ratio, *limit)


def claim_seeding_iterations(results):
    for (dataset, setting), count in results.table("table1", "iterations").iterrows():
        for method in ("mir", "sir"):
            ratio = count[COLD] / count[method]
            quantity = f"iterations, cold / {method}, {setting}"
            yield number(dataset, KERNEL, quantity, ratio, "> 1", ratio > 1)


def _published_iterations(results):
    """Data set, and the published and our iterations at k = 10, by method."""
    published = wide(results.published, "table1", "iterations")
    ours = results.table("table1", "iterations")
    for key in ours.index.intersection(published.index, sort=False):
        yield key[0], published.loc[key], ours.loc[key]


def claim_cold_counts(results):
    for dataset, published, ours in _published_iterations(results):
        far = abs(ours[COLD] / published[LIBSVM] - 1)
        limit = 0 if dataset == "madelon" else results.limits["cold"]
        yield at_most(dataset, KERNEL, "cold iterations, relative difference", far, limit)
        yield number(dataset, KERNEL, "cold iterations", ours[COLD])
        far = abs(ours[LIBSVM] / published[LIBSVM] - 1)
        yield number(dataset, KERNEL, "iterations of LIBSVM here, relative difference", far)


def claim_seeded_counts(results):
    for dataset, published, ours in _published_iterations(results):
        for method in ("ato", "mir", "sir"):
            far = abs(ours[method] / published[method] - 1)
            quantity = f"{method} iterations, relative difference"
            if (dataset, method) == ("adult", "sir"):
                yield at_most(dataset, KERNEL, quantity, far, results.limits["sir"])
            else:
                yield number(dataset, KERNEL, quantity, far)


def claim_faster(results):
    limits = {"k=10": results.limits["faster_at_10"], "k=100": results.limits["faster_at_100"]}
    rounds = results.table("table3", "rounds")[LIBSVM]
    for (dataset, setting), time in results.table("table3", "time_total").iterrows():
        if dataset in FASTER_ON and setting in limits:
            ratios = (time[LIBSVM] / time[[COLD, "sir", "top"]]).astype(float)
            if ratios.isna().all():
                continue
            at = named(setting, rounds[dataset, setting])
            quantity = f"LIBSVM / fastest of ours ({ratios.idxmax()}), {at}"
            yield at_least(dataset, KERNEL, quantity, ratios.max(), limits[setting])
            for method, ratio in ratios.items():
                yield number(dataset, KERNEL, f"LIBSVM / {method}, {setting}", ratio)


def claim_default_seed(results):
    """What seeds save where all folds share the matrix: geometric means over the data sets."""
    for settings in results.table1:
        times, counts = (wide(results.seeds, settings, metric) for metric in ("time", "iterations"))
        for setting, own in times.groupby(level="setting", sort=False):
            # a seed that was not run on every set has no mean that compares
            own = own[list(SEEDS)].dropna(axis="columns")
            if COLD not in own or own.shape[1] < 2:
                continue
            time, count = means(own), means(counts.loc[own.index, own.columns])
            best = time.drop(COLD).idxmin()
            quantity = f"CPU time, fastest seed ({best}) / cold, {settings}, {setting}"
            yield at_least(ALL_SETS, KERNEL, quantity, time[best], results.limits["default"])
            for method in own.columns.drop(COLD):
                quantity = f"iterations, {method} / cold, {settings}, {setting}"
                yield number(ALL_SETS, KERNEL, quantity, count[method])


def claim_unlearning(results):
    """The times of LIBSVM and of the fastest seed, over that of unlearning, where unlearning was run."""
    limits = results.limits
    for settings in results.table3:
        time = results.table("table3", "time_total", settings)
        for (dataset, setting), own in time[time[UNLEARN].notna()].iterrows():
            limit = limits["unlearning"] if setting == "k=100" else None
            yield _times(dataset, f"LIBSVM / unlearning, {settings}, {setting}", own, [LIBSVM], limit)
        time = wide(results.seeds, settings, "time")
        for (dataset, setting), own in time[time[UNLEARN].notna()].iterrows():
            limit = limits["unlearning_over_seeds"] if setting == "k=100" else None
            seeds = [name for name in SEEDS if pd.notna(own[name])]
            yield _times(dataset, f"fastest seed / unlearning, {settings}, {setting}", own, seeds, limit)
        accuracy = results.table("table1", "accuracy", settings)
        for (dataset, setting), own in accuracy[accuracy[UNLEARN].notna()].iterrows():
            far = abs(own[UNLEARN] - own[COLD])
            quantity = f"accuracy of unlearning, difference, points, {settings}, {setting}"
            yield at_most(dataset, KERNEL, quantity, far, limits["unlearning_accuracy"])
    time = wide(results.figure2, "figure2", "time_total")
    for (dataset, _), own in time[time[UNLEARN].notna()].iterrows():
        quantity = "LIBSVM / unlearning, leave-one-out"
        yield _times(dataset, quantity, own, [LIBSVM], limits["unlearning"])
        seeds = [name for name in SEEDS if pd.notna(own[name])]
        quantity = "fastest seed / unlearning, leave-one-out"
        yield _times(dataset, quantity, own, seeds, limits["unlearning_over_seeds"])


def _times(dataset, quantity, time, others, limit):
    ratio = float(time[others].min() / time[UNLEARN])
    if limit is None:
        return number(dataset, KERNEL, quantity, ratio)
    return at_least(dataset, KERNEL, quantity, ratio, limit)


def means(costs):
    """Geometric means over the data sets of each seed's cost over that of the cold start."""
    return np.exp(np.log(costs.div(costs[COLD], axis="index")).mean())


def _ratio(above, below):
    return above / below if below else np.nan
