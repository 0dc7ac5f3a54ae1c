"""The figures of the command line: the errors of a grid of models, and the margins of left-out rows."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np

from svmselect.data.atomic import replacing

__all__ = ["as_svg", "check_plotting", "histogram", "plot", "surface"]

FORMATS = (".pdf", ".svg", ".png")
SHOWN = 0.8  # share of the models that differ in colour
MOST_WORDS = 200  # cells up to which each has its number
BINS = 40  # of a histogram, about
SETTINGS = {"svg.hashsalt": "svmselect", "pdf.fonttype": 42, "font.size": 8}


def check_plotting(plot, report):
    """A ValueError, before anything is trained, unless --plot and --report can be drawn."""
    if plot and Path(plot).suffix.lower() not in FORMATS:
        raise ValueError(f"--plot takes a file that ends in {', '.join(FORMATS)}, got {plot!r}")
    if plot or report:
        try:
            import matplotlib.figure  # noqa: F401
        except ImportError:
            raise ValueError("--plot and --report need matplotlib: install it, or leave them out") from None


def surface(models, best, measure, key="error"):
    """The errors of models over C, and over gamma where there are several.

    Parameters
    ----------
    models : list of dict
        Each has its `C`, perhaps its `gamma`, and what is drawn.
    best : int
        The number of the chosen one.
    measure : str
        What is drawn, for people.
    key : str
        Its name in `models`; errors are drawn in percent.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    Cs = np.unique([model["C"] for model in models])
    gammas = np.unique([model.get("gamma", 0.0) for model in models])
    chosen = models[best]
    factor, unit = (100, " (%)") if key == "error" else (1, "")
    figure = Figure(figsize=(6, 4 if gammas.size > 1 else 3), layout="constrained")
    axes = figure.subplots()
    if gammas.size == 1:
        order = np.argsort([model["C"] for model in models])
        axes.plot(
            [models[n]["C"] for n in order], [factor * models[n][key] for n in order], "o-", color="0.3"
        )
        axes.plot(chosen["C"], factor * chosen[key], "*", markersize=14, color="tab:red", label="chosen")
        axes.set(xscale="log", xlabel="C", ylabel=measure + unit)
        axes.legend()
        return figure
    errors = np.full((gammas.size, Cs.size), np.nan)
    for model in models:
        place = np.searchsorted(gammas, model["gamma"]), np.searchsorted(Cs, model["C"])
        errors[place] = factor * model[key]
    # a few models that are much worse than all others would take the colours for themselves
    low, high = np.nanmin(errors), np.nanmax(errors)
    if key == "error":
        high = np.nanquantile(errors, SHOWN)
    else:
        low = np.nanquantile(errors, 1 - SHOWN)
    colours = "cividis_r" if key == "error" else "cividis"
    image = axes.imshow(errors, origin="lower", aspect="auto", cmap=colours, vmin=low, vmax=high)
    if errors.size <= MOST_WORDS:
        middle = (low + high) / 2
        for (g, c), error in np.ndenumerate(errors):
            shade = "white" if (error > middle) == (key == "error") else "black"
            axes.text(c, g, f"{error:.3g}", ha="center", va="center", color=shade, fontsize=6)
    place = np.searchsorted(Cs, chosen["C"]), np.searchsorted(gammas, chosen["gamma"])
    axes.plot(*place, "s", markersize=20, fillstyle="none", color="tab:red", label="chosen")
    axes.set_xticks(range(Cs.size), [f"{C:.4g}" for C in Cs], rotation=45)
    axes.set_yticks(range(gammas.size), [f"{gamma:.3g}" for gamma in gammas])
    axes.set(xlabel="C", ylabel="gamma")
    figure.legend(loc="outside upper right", frameon=False)
    figure.colorbar(image, extend="max" if key == "error" else "min", label=measure + unit)
    return figure


def histogram(rows, of_two):
    """The margins of left-out rows.

    Parameters
    ----------
    rows : LeftOutRows
    of_two : bool
        Whether there are two classes, so that support vectors have margins up to about 1.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    low, high = min(rows.margins.min(), 0.0), max(rows.margins.max(), 0.0)
    width = (high - low or 1.0) / BINS
    # 0 is an edge
    edges = width * np.arange(np.floor(low / width), np.floor(high / width) + 2)
    parts = [rows.margins[~rows.wrong], rows.margins[rows.wrong]]
    labels = [f"{name} ({part.size})" for name, part in zip(("right", "misclassified"), parts, strict=True)]
    *_, bars = axes.hist(parts, edges, stacked=True, color=["0.75", "tab:red"], label=labels)
    for bar in bars[1]:
        bar.set(hatch="////", edgecolor="white", linewidth=0)
    axes.axvline(0, color="0.2", linewidth=1)
    if of_two:
        axes.axvline(1, color="0.2", linewidth=1, linestyle=":", label="margin of the SVM")
    axes.set(xlabel=f"{rows.method} margin of a row", ylabel="rows")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure


def draw(figure, file, form):
    """Write a figure without a date, so that the same models give the same bytes."""
    from matplotlib import rc_context

    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
    with rc_context(SETTINGS):
        figure.savefig(file, format=form, metadata=metadata, dpi=200)


def plot(figure, path):
    """Write a figure to a file, whose end says of which kind."""
    with replacing(Path(path)) as file:
        draw(figure, file, Path(path).suffix.lower()[1:])


def as_svg(figure, name):
    """A figure as an element of a page, whose ids begin with a name of its own."""
    file = io.BytesIO()
    draw(figure, file, "svg")
    text = file.getvalue().decode()
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text[text.index("<svg") :])
