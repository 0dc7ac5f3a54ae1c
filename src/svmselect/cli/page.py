"""The option --report: a figure, or one self-contained page of HTML about a model."""

import io
import platform
import re
import shlex
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from svmselect.atomic import replacing
from svmselect.cli.arguments import FIGURES
from svmselect.cli.output import name_of, percent, text
from svmselect.errors import zero_within
from svmselect.sklearn import SearchDisplay

__all__ = ["check_report", "plot", "rejection_rates", "sections", "surface", "write_page"]

ROUND_OFF = 1e-9  # of a left-out prediction, relative to the range of the targets
MOST_ROWS = 200
ALPHA = 0.1  # of the intervals on a page
PACKAGES = ("svmselect", "numpy", "scipy", "scikit-learn")
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h1, p, li { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
td { border-top: 1px solid #8886; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.right { background: #3a75; }
.wrong { background: #d445; }
caption { text-align: left; font-weight: 600; }
summary { cursor: pointer; }
figure { margin: 1rem 0; }
svg { width: 100%; height: auto; background: white; }
pre { overflow-x: auto; padding: .5rem; background: #8882; }
"""
SETTINGS = {"svg.hashsalt": "svmselect", "pdf.fonttype": 42, "font.size": 8}


def check_report(arguments):
    """Raise a ValueError, before anything is read, for a report that cannot be written."""
    endings = (".html", ".csv", *FIGURES) if arguments.command == "select" else (".html",)
    paths = getattr(arguments, "report", [])
    for path in paths:
        if not path.lower().endswith(endings):
            raise ValueError(f"--report {path}: the name must end in {', '.join(endings)}")
    if any(not path.lower().endswith(".csv") for path in paths):
        try:
            import matplotlib.figure  # noqa: F401
        except ImportError:
            raise ValueError("--report needs matplotlib: install it, or leave it out") from None


def write_page(path, arguments, heading, sentences, numbers, doubts, parts, search=None):
    """Write a page.

    `heading` and `sentences` are on the file and the model, `numbers` rows of results, `doubts` remarks on
    the file and `parts` HTML on the rows. `search` is a tuple: the figure of all models, these in the order
    of their ranks, the name of their measure for people, and its key in each model.
    """
    # 1) the file and the results
    name = Path(arguments.file).name
    body = [
        f"<h1>{escape(name)}</h1>",
        f"<p>{escape(heading.partition(': ')[2])}.</p>",
        *(f"<p>{escape(sentence[0].upper() + sentence[1:])}.</p>" for sentence in sentences),
        _table("Results", ("quantity", "value", ""), numbers),
    ]
    if doubts:
        items = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
        body.append(
            f"<details open><summary>Remarks on the file ({len(doubts)})</summary><ul>{items}</ul></details>"
        )
    # 2) all models of a search
    if search is not None:
        figure, models, measure, key = search
        names = [name for name in models[0] if name != key]
        shown = percent if key in ("error", "loo_rejection_rate") else float
        rows = [(*(m[name] for name in names), shown(m[key])) for m in models[:MOST_ROWS]]
        alternative = f"The {measure} of {len(models)} models; the table below has the numbers."
        body += ["<h2>All models</h2>", _drawn(figure, "surface", alternative)]
        body += ["<details><summary>The same as a table</summary>"]
        body += [_table(f"Models by {measure}", (*names, measure), rows), "</details>"]
    # 3) the rows, the command and the versions
    command = escape(shlex.join(["svmselect", *arguments.words]))
    versions = [("Python", platform.python_version()), *((package, version(package)) for package in PACKAGES)]
    body += [*parts, f"<h2>How this was made</h2><pre><code>{command}</code></pre>"]
    body += [_table("Versions", ("what", "version"), versions)]
    page = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f"<title>{escape(f'svmselect {arguments.command}: {name}')}</title>\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n<main>\n" + "\n".join(body) + "\n</main>\n</html>\n"
    )
    with replacing(Path(path)) as file:
        file.write(page.encode())


def sections(task, predicted, method, model, data):
    """Return what the rows look like as HTML, from their predictions by models without them."""
    makers = {"classification": _class_parts, "regression": _number_parts, "one-class": _one_class_parts}
    groups = (
        zip(
            map(name_of, model.classes_.tolist()),
            np.split(model.support_, np.cumsum(model.n_support_)[:-1]),
            strict=True,
        )
        if task.name == "classification"
        else [("all", model.support_)]
    )
    rows = []
    for name, support in groups:
        listed = ", ".join(map(str, data.numbers[support[:MOST_ROWS]]))
        rows.append((name, int(support.size), listed + (", ..." if support.size > MOST_ROWS else "")))
    support = _table("By class", ("class", "number", "rows of data"), rows)
    return [*makers[task.name](predicted, method, model, data), "<h2>Support vectors</h2>", support]


def _class_parts(predicted, method, model, data):
    """Return the confusion matrix, the margins and the misclassified rows."""
    names, codes = [*map(name_of, model.classes_.tolist())], np.searchsorted(model.classes_, data.y)
    k = len(names)
    counts = np.zeros((k, k), dtype=int)
    np.add.at(counts, (codes, np.searchsorted(model.classes_, predicted)), 1)
    wrong, parts = np.flatnonzero(predicted != data.y), [f"<h2>{method.capitalize()} classes</h2>"]
    error = wrong.size / data.y.size
    deviation = np.sqrt(error * (1 - error) / data.y.size)
    parts.append(
        f"<p>{wrong.size} of {data.y.size} rows are misclassified by the model without them: "
        f"{percent(error)}, with a standard error of {percent(deviation)}.</p>"
    )
    if k <= 20:
        rows = [(name, *map(int, row)) for name, row in zip(names, counts, strict=True)]
        parts.append(
            _table("Rows of each class, by the predicted class", ("class", *names), rows, matrix=True)
        )
    header, columns = ["row of data", "label", "taken for"], [data.numbers, data.y, predicted]
    if method == "leave-one-out":
        margins = model.left_out_margins()
        kind = (
            "decision value, positive where the row is right"
            if k == 2
            else "votes for its class less the most for another"
        )
        figure = SearchDisplay(
            "margins", "leave-one-out margin of a row", values=margins, wrong=predicted != data.y
        )
        figure = figure.plot(_new_figure(3).subplots()).figure_
        parts += [f"<p>The margin of a row is its {kind}, by the model without it.</p>"]
        parts += [_drawn(figure, "margins", f"Rows by their margin; {wrong.size} are misclassified.")]
        wrong = wrong[np.argsort(margins[wrong], kind="stable")]
        header, columns = [*header, "margin"], [*columns, margins]
    rows = [tuple(_plain(column[n]) for column in columns) for n in wrong[:MOST_ROWS]]
    return [*parts, _table(f"Misclassified rows{_more(wrong.size)}", header, rows) if rows else ""]


def _number_parts(predicted, method, model, data):
    """Return the residuals, the jackknife+ interval, and the largest residuals."""
    residuals, m = data.y - predicted, data.y.size
    size = np.abs(residuals)
    deviation = size.std() / np.sqrt(m)
    # left-out residuals of copies are epsilon, but for round-off
    edge = ROUND_OFF * max(float(np.ptp(data.y)), model.epsilon_)
    inside = int(np.count_nonzero(zero_within(size - model.epsilon_, edge) <= 0))
    figure = _new_figure(3)
    ax = figure.subplots()
    ax.axhspan(-model.epsilon_, model.epsilon_, color="0.85")
    ax.axhline(0, color="0.5", linewidth=0.8)
    ax.plot(predicted, residuals, "o", markersize=3, alpha=0.6)
    ax.set(xlabel=f"{method} prediction", ylabel="residual")
    parts = [
        f"<h2>{method.capitalize()} residuals</h2><p>A residual is a number less the prediction by the model "
        f"without its row: mean absolute error {size.mean():.6g}, with a standard error of {deviation:.3g}; "
        f"{inside} of {m} are at most epsilon, {model.epsilon_:.3g}.</p>"
    ]
    if method == "leave-one-out":
        width = np.diff(model.predict_interval(data.rows, ALPHA), axis=1)
        if np.isfinite(width).all():
            parts.append(
                f"<p>Jackknife+ intervals for {1 - ALPHA:.0%} of new rows are {np.median(width):.6g} wide "
                "(the median).</p>"
            )
    worst = np.argsort(-size, kind="stable")[:MOST_ROWS]
    rows = [
        tuple(_plain(column[n]) for column in (data.numbers, data.y, predicted, residuals)) for n in worst
    ]
    parts.append(
        _drawn(figure, "residuals", f"Residuals beside predictions; {inside} of {m} are at most epsilon.")
    )
    return [
        *parts,
        _table(f"Largest residuals{_more(m)}", ("row of data", "number", "prediction", "residual"), rows),
    ]


def _one_class_parts(values, method, model, data):
    """Return the decision values and the rejected rows."""
    rejected = np.flatnonzero(values < 0)
    rejected = rejected[np.argsort(values[rejected], kind="stable")]
    display = SearchDisplay("margins", "leave-one-out decision value of a row", values=values)
    ax = display.plot(_new_figure(3).subplots()).ax_
    names = [f"accepted ({values.size - rejected.size})", f"rejected ({rejected.size})"]
    for entry, name in zip(ax.get_legend().get_texts(), names, strict=True):
        entry.set_text(name)
    header, columns = ["row of data", "decision value"], [data.numbers, values]
    if data.y is not None:
        header, columns = [*header, "label"], [*columns, data.y]
    rows = [tuple(_plain(column[n]) for column in columns) for n in rejected[:MOST_ROWS]]
    return [
        "<h2>Leave-one-out decision values</h2>",
        f"<p>{rejected.size} of {values.size} rows are rejected by the model without them: their value is "
        "below 0.</p>",
        _drawn(display.figure_, "values", f"Rows by their decision values; {rejected.size} below 0."),
        _table(f"Rejected rows{_more(rejected.size)}", header, rows) if rows else "",
    ]


def _plain(value):
    """Return a number of NumPy as one of Python, and a class as text."""
    value = value.item() if isinstance(value, np.generic) else value
    return name_of(value) if isinstance(value, str) else value


def _more(n):
    return f"; the first {MOST_ROWS} of {n}" if n > MOST_ROWS else ""


def _drawn(figure, name, alternative):
    """Return a figure as HTML, with a text for those who do not see it; its ids begin with its name."""
    file = io.BytesIO()
    _draw(figure, file, "svg")
    svg = file.getvalue().decode()
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg[svg.index("<svg") :])
    label = f'<svg role="img" aria-label="{escape(alternative)}"'
    return f"<figure>{svg.replace('<svg', label, 1)}</figure>"


def _table(caption, header, rows, matrix=False):
    """Return a table of at least one row as HTML; columns of numbers are right-aligned."""
    columns = [*zip(*rows, strict=True)]
    if not any(columns[-1]) and len(columns) == len(header) and header[-1] == "":
        header, columns = header[:-1], columns[:-1]
    rows = [*zip(*columns, strict=True)]

    def is_number(value):
        return isinstance(value, int | float) or re.fullmatch(r"[0-9.]+ %", str(value)) is not None

    kinds = ["number" if all(map(is_number, column)) else "" for column in columns]
    cells = [
        [
            f'<th scope="col" class="{k}">{escape(str(name))}</th>'
            for k, name in zip(kinds, header, strict=True)
        ]
    ]
    for n, row in enumerate(rows):
        marks = [" right" if j == n + 1 else " wrong" if row[j] else "" for j in range(len(row))]
        marks = ["", *marks[1:]] if matrix else [""] * len(row)
        parts = zip(kinds, marks, row, strict=True)
        cells.append([f'<td class="{kind}{mark}">{escape(text(value))}</td>' for kind, mark, value in parts])
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    return f'<div class="wide"><table><caption>{escape(caption)}</caption>\n{body}</table></div>'


def surface(search):
    """Draw the scores of a fitted search: a surface over C and gamma, or a curve along one of them."""
    return SearchDisplay.from_search(search, ax=_new_figure(4).subplots()).figure_


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


def plot(figure, path):
    """Write a figure to a file; the end of its name says which kind of file."""
    with replacing(Path(path)) as file:
        _draw(figure, file, Path(path).suffix.lower()[1:])


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
