"""Pictures of a search."""

import math
import numbers
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

__all__ = ["SearchDisplay"]

LOSSES = ("error", "loss", "deviance")
KINDS = ("surface", "curve", "margins")
SHOWN = 0.8  # this share of the models differs in colour
MOST_WORDS = 120  # with at most this many cells, each shows its number
MOST_CHARACTERS = 5  # powers of 2 or of 10 are written as such if one of an axis takes more
BINS = 40  # a histogram has about this many
WIDE = 10  # from this ratio of a parameter's values on, its axis is logarithmic
CHOSEN = {"color": "tab:red", "label": "chosen"}


class SearchDisplay:
    """A picture of a search's scores; made by `from_search`.

    Parameters
    ----------
    kind : {"surface", "curve", "margins"}
    label : str
        The name of the score, or of the error, that is drawn.
    **parts : arrays
        The values that are drawn, by the names of the attributes.

    Attributes
    ----------
    kind, label
        As the parameters.
    names : list of str
        The parameters along the axes; one of a curve, none of margins. A parameter within a Pipeline, such as
        ``svc__C``, has its last part, C, unless two parameters have the same one.
    coordinates : list of lists
        Their values, one list for each of `names`; of a curve and of a surface of a grid each value once, in
        increasing order, of other surfaces those of each model.
    values : ndarray
        Scores or errors: shape (n,) of a curve, (n_y, n_x) of a grid's surface with NaN where there is no
        model, (n_models,) of other surfaces; of margins the margin of each row, shape (m,).
    spread : ndarray, shape (n,), or None
        For a curve, the standard error of `values` over the splits, or over the rows left out.
    train : ndarray, shape (n,), or None
        For a curve, the values on the rows that were trained on.
    wrong : ndarray of bool, shape (m,), or None
        For margins, the rows that are misclassified; by default those of a margin below 0.
    chosen : tuple or None
        The coordinates of the chosen model, and its value.
    ax_, figure_
        Matplotlib's, after `plot`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from svmselect.sklearn import SVC, SearchDisplay, SeededCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SeededCV(SVC(), {"C": [1, 10], "gamma": [0.1, 1]}).fit(X, y)
    >>> SearchDisplay.from_search(search, kind="surface").values.shape
    (2, 2)
    """

    def __init__(
        self,
        kind,
        label,
        *,
        values,
        names=(),
        coordinates=(),
        spread=None,
        train=None,
        wrong=None,
        chosen=None,
    ):
        self.kind, self.label, self.values = kind, label, values
        self.names, self.coordinates = list(names), list(coordinates)
        self.spread, self.train, self.chosen = spread, train, chosen
        self.wrong = values < 0 if wrong is None and kind == "margins" else wrong

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        kind: str | None = None,
        x: str | None = None,
        y: str | None = None,
        score: str | None = None,
        ax: Any = None,
    ) -> "SearchDisplay":
        """Draw the results of a search.

        Parameters
        ----------
        search : LOOSearchCV, SeededCV, GridSearchCV, RandomizedSearchCV or Pipeline
            Fitted. Of a Pipeline the last step is the search.
        kind : {"surface", "curve", "margins"}, optional
            "surface": the scores over two parameters, and the chosen model. "curve": the scores along one,
            with their standard error, all others as in the chosen model. "margins": a histogram of the
            margins that rows have by the best model trained without them. By default a surface where two
            parameters have several values, else a curve.
        x, y : str, optional
            Parameters of the grid; by default those with several values, or the first one if none has.
            All others are as in the chosen model.
        score : str, optional
            Which of several scores to draw; by default the one that chose. Accuracies are drawn as errors in
            percent, and a score such as neg_mean_absolute_error without its minus.
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        ValueError
            For an unknown kind, parameter or score, and for anything but a fitted search.
        """
        given = search
        if isinstance(search, Pipeline):
            search = search.steps[-1][1]
        if not (hasattr(search, "cv_results_") and hasattr(search, "multimetric_")):
            raise ValueError(
                "search must be a fitted LOOSearchCV, SeededCV, GridSearchCV or RandomizedSearchCV, or a "
                f"Pipeline that ends with one, got {given!r}"
            )
        if kind is not None and kind not in KINDS:
            raise ValueError(f"kind must be one of {list(KINDS)}, got {kind!r}")
        if kind == "margins":
            return _margins_of(cls, search).plot(ax)
        models = _Models(search, score)
        varied = [name for name in models.names if len(models.distinct(name)) > 1]
        if kind is None:
            kind = "surface" if len(varied) > 1 else "curve"
        shown_names = [models.full_names.get(name, name) for name in (x, y) if name is not None]
        for name in shown_names:
            if name not in models.names:
                grid = ", ".join(models.short_names.values())
                raise ValueError(f"x and y must be parameters of the grid, {grid}, got {name!r}")
        n_axes = 2 if kind == "surface" else 1
        rest = sorted((name for name in varied if name not in shown_names), key=_order_of)
        names = (shown_names + rest or models.names)[:n_axes]
        if len(names) < n_axes:
            raise ValueError(f"a {kind} needs {n_axes} parameters with several values, the grid has {varied}")
        return models.display(cls, kind, names).plot(ax)

    def plot(self, ax: Any = None) -> "SearchDisplay":
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure by default.

        Returns
        -------
        SearchDisplay
            Itself, with `ax_` and `figure_`.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError:
                raise ValueError("SearchDisplay needs matplotlib: install it") from None
            _, ax = pyplot.subplots(figsize=(6, 4), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        if self.kind == "margins":
            self._draw_margins(ax)
        elif self.kind == "curve":
            self._draw_curve(ax)
        else:
            self._draw_surface(ax)
        return self

    def _draw_surface(self, ax):
        errors = self.label.endswith(("(%)", *LOSSES))
        # a few models that are much worse than all others would take the colours for themselves
        low, high = np.nanmin(self.values), np.nanmax(self.values)
        if errors:
            high = np.nanquantile(self.values, SHOWN)
        else:
            low = np.nanquantile(self.values, 1 - SHOWN)
        colours = {"cmap": "cividis_r" if errors else "cividis", "vmin": low, "vmax": high}
        # a grid of cells, or a cloud of models
        if self.values.ndim == 2:
            image = ax.imshow(self.values, origin="lower", aspect="auto", **colours)
            if self.values.size <= MOST_WORDS:
                for (row, column), value in np.ndenumerate(self.values):
                    dark = (value > (low + high) / 2) == errors
                    if np.isfinite(value):
                        colour = "white" if dark else "black"
                        ax.text(
                            column, row, f"{value:.3g}", ha="center", va="center", fontsize=6, color=colour
                        )
            for set_ticks, values, turned in (
                (ax.set_xticks, self.coordinates[0], 45),
                (ax.set_yticks, self.coordinates[1], 0),
            ):
                set_ticks(range(len(values)), _texts_of(values), rotation=turned)
            place = [values.index(x) for values, x in zip(self.coordinates, self.chosen, strict=False)]
        else:
            image = ax.scatter(*self.coordinates, c=self.values, edgecolors="0.4", linewidths=0.5, **colours)
            for axis, values in zip((ax.set_xscale, ax.set_yscale), self.coordinates, strict=True):
                axis(_scale_of(values))
            place = self.chosen[:2]
        # the chosen model
        ax.plot(*place, "s", markersize=18, fillstyle="none", markeredgewidth=2, linestyle="none", **CHOSEN)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False, markerscale=0.5)
        self.figure_.colorbar(image, ax=ax, extend="max" if errors else "min", label=self.label)

    def _draw_curve(self, ax):
        (values,) = self.coordinates
        numeric = _are_numbers(values)
        positions = values if numeric else list(range(len(values)))
        ax.plot(positions, self.values, "o-", color="tab:blue", label="rows left out")
        if self.spread is not None:
            band = self.values - self.spread, self.values + self.spread
            ax.fill_between(positions, *band, color="tab:blue", alpha=0.2, label="standard error")
        if self.train is not None:
            ax.plot(positions, self.train, "s--", color="0.4", fillstyle="none", label="rows trained on")
        ax.plot(positions[values.index(self.chosen[0])], self.chosen[-1], "*", markersize=14, **CHOSEN)
        if numeric:
            ax.set_xscale(_scale_of(values))
        else:
            ax.set_xticks(positions, _texts_of(values))
        ax.set(xlabel=self.names[0], ylabel=self.label)
        ax.legend(frameon=False)

    def _draw_margins(self, ax):
        low, high = min(self.values.min(), 0.0), max(self.values.max(), 0.0)
        width = (high - low or 1.0) / BINS
        # 0 is an edge
        edges = width * np.arange(np.floor(low / width), np.floor(high / width) + 2)
        parts = [self.values[~self.wrong], self.values[self.wrong]]
        labels = [
            f"{name} ({part.size})" for name, part in zip(("right", "misclassified"), parts, strict=True)
        ]
        *_, bars = ax.hist(parts, edges, stacked=True, color=["0.75", "tab:red"], label=labels)
        for bar in bars[1]:
            bar.set(hatch="////", edgecolor="white", linewidth=0)
        ax.axvline(0, color="0.2", linewidth=1)
        ax.set(xlabel=self.label, ylabel="rows")
        ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)


