"""The claims of the paper and of svmselect: the numbers that decide each claim."""

from functools import cached_property

import pandas as pd

from lib import claims
from lib.claims import number
from lib.tables import part_of
from papers.sarafis2018.exhibits.models import RULES
from papers.sarafis2018.exhibits.published_beside import lookup
from papers.sarafis2018.exhibits.selections import errors_of, same_pairs

ALL_SETS = "all sets"


class Results(claims.Results):
    """The results from which claims are decided."""

    def exhibit_lookup(self, exhibit):
        """Return the data sets of an exhibit, and its `lookup`."""
        rows = self.tidy[self.tidy["exhibit"] == exhibit]
        return list(dict.fromkeys(rows["dataset"])), lookup(rows)

    def printed(self, exhibit):
        return lookup(self.published[self.published["exhibit"] == exhibit])

    @cached_property
    def selections(self):
        """Test error at each rule's choice, by table and data set."""
        return {
            (table, dataset): errors_of(find, dataset)
            for table in ("table2", "table3")
            for datasets, find in [self.exhibit_lookup(table)]
            for dataset in datasets
        }

    def times(self, exhibit):
        """Yield data set, training rows, and the times of Table 6 or Figure 5 by method."""
        rows = part_of(self.tidy, exhibit, "time").fillna({"setting": ""})
        _, sizes = self.exhibit_lookup("table1")
        for (dataset, setting), group in rows.groupby(["dataset", "setting"], sort=False):
            m = int(setting or sizes(dataset, "", "train_rows")[0])
            yield dataset, m, group.set_index("method")["value"]

    def by_dimension(self):
        """Return CPU times of LIBSVM's cross-validation in Figure 5: rows by data set, in order of
        dimension."""
        rows = part_of(self.tidy, "figure5", "time", method="kfold")
        rows = rows.assign(m=rows["setting"].astype(int))
        order = sorted(set(rows["dataset"]), key=lambda name: int(name.rpartition("-")[2]))
        return rows.pivot(index="m", columns="dataset", values="value")[order]


def claim_span_selects_best(results):
    selections = results.selections
    for (_, dataset), errors in selections.items():
        for rule in RULES[1:]:
            quantity = f"test error at the choice of the span rule minus {rule}, percentage points"
            yield number(dataset, quantity, 100 * (errors["span_rule"] - errors[rule]))
    if selections:
        for rule in RULES[1:]:
            share = sum(errors["span_rule"] <= errors[rule] for errors in selections.values()) / len(
                selections
            )
            quantity = f"share of sets on which the span rule selects at least as well as {rule}"
            yield results.test(ALL_SETS, quantity, share, ">=", "at_least_as_good")


def claim_span_beside_cv(results):
    errors = [choices for (table, _), choices in results.selections.items() if table == "table2"]
    if errors:
        count = sum(choices["span_rule"] <= choices["kfold"] for choices in errors)
        quantity = f"sets of {len(errors)} on which the span rule selects at least as well as 5-fold CV"
        yield results.test(ALL_SETS, quantity, count, ">=", "beside_cv")


def claim_best_with_instance_weights(results):
    for (table, dataset), choices in results.selections.items():
        if table == "table3":
            gap = min(choices[rule] for rule in RULES[1:]) - choices["span_rule"]
            quantity = "least test error of the other rules above that of the span rule, percentage points"
            yield results.test(dataset, quantity, 100 * gap, ">", 0)


def _slower(results, exhibit, below):
    """Yield tests that the span rule takes more time than cross-validation on fewer rows than `below`."""
    for dataset, m, time in results.times(exhibit):
        if m < below:
            quantity = f"CPU time, fit and span rule / LIBSVM 5-fold CV, {m} rows"
            yield results.test(dataset, quantity, time["span_rule"] / time["kfold"], ">", 1)


def claim_span_slower_on_small_sets(results):
    return _slower(results, "table6", results.limits["large"])


def claim_cv_faster_when_small(results):
    most = 2 ** results.limits["to_log2_m"]
    yield from _slower(results, "figure5", most + 1)
    times = results.by_dimension()
    for m, row in times[times.index <= most].iterrows():
        quantity = f"CPU time of LIBSVM 5-fold CV, largest / smallest over the dimensions, {m} rows"
        yield results.test(ALL_SETS, quantity, row.max() / row.min(), "<=", "unaffected")


