"""The choice of the best model of a search, and models at the ends of lists."""

import numbers

import numpy as np

__all__ = ["Choice", "ends_of_lists", "extended"]

RULES = {"middle": 0.5, "one_standard_error": 1.0}  # standard errors within which models are equally good
SHORTEST = 3  # values of a list with ends: of two, one is always chosen


class Choice:
    """The choice of the best model; raise a ValueError for a bad `refit`.

    `by` is the score that chooses, or a function of `cv_results_`; None if no model is the best. The `rule`
    is "middle" or "one_standard_error", or None for the largest score.
    """

    def __init__(self, refit, scoring):
        several = scoring is not None and scoring.several
        on_or_off = isinstance(refit, bool | np.bool_)
        self.rule = None
        if callable(refit):
            self.by = refit
        elif not several:
            self.by = "score"
            if isinstance(refit, str) and refit in RULES:
                self.rule = refit
            elif not on_or_off:
                raise ValueError(
                    f"refit must be a bool, one of {', '.join(map(repr, RULES))}, or a callable with one "
                    f"score, got {refit!r}"
                )
        elif on_or_off and not refit:
            self.by = None
        elif isinstance(refit, str) and refit in scoring.names:
            self.by = refit
        else:
            raise ValueError(
                f"refit must name the score that chooses, one of {', '.join(scoring.names)}, or be a "
                f"callable or False, got {refit!r}"
            )

    def applied_to(self, results, n_rows, names):
        """Return the best model of `results` and its score as attributes of the search.

        `n_rows` is the number of rows that the scores count right or wrong, None if they are no such shares;
        `names` are those of C, nu and the other parameters of the models in the grid, without a prefix.
        """
        if self.by is None:
            return {}
        models = results["params"]
        if callable(self.by):
            index = self.by(results)
            if not isinstance(index, numbers.Integral) or not 0 <= index < len(models):
                raise ValueError(
                    f"refit must return the number of a model, from 0 to {len(models) - 1}, got {index!r}"
                )
            return {"best_index_": int(index), "best_params_": models[int(index)]}
        index = int(results[f"rank_test_{self.by}"].argmin())
        if self.rule is not None:
            index = self._by_rule(results, index, n_rows, names)
        score = float(results[f"mean_test_{self.by}"][index])
        return {"best_index_": index, "best_params_": models[index], "best_score_": score}

    def _by_rule(self, results, best, n_rows, names):
        """Return the index of the model that the rule chooses among those that are nearly the best.

        They share the kernel, and everything else that is no number, with the best one. "middle": the nearest
        to their median of the logarithms of C, gamma and the like. "one_standard_error": the least C, or the
        largest nu, and of these the best.
        """
        score, models = results["mean_test_score"], results["params"]
        error = _standard_error(results, best, n_rows, self.rule)
        near = score >= score[best] - RULES[self.rule] * error - 1e-9
        if "iter" in results:
            near &= results["iter"] == results["iter"][best]
        along = [name for name, value in models[best].items() if _is_number(value)]
        same = [_kind(model) == _kind(models[best]) for model in models]
        near = np.flatnonzero(near & np.array(same))
        values = np.array([[float(models[n][name]) for name in along] for n in near]).reshape(near.size, -1)
        if self.rule == "middle":
            place = np.where((values > 0).all(axis=0), np.log(np.where(values > 0, values, 1)), values)
            away = ((place - np.median(place, axis=0)) ** 2).sum(axis=1)
            return int(near[away.argmin()])
        for name, simplest in (("C", np.min), ("nu", np.max)):
            for column, key in enumerate(along):
                if names.get(key) == name:
                    among = near[values[:, column] == simplest(values[:, column])]
                    return int(among[score[among].argmax()])
        return best


def _standard_error(results, index, n_rows, rule):
    """Return the standard error of a model's mean score; raise a ValueError where there is none.

    Of a share p of rows it is ``sqrt(p (1 - p) / n_rows)``, of other scores it follows from the splits.
    """
    p = results["mean_test_score"][index]
    if n_rows is not None:
        return np.sqrt(max(p * (1 - p), 0.0) / n_rows)
    splits = [name for name in results if name.startswith("split") and name.endswith("_test_score")]
    if len(splits) < 2:
        raise ValueError(
            f"refit={rule!r} needs a score that is a share of rows, or several splits: leave-one-out has one "
            "number for all rows"
        )
    return np.std([results[name][index] for name in splits], ddof=1) / np.sqrt(len(splits))


def ends_of_lists(results, best, by):
    """Return the numbers of a grid at whose end the best model is: ``{name: (value, next values)}``.

    A list is that of the models which share all that is no number with the best one. Lists of fewer than
    three numbers have no ends, and a model that is as good inside of the list counts.
    """
    ends, models = {}, results["params"]
    score = results[f"mean_test_{by}"]
    tied = np.flatnonzero(np.abs(score - score[best]) <= 1e-12)
    alike = [model for model in models if _kind(model) == _kind(models[best])]
    for name, value in models[best].items():
        values = sorted({float(model[name]) for model in alike if _is_number(value)})
        if not _is_number(value) or len(values) < SHORTEST:
            continue
        tied_values = {float(models[n][name]) for n in tied if _is_number(models[n].get(name))}
        for end, before in ((values[-1], values[-2]), (values[0], values[1])):
            if tied_values == {end}:
                ends[name] = end, _beyond(end, before, name)
    return {name: pair for name, pair in ends.items() if pair[1]}


def _beyond(end, before, name):
    """Return two values that follow the end of a list, none beyond the largest nu or below 0."""
    if end <= 0 or before <= 0:
        return ()
    following = end * (end / before), end * (end / before) ** 2
    if name.split("__")[-1] == "nu":
        following = tuple(value for value in following if value <= 1)
    return following


def extended(candidates, best, ends):
    """Return new candidates: those of the best model's kind with the next value beyond an end of a list."""
    added = []
    for name, (_, following) in ends.items():
        for candidate in [*candidates, *added]:
            one = {**candidate, name: following[0]}
            if _kind(one) == _kind(best) and one not in candidates and one not in added:
                added.append(one)
    return added


def _kind(model):
    """Return the parameters of a model that are no numbers, and the names of the others."""
    return {name: None if _is_number(value) else value for name, value in model.items()}


def _is_number(value):
    """Return whether the value of a parameter is a number."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