class _Models:
    """The models of a search with one of their scores; `names` are the parameters that the grid has."""

    def __init__(self, search, score):
        results = search.cv_results_
        scores = [name.removeprefix("mean_test_") for name in results if name.startswith("mean_test_")]
        if score is None:
            score = search.refit if isinstance(search.refit, str) and search.refit in scores else scores[0]
        if score not in scores:
            raise ValueError(f"score must be one of {', '.join(scores)}, got {score!r}")
        self.params, self.results, self.score = results["params"], results, score
        self.names = sorted({name for model in self.params for name in model}, key=_order_of)
        last = [_last_part(name) for name in self.names]
        self.short_names = {
            name: part if last.count(part) == 1 else name for name, part in zip(self.names, last, strict=True)
        }
        self.full_names = {short: name for name, short in self.short_names.items()}
        if hasattr(search, "best_index_"):
            self.best = search.best_index_
        else:
            self.best = int(results[f"rank_test_{score}"].argmin())
        method = f"{search.n_splits_}-fold" if hasattr(search, "n_splits_") else "leave-one-out"
        named = score if search.multimetric_ else getattr(search, "scoring_", search.scoring)
        if named is None:  # scikit-learn's searches take the score of the estimator
            named = "accuracy" if is_classifier(search) else "r2" if is_regressor(search) else "score"
        # what is drawn is offset + factor * score
        named = named if isinstance(named, str) else "score"
        self.offset, self.factor, self.label = 0, 1, f"{method} {named}"
        criterion = getattr(search, "criterion", "exact").replace("_", " ")
        if criterion != "exact" and is_classifier(search):
            self.offset, self.factor, self.label = 100, -100, f"{criterion} estimate of the error (%)"
        elif criterion != "exact":
            self.factor, self.label = -1, f"{criterion} estimate of the mean absolute error"
        elif named in ("accuracy", "weighted_accuracy"):
            weighted = " weighted by class" if named == "weighted_accuracy" else ""
            self.offset, self.factor, self.label = 100, -100, f"{method} error{weighted} (%)"
        elif named.startswith("neg_") and named.endswith(LOSSES):
            self.factor, self.label = -1, f"{method} {named.removeprefix('neg_').replace('_', ' ')}"
        # the deviation is over splits, or over the rows where each is a split
        self.n = getattr(search, "n_splits_", None) or search.n_rows_
        self.rows_differ = "n_resources" in results and not hasattr(search, "n_splits_")

    def distinct(self, name):
        """Return the values of a parameter, increasing where they are numbers."""
        distinct = []
        for model in self.params:
            if name in model and model[name] not in distinct:
                distinct.append(model[name])
        return sorted(distinct) if _are_numbers(distinct) else distinct

    def shown(self, kind):
        """Return the mean scores, errors in percent, or losses, of all models."""
        values = np.asarray(self.results[f"mean_{kind}_{self.score}"], dtype=np.float64)
        return self.offset + self.factor * values

    def display(self, cls, kind, names):
        """Return the display of the models that have all other parameters of the chosen one."""
        chosen = self.params[self.best]
        # Models that were evaluated on ever more rows are drawn with their last round.
        last = {repr(sorted(model.items(), key=str)): n for n, model in enumerate(self.params)}
        alike = [
            n
            for n, model in enumerate(self.params)
            if n in last.values()
            and all(name in model for name in names)
            and all(model.get(name) == chosen.get(name) for name in self.names if name not in names)
        ]
        if self.best not in alike:
            raise ValueError(f"the chosen model has no {' and '.join(names)}: {chosen}")
        # the surface of a grid or of single models
        values = self.shown("test")
        best_point = tuple(chosen[name] for name in names), values[self.best]
        coordinates = [self.distinct(name) for name in names]
        shown = [self.short_names[name] for name in names]
        parts = {"names": shown, "chosen": (*best_point[0], best_point[1])}
        n_cells = np.prod([len(distinct) for distinct in coordinates])
        if kind == "surface" and n_cells > 2 * len(alike) and all(map(_are_numbers, coordinates)):  # no grid
            coordinates = [[self.params[n][name] for n in alike] for name in names]
            return cls(kind, self.label, values=values[alike], coordinates=coordinates, **parts)
        if kind == "surface":
            table = np.full([len(distinct) for distinct in coordinates[::-1]], np.nan)
            for n in alike:
                place = [c.index(self.params[n][name]) for c, name in zip(coordinates, names, strict=True)]
                table[tuple(place[::-1])] = values[n]
            return cls(kind, self.label, values=table, coordinates=coordinates, **parts)
        # the curve along one parameter
        (distinct,), (name,) = coordinates, names
        along = {self.params[n][name]: n for n in alike}
        order = [along[value] for value in distinct if value in along]
        n = self.results["n_resources"][order] if self.rows_differ else self.n
        spread = self.results[f"std_test_{self.score}"][order] / np.sqrt(n)
        train = self.shown("train")[order] if f"mean_train_{self.score}" in self.results else None
        return cls(
            kind,
            self.label,
            values=values[order],
            coordinates=[[self.params[n][name] for n in order]],
            spread=spread * abs(self.factor) if spread.any() else None,
            train=train,
            **parts,
        )


