"""The options --plot and --report: a figure, and one self-contained page of HTML about a model."""

import io
import platform
import re
import shlex
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from svmselect.atomic import replacing
from svmselect.cli.data import file_in_words
from svmselect.cli.encoding import name_of
from svmselect.cli.output import percent, text
from svmselect.errors import zero_within
from svmselect.sklearn import SearchDisplay

__all__ = [
    "as_svg",
    "check_plotting",
    "class_sections",
    "histogram",
    "one_class_sections",
    "plot",
    "rejection_rates",
    "surface",
    "target_sections",
    "write_page",
]

ROUND_OFF = 1e-9  # of a left-out prediction, relative to the range of the targets
MOST_ROWS = 200
MARGIN_OF_TWO = (
    "<p>The margin of a row is its decision value less the threshold, by a classifier that was trained "
    "without it, with the sign that makes it positive where the row is right.</p>"
)
MARGIN_OF_MORE = (
    "<p>The margin of a row is the score of its class less the largest of the other classes, by a classifier "
    "that was trained without it. A score is the number of votes, and less than half a vote for the decision "
    "values.</p>"
)
PACKAGES = ("svmselect", "numpy", "scipy", "scikit-learn")
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; border-bottom: 1px solid #8886; }
th { vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; }
summary { cursor: pointer; }
figure { margin: 1rem 0; }
svg { width: 100%; height: auto; background: white; }
pre { overflow-x: auto; padding: .5rem; background: #8882; }
"""
FORMATS = (".pdf", ".svg", ".png")
SETTINGS = {"svg.hashsalt": "svmselect", "pdf.fonttype": 42, "font.size": 8}


def write_page(arguments, facts, lines, numbers, sections, search=None):
    """Write the page of --report.

    `facts` are those of `load`, `lines` sentences on the model and how it was chosen, `numbers` names and
    values of results, and `sections` HTML on the rows. `search` is a tuple: the figure of all models, these
    in the order of their errors, the name of their measure for people, and its key in each model.
    """
    # the file and the results
    parts = [
        f"<h1>{escape(Path(arguments.file).name)}</h1>",
        f"<p>{escape(file_in_words(facts))}.</p>",
        *(f"<p>{escape(line[0].upper() + line[1:])}.</p>" for line in lines),
        _table("What was found", ("quantity", "value"), numbers),
    ]
    if facts["doubts"]:
        parts += [
            "<h2>Remarks</h2><ul>",
            *(f"<li>{escape(doubt)}</li>" for doubt in facts["doubts"]),
            "</ul>",
        ]
    # all models of a search
    if search is not None:
        figure, models, measure, key = search
        alternative = f"The {measure} of {len(models)} models; the table below has the numbers."
        names = [name for name in models[0] if name != key]
        shown = percent if key in ("error", "loo_rejection_rate") else float
        rows = [(*(m[name] for name in names), shown(m[key])) for m in models[:MOST_ROWS]]
        parts += ["<h2>All models</h2>", _drawn(figure, "surface", alternative)]
        parts += ["<details><summary>The same as a table</summary>"]
        parts += [_table(f"Models by {measure}", (*names, measure), rows), "</details>"]
    parts += sections
    # the command and the versions
    command = shlex.join(["svmselect", *arguments.words])
    versions = [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]
    parts += ["<h2>How this was made</h2>", f"<pre><code>{escape(command)}</code></pre>"]
    parts += [_table("Versions", ("what", "version"), versions)]
    title = f"svmselect {arguments.command}: {Path(arguments.file).name}"
    page = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n<main>\n" + "\n".join(parts) + "\n</main>\n</html>\n"
    )
    with replacing(Path(arguments.report)) as file:
        file.write(page.encode())


def class_sections(left_out, model, data):
    """Return margins, misclassified rows and support vectors of an SVC as HTML, from its LeftOutRows."""
    alternative = f"Rows by their {left_out.method} margin; {left_out.wrong.sum()} are misclassified."
    return [
        f"<h2>{left_out.method.capitalize()} margins</h2>",
        MARGIN_OF_TWO if model.classes_.size == 2 else MARGIN_OF_MORE,
        _drawn(histogram(left_out), "margins", alternative),
        "<h2>Misclassified rows</h2>",
        _misclassified(left_out, data),
        "<h2>Support vectors</h2>",
        _support_vectors(model, data),
    ]


def target_sections(predicted, method, model, data):
    """Return residuals, the largest of them and support vectors of an SVR as HTML.

    `predicted` has the predictions of the models without each row, by the method of this name.
    """
    z = data.labels
    size = np.abs(z - predicted)
    worst = np.argsort(-size, kind="stable")[:MOST_ROWS]
    rows = [
        (int(data.numbers[n]), float(z[n]), float(predicted[n]), float(z[n] - predicted[n])) for n in worst
    ]
    # left-out residuals of copies are epsilon, but for round-off
    edge = ROUND_OFF * max(float(np.ptp(z)), model.epsilon)
    inside = int(np.count_nonzero(zero_within(size - model.epsilon, edge) <= 0))
    support = ", ".join(map(str, data.numbers[model.support_[:MOST_ROWS]]))
    more = ", ..." if model.support_.size > MOST_ROWS else ""
    alternative = f"Residuals beside {method} predictions; {inside} of {z.size} are at most epsilon."
    return [
        f"<h2>{method.capitalize()} residuals</h2>",
        "<p>The residual of a row is its number less the prediction of a model that was trained without it. "
        f"{inside} of {z.size} are at most epsilon, the grey band.</p>",
        _drawn(_residuals(predicted, z, model.epsilon, method), "residuals", alternative),
        "<h2>Largest residuals</h2>",
        _table("Rows", ("row of data", "number", "prediction", "residual"), rows),
        f"<h2>Support vectors</h2><p>{model.support_.size} rows: {support}{more}</p>",
    ]


def one_class_sections(values, model, data):
    """Return left-out decision values, rejected rows and support vectors of a one-class model as HTML."""
    rejected = np.flatnonzero(values < 0)
    rejected = rejected[np.argsort(values[rejected], kind="stable")]
    header, rows = ["row of data", "decision value"], []
    for n in rejected[:MOST_ROWS]:
        rows.append([int(data.numbers[n]), float(values[n])])
        if data.labels is not None:
            rows[-1].append(data.labels[n])
    if data.labels is not None:
        header.append("label")
    support = ", ".join(map(str, data.numbers[model.support_[:MOST_ROWS]]))
    more = ", ..." if model.support_.size > MOST_ROWS else ""
    sentence = f"{rejected.size} of {values.size} rows are rejected by the model that is trained without them"
    return [
        "<h2>Leave-one-out decision values</h2>",
        "<p>The decision value of a row is by the model that was trained without it; below 0 the row is "
        "rejected.</p>",
        _drawn(
            _decision_values(values), "values", f"Rows by their decision values; {rejected.size} below 0."
        ),
        "<h2>Rejected rows</h2>",
        f"<p>{sentence}{_more(rejected.size)}.</p>" + (_table("Rows", header, rows) if rows else ""),
        f"<h2>Support vectors</h2><p>{model.support_.size} rows: {support}{more}</p>",
    ]


def _drawn(figure, name, alternative):
    """Return a figure as HTML, with a text for those who do not see it."""
    svg = as_svg(figure, name).replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}"', 1)
    return f"<figure>{svg}</figure>"


def _misclassified(left_out, data):
    """Return the rows that the classifier without them gets wrong, the worst first, as HTML."""
    wrong = np.flatnonzero(left_out.wrong)
    wrong = wrong[np.argsort(left_out.margins[wrong], kind="stable")]
    rows = [
        (
            int(data.numbers[n]),
            name_of(data.labels[n]),
            name_of(left_out.predicted[n]),
            float(left_out.margins[n]),
        )
        for n in wrong[:MOST_ROWS]
    ]
    share = f"{wrong.size} of {data.labels.size} rows are misclassified by the classifier that is trained "
    share += f"without {left_out.without}{_more(wrong.size)}."
    header = ("row of data", "label", "taken for", "margin")
    return f"<p>{share}</p>" + (_table("Rows", header, rows) if rows else "")


def _support_vectors(model, data):
    """Return a table of the support vectors of each class: their number and their rows."""
    rows = []
    ends = np.cumsum(model.n_support_)
    for label, end, n in zip(model.classes_, ends, model.n_support_, strict=True):
        rows_of_class = data.numbers[model.support_[end - n : end]]
        listed = ", ".join(map(str, rows_of_class[:MOST_ROWS]))
        rows.append((name_of(label), int(n), listed + (", ..." if n > MOST_ROWS else "")))
    return _table("By class", ("class", "number", "rows of data"), rows)


def _more(n):
    return f"; the first {MOST_ROWS} follow" if n > MOST_ROWS else ""


def _table(caption, header, rows):
    """Return a table of at least one row as HTML; columns of numbers are right-aligned."""

    def is_number(value):
        return isinstance(value, int | float) or re.fullmatch(r"[0-9.]+ %", value) is not None

    kinds = [' class="number"' if all(map(is_number, column)) else "" for column in zip(*rows, strict=True)]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, header, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{k}>{escape(text(v))}</td>' for k, v in zip(kinds, row, strict=True))}</tr>\n"
        for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption>\n<tr>{head}</tr>\n{body}</table>"


def check_plotting(plot, report):
    """Raise a ValueError, before anything is trained, unless --plot and --report can be drawn."""
    if plot and Path(plot).suffix.lower() not in FORMATS:
        raise ValueError(f"--plot takes a file that ends in {', '.join(FORMATS)}, got {plot!r}")
    if plot or report:
        try:
            import matplotlib.figure  # noqa: F401
        except ImportError:
            raise ValueError("--plot and --report need matplotlib: install it, or leave them out") from None


def surface(search):
    """Draw the scores of a fitted search: a surface over C and gamma, or a curve along one of them."""
    figure = _new_figure(4)
    return SearchDisplay.from_search(search, ax=figure.subplots()).figure_


def histogram(rows):
    """Draw the margins of LeftOutRows."""
    label = f"{rows.method} margin of a row"
    display = SearchDisplay("margins", label, values=rows.margins, wrong=rows.wrong)
    return display.plot(_new_figure(3).subplots()).figure_


def _residuals(predicted, z, epsilon, method):
    """Draw residuals against predictions, with the band of width epsilon around 0."""
    figure = _new_figure(3)
    ax = figure.subplots()
    ax.axhspan(-epsilon, epsilon, color="0.9")
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.plot(predicted, z - predicted, "o", markersize=3, alpha=0.6)
    ax.set_xlabel(f"{method} prediction")
    ax.set_ylabel("residual")
    return figure


def _decision_values(values):
    """Draw a histogram of left-out decision values; those below 0 are of rejected rows."""
    display = SearchDisplay("margins", "leave-one-out decision value of a row", values=values)
    ax = display.plot(_new_figure(3).subplots()).ax_
    rejected = np.count_nonzero(values < 0)
    names = [f"accepted ({values.size - rejected})", f"rejected ({rejected})"]
    for entry, name in zip(ax.get_legend().get_texts(), names, strict=True):
        entry.set_text(name)
    return display.figure_


def rejection_rates(search):
    """Draw the left-out rejection rates of a search by consistency over gamma, or over nu without gamma.

    Each nu has a curve, and filled markers where a model is consistent.
    """
    results, models = search.cv_results_, search.cv_results_["params"]
    figure = _new_figure(4)
    ax = figure.subplots()
    x_name = "gamma" if "gamma" in search.param_grid else "nu"
    x = np.array([model[x_name] for model in models])
    curve = np.array([model["nu"] if x_name == "gamma" else 0.0 for model in models])
    rates, consistent = 100 * results["loo_rejection_rate"], results["consistent"]
    for number, nu in enumerate(np.unique(curve)):
        part = np.flatnonzero(curve == nu)
        part = part[np.argsort(x[part])]
        name = f"nu = {nu:.3g}" if x_name == "gamma" else None
        (line,) = ax.plot(x[part], rates[part], "os^vD"[number % 5] + "-", fillstyle="none", label=name)
        filled = part[consistent[part]]
        ax.plot(x[filled], rates[filled], line.get_marker(), color=line.get_color())
    best = results["rank_test_score"].argmin()
    ax.plot(x[best], rates[best], "*", markersize=14, color="tab:red", label="chosen")
    ax.set(xscale="log", xlabel=x_name, ylabel="left-out rows that are rejected (%)")
    ax.legend(frameon=False, title="filled: consistent")
    return figure


def _new_figure(height):
    """Return a figure of this height in inches that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(6, height), layout="constrained")


def _draw(figure, file, form):
    """Write a figure without a date, so that the same models give the same bytes."""
    from matplotlib import rc_context

    metadata = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(form)
    with rc_context(SETTINGS):
        figure.savefig(file, format=form, metadata=metadata, dpi=200)


def plot(figure, path):
    """Write a figure to a file; the end of its name says which kind of file."""
    with replacing(Path(path)) as file:
        _draw(figure, file, Path(path).suffix.lower()[1:])


def as_svg(figure, name):
    """Return a figure as an element of a page, whose ids begin with the name of the figure."""
    file = io.BytesIO()
    _draw(figure, file, "svg")
    text = file.getvalue().decode()
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", text[text.index("<svg") :])