def claim_cv_grows_with_dimension(results):
    times = results.by_dimension()
    if len(times):
        last = times.iloc[-1]
        quantity = f"CPU time of LIBSVM 5-fold CV, {last.index[-1]} / {last.index[0]}, {times.index[-1]} rows"
        yield results.test(ALL_SETS, quantity, last.iloc[-1] / last.iloc[0], ">=", "with_dimension")


def claim_few_in_bound(results):
    rows = results.tidy[results.tidy["exhibit"] == "figure6"]
    for dataset, group in rows.groupby("dataset", sort=False):
        counts = group[group["method"] == "svm"].assign(m=group["setting"].astype(int))
        counts = counts.pivot(index="m", columns="metric", values="value").sort_index()
        growth = counts.iloc[-1] / counts.iloc[0]
        quantity = "growth of in-bound SVs / growth of all SVs, smallest to largest training set"
        yield results.test(dataset, quantity, growth["in_bound_svs"] / growth["svs"], "<=", "few")


def claim_span_predicts_best(results):
    datasets, find = results.exhibit_lookup("table4")
    best = 0
    for dataset in datasets:
        rmse = {m: find(dataset, m, "rmse_to_test_error")[0] for m in ("span_rule", "kfold", "xi_alpha")}
        best += rmse["span_rule"] == min(rmse.values())
        quantity = "RMSE of the span rule minus that of 5-fold CV, percentage points"
        yield number(dataset, quantity, 100 * (rmse["span_rule"] - rmse["kfold"]))
    if datasets:
        quantity = "share of sets on which the span rule has the least RMSE"
        yield results.test(ALL_SETS, quantity, best / len(datasets), ">=", "best_predictor")


def claim_spans_exist(results):
    datasets, find = results.exhibit_lookup("table5")
    for dataset in datasets:
        mean = find(dataset, "span", "empty_span_sets")[0]
        yield results.test(dataset, "mean number of empty span sets of a model", mean, "<=", "empty")


def claim_span_faster_than_cv(results):
    quantity = "CPU time, LIBSVM 5-fold CV / fit and span rule, kernel values on demand, {} rows"
    for dataset, m, time in results.times("table6"):
        ratio, large = time["kfold"] / time["span_rule"], m >= results.limits["large"]
        yield results.test(dataset, quantity.format(m), ratio, ">=", "speedup", decides=large)
    for dataset, m, time in results.times("figure5"):
        ratio, large = time["kfold"] / time["span_rule"], m > 2 ** results.limits["from_log2_m"]
        yield results.test(dataset, quantity.format(m), ratio, ">", 1, decides=large)


def claim_shared_gram(results):
    for dataset, m, time in results.times("table6"):
        ratio, large = time["kfold"] / time["span_rule_shared"], m >= results.limits["large"]
        quantity = f"CPU time, LIBSVM 5-fold CV / fit and span rule on the shared Gram matrix, {m} rows"
        yield results.test(dataset, quantity, ratio, ">=", "shared_speedup", decides=large)
        for method, name in (("kfold_shared", "5-fold CV"), ("loo_shared", "fit and exact LOO")):
            ratio = time[method] / time["span_rule_shared"]
            yield number(dataset, f"CPU time, {name} / fit and span rule, both shared", ratio)


def claim_published_sv_counts(results):
    datasets, find = results.exhibit_lookup("table5")
    printed, share = results.printed("table5"), results.limits["sv_counts"]
    for dataset in datasets:
        for metric in ("in_bound_svs", "svs"):
            ratio = find(dataset, "svm", metric)[0] / printed(dataset, "svm", metric)[0]
            quantity, limit = f"mean {metric} / published", f"{1 - share:g} to {1 + share:g}"
            decided = (
                (limit, abs(ratio - 1) <= share) if dataset in results.context.facts["published_rows"] else ()
            )
            yield number(dataset, quantity, ratio, *decided)


def claim_published_order(results):
    for (table, dataset), errors in results.selections.items():
        published = errors_of(results.printed(table), dataset)
        if not pd.isna(published["span_rule"]):
            pairs = same_pairs(errors, published)
            yield number(dataset, "pairs of rules in the published order, of 6", pairs, "6", pairs == 6)


def claim_same_cv(results):
    datasets, find = results.exhibit_lookup("table4")
    for dataset in datasets:
        gap = 100 * find(dataset, "kfold", "distance_to_kfold_libsvm")[0]
        quantity = "mean distance of our 5-fold CV error from LIBSVM's, percentage points"
        yield results.test(dataset, quantity, gap, "<=", "same_errors")
