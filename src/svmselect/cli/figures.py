"""The figures of the command line, by `SearchDisplay`, and how they get into files and pages."""

from __future__ import annotations

import io
import re
from pathlib import Path

from svmselect.atomic import replacing
from svmselect.sklearn import SearchDisplay

__all__ = ["as_svg", "check_plotting", "histogram", "plot", "surface"]

FORMATS = (".pdf", ".svg", ".png")
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


def surface(search):
    """Draw the scores of a search's models: a surface over C and gamma, or a curve along the one that varies.

    Parameters
    ----------
    search : LOOSearchCV or SeededCV

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure = _new_figure(4)
    return SearchDisplay.from_search(search, ax=figure.subplots()).figure_


def histogram(rows):
    """The margins of LeftOutRows, as a figure."""
    label = f"{rows.method} margin of a row"
    display = SearchDisplay("margins", label, values=rows.margins, wrong=rows.wrong)
    return display.plot(_new_figure(3).subplots()).figure_


def _new_figure(height):
    """A figure of so many inches that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6, height), layout="constrained")


def _draw(figure, file, form):
    """Write a figure without a date, so that the same models give the same bytes."""
    from matplotlib import rc_context

    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
    with rc_context(SETTINGS):
        figure.savefig(file, format=form, metadata=metadata, dpi=200)


def plot(figure, path):
    """Write a figure to a file, whose end says of which kind."""
    with replacing(Path(path)) as file:
        _draw(figure, file, Path(path).suffix.lower()[1:])


def as_svg(figure, name):
    """A figure as an element of a page, whose ids begin with a name of its own."""
    file = io.BytesIO()
    _draw(figure, file, "svg")
    text = file.getvalue().decode()
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text[text.index("<svg") :])