def _margins_of(cls, search):
    """Return the display of the margins of left-out rows."""
    best = getattr(search, "best_estimator_", None)
    model = best.steps[-1][1] if isinstance(best, Pipeline) else best
    if not hasattr(model, "left_out_margins"):
        raise ValueError(f"margins are of the best SVC or NuSVC of svmselect, got best_estimator_={best!r}")
    label = "margin of a row by the classifier without it"
    if len(model.classes_) > 2:
        label += ", in votes"
    return cls("margins", label, values=model.left_out_margins())


def _last_part(name):
    """Return the name of a parameter in its own estimator: C of svc__C."""
    return name.rpartition("__")[2]


def _order_of(name):
    """Return the sort key of a parameter: C or nu first, then gamma, then others by name."""
    first, last = ("C", "nu", "gamma"), _last_part(name)
    return (first.index(last) if last in first else len(first), name)


def _are_numbers(values):
    """Return whether all values of a parameter are numbers, and none is True or False."""
    return all(isinstance(value, numbers.Real) and not isinstance(value, bool) for value in values)


def _scale_of(values):
    """Return the scale of an axis with these values."""
    low, high = min(values), max(values)
    return "log" if low > 0 and high >= WIDE * low else "linear"


def _texts_of(values):
    """Return the values of a parameter as texts for people, along an axis all as powers of 2 or none."""
    if not _are_numbers(values):
        return [str(value) for value in values]
    texts = [_text_of(value) for value in values]
    if max(map(len, texts)) > MOST_CHARACTERS:
        for base, logarithm in ((2, math.log2), (10, math.log10)):
            powers = [round(logarithm(value)) if value > 0 else 0 for value in values]
            if all(math.isclose(value, base**power) for value, power in zip(values, powers, strict=True)):
                return [f"${base}^{{{power}}}$" for power in powers]
    return texts


def _text_of(value):
    """Return a number as text: 2048, 0.05 or 3.2 times a power of 10."""
    if abs(value) < 1e6 and (abs(value) >= 100 or value == round(value)):
        return f"{value:.0f}"
    factor, mark, power = f"{value:.3g}".partition("e")
    if not mark:
        return factor
    factor = "" if factor == "1" else rf"{factor} \cdot "
    return f"${factor}10^{{{int(power)}}}$"
