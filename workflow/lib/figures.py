"""Style and saving of figures.

Matplotlib is imported by the functions that draw: the Snakefile imports the exhibits, and draws nothing.
"""

from pathlib import Path

import numpy as np
from svmselect.atomic import replacing

from lib.tables import by_number

# Colours of Okabe and Ito's palette, which stay distinct with the common forms of colour blindness.
BLUE, VERMILLION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#595959"
ORANGE, PURPLE, SKY = "#E69F00", "#CC79A7", "#56B4E9"
# By their names, for what declares its colour without drawing.
COLORS = {
    "blue": BLUE,
    "vermillion": VERMILLION,
    "green": GREEN,
    "grey": GREY,
    "orange": ORANGE,
    "purple": PURPLE,
    "sky": SKY,
}

# Matplotlib's markers of one character, which are known before it is imported.
MARKERS = ".,ov^<>12348spP*hH+xXDd|_"

# What the paper prints: values are broad light lines or large hollow marks, ends of its axes dotted lines.
# No method of ours has this grey.
PALE = "#b0b0b0"
PAPER_VALUE = {"color": PALE, "linewidth": 4, "linestyle": "-"}
PAPER_AXIS = {"color": PALE, "linewidth": 1.2, "linestyle": ":"}

# to the inch, in which both formats measure
POINTS = 72

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "lines.linewidth": 1.5,
    "lines.markersize": 5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "svmselect",
    "savefig.dpi": 150,
}


# a figure designed for more inches than this takes two columns of a journal
ONE_COLUMN = 5
LEAST_TYPE = 0.75  # no type is made smaller than by this factor
_form = {"width": None, "font": None}


def use_form(width=None, font=None):
    """Draw all figures that follow in a form, see ``figures`` in ``config/README.md``.

    Raises
    ------
    ValueError
        For a font that is not installed.
    """
    from matplotlib.font_manager import get_font_names

    if font is not None and font not in get_font_names():
        raise ValueError(
            f"figures.font is {font!r}, which is not installed; STIXGeneral comes with Matplotlib"
        )
    _form.update(width=width, font=font)


def panels(rows, columns, width, height, **options):
    """Return a figure and its 2-d array of axes in the project's style, or in the form of `use_form`; sizes
    in inches."""
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    style = dict(STYLE)
    if _form["font"] is not None:
        style |= {"font.family": _form["font"], "mathtext.fontset": "stix"}
    if _form["width"] is not None:
        scale = _form["width"][width > ONE_COLUMN] / width
        width, height = width * scale, height * max(scale, LEAST_TYPE)
        for name in ("font.size", "axes.titlesize"):
            style[name] *= min(1, max(scale, LEAST_TYPE))
    rcParams.update({"mathtext.fontset": "dejavusans", **style})
    fig = Figure(figsize=(width, height), layout="constrained")
    return fig, fig.subplots(rows, columns, squeeze=False, **options)


def curve(rows):
    """Return settings, values and spreads of tidy rows as arrays, from the least setting on."""
    return by_number(rows)[["setting", "value", "spread"]].to_numpy(float).T


def mark(color, marker, size=6):
    """Return Matplotlib's style of a mark, from the name of its colour, its marker and its size in points; a
    `ValueError` names a colour or marker that does not exist."""
    for kind, name, known in (("colour", color, COLORS), ("marker", marker, MARKERS)):
        if name not in known:
            raise ValueError(f"There is no {kind} {name!r} in lib/figures.py; it has: {', '.join(known)}.")
    return {"color": COLORS[color], "marker": marker, "markersize": size}


def across(ax, values, style):
    """Draw a line across a panel, behind its curves, at each value that a paper prints."""
    for value in values:
        ax.axhline(value, zorder=0, **style)


def plain_numbers(axis, subs=(1, 2, 5)):
    """Label a logarithmic axis with plain numbers, at some multiples of the powers of 10."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=subs))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def legend(fig, curves, columns, place="outside upper center"):
    """Draw a legend beside all panels; `curves` are pairs of label and style."""
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], **style, label=label) for label, style in curves]
    fig.legend(handles=handles, loc=place, ncols=columns)


def save(fig, pdf, svg, title, description):
    """Save a figure, with its title and description, as PDF and SVG whose bytes depend on nothing else."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    # Each savefig would lay the figure out, which costs more than to draw it.
    FigureCanvasPdf(fig)
    fig.set_dpi(POINTS)
    fig.get_layout_engine().execute(fig)
    fig.set_layout_engine(None)
    # the names of clips have every digit of their places, of which processors round the last one differently
    for axes in fig.axes:
        axes.set_position(np.round(axes.get_position().bounds, 6))
    metadata = {
        "pdf": {"Title": title, "Subject": description, "CreationDate": None},
        "svg": {"Title": title, "Description": description, "Date": None},
    }
    for suffix, path in (("pdf", pdf), ("svg", svg)):
        with replacing(Path(path)) as file:
            fig.savefig(file, format=suffix, metadata=metadata[suffix])
