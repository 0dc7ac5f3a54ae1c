"""The option --report: a figure, or one self-contained page of HTML about a model."""

import io
import platform
import re
import shlex
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from svmselect.atomic import replacing
from svmselect.cli.arguments import FIGURES
from svmselect.cli.output import Share, measures, name_of, text
from svmselect.errors import zero_within
from svmselect.sklearn import SearchDisplay

__all__ = ["check_report", "plot", "rejection_rates", "sections", "surface", "write_page"]

ROUND_OFF = 1e-9  # of a left-out prediction, relative to the range of the targets
MOST_ROWS = 200
ALPHA = 0.1  # of the intervals on a page
PACKAGES = ("svmselect", "numpy", "scipy", "scikit-learn")
PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
h1, p, li {{ overflow-wrap: anywhere; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }}
td {{ border-top: 1px solid #8886; }}
caption {{ text-align: left; font-weight: 600; }}
summary {{ cursor: pointer; }}
figure {{ margin: 1rem 0; }}
svg {{ width: 100%; height: auto; background: white; }}
pre {{ overflow-x: auto; padding: .5rem; background: #8882; }}
</style>
<main>
{body}
</main>
</html>
"""
SETTINGS = {"svg.hashsalt": "svmselect", "pdf.fonttype": 42, "font.size": 8}


def check_report(arguments):
    """Raise a ValueError, before anything is read, for a report that cannot be written."""
    endings = (".html", ".csv", *FIGURES) if arguments.command == "select" else (".html",)
    for path in getattr(arguments, "report", []):
        if not path.lower().endswith(endings):
            raise ValueError(f"--report {path}: the name must end in {', '.join(endings)}")
        if not path.lower().endswith(".csv"):
            try:
                import matplotlib.figure  # noqa: F401
            except ImportError:
                raise ValueError("--report needs matplotlib: install it, or leave it out") from None


def write_page(path, arguments, heading, sentences, result, doubts, parts, search=None):
    """Write a page.

    `heading` and `sentences` are on the file and the model, `result` the facts, `doubts` remarks on the
    file and `parts` HTML on the rows. `search` is a pair: the figure of all models, and a DataFrame of
    these in the order of their ranks.
    """
    # 1) the file and the results
    name = Path(arguments.file).name
    body = [f"<h1>{escape(name)}</h1>", f"<p>{escape(heading.partition(': ')[2])}.</p>"]
    body += [f"<p>{escape(sentence[0].upper() + sentence[1:])}.</p>" for sentence in sentences]
    body.append(_table("Results", pd.DataFrame(measures(result), columns=["quantity", "value"])))
    if doubts:
        items = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
        body.append(f"<details open><summary>Remarks on the file</summary><ul>{items}</ul></details>")
    # 2) all models of a search
    if search is not None:
        figure, models = search
        caption = f"Models by {models.columns[-1]}{_more(len(models))}"
        body += [
            "<h2>All models</h2>",
            _drawn(figure, "surface", f"{caption}: the table below has the numbers."),
        ]
        body += [f"<details><summary>The same as a table</summary>{_table(caption, models)}</details>"]
    # 3) the rows, the command and the versions
    command = escape(shlex.join(["svmselect", *arguments.words]))
    versions = [("Python", platform.python_version()), *((package, version(package)) for package in PACKAGES)]
    body += [*parts, f"<h2>How this was made</h2><pre><code>{command}</code></pre>"]
    body.append(_table("Versions", pd.DataFrame(versions, columns=["what", "version"])))
    title = escape(f"svmselect {arguments.command}: {name}")
    with replacing(Path(path)) as file:
        file.write(PAGE.format(title=title, body="\n".join(body)).encode())


def sections(task, predicted, method, model, data):
    """Return what the rows look like as HTML, from their predictions by models without them."""
    makers = {"classification": _class_parts, "regression": _number_parts, "one-class": _one_class_parts}
    groups = {"all": model.support_}
    if task.name == "classification":
        parts = np.split(model.support_, np.cumsum(model.n_support_)[:-1])
        groups = dict(zip(map(name_of, model.classes_.tolist()), parts, strict=True))
    support = pd.DataFrame(
        {
            "class": [*groups],
            "number": [rows.size for rows in groups.values()],
            f"rows of data{_more(model.support_.size)}": [
                ", ".join(map(str, data.numbers[rows[:MOST_ROWS]])) for rows in groups.values()
            ],
        }
    )
    about_rows = makers[task.name](predicted, method, model, data)
    return [*about_rows, "<h2>Support vectors</h2>", _table("By class", support)]


def _class_parts(predicted, method, model, data):
    """Return the confusion matrix, the margins and the misclassified rows."""
    wrong = predicted != data.y
    n, m = int(wrong.sum()), wrong.size
    deviation = np.sqrt(n / m * (1 - n / m) / m)
    names = [*map(name_of, model.classes_.tolist())]
    pairs = pd.crosstab(data.y, predicted).reindex(index=model.classes_, columns=model.classes_, fill_value=0)
    matrix = pd.DataFrame(pairs.to_numpy(), columns=names)
    matrix.insert(0, "class", names, allow_duplicates=True)
    parts = [
        f"<h2>{method.capitalize()} classes</h2>",
        f"<p>{n} of {m} rows are misclassified by the model without them: {text(Share(n / m))}, with a "
        f"standard error of {text(Share(deviation))}.</p>",
        _table("Rows of each class, by the predicted class", matrix),
    ]
    rows = pd.DataFrame({"row of data": data.numbers, "label": data.y, "taken for": predicted})
    if method == "leave-one-out":
        rows["margin"] = model.left_out_margins()
        kind = "votes for its class less the most for another"
        if len(names) == 2:
            kind = "decision value, positive where the row is right"
        axes = _new_figure(3).subplots()
        figure = SearchDisplay(
            "margins", "leave-one-out margin of a row", values=rows["margin"].to_numpy(), wrong=wrong
        )
        parts.append(f"<p>The margin of a row is its {kind}, by the model without it.</p>")
        parts.append(
            _drawn(figure.plot(axes).figure_, "margins", f"Rows by their margin; {n} are misclassified.")
        )
        rows = rows.sort_values("margin", kind="stable")
    if n:
        parts.append(_table(f"Misclassified rows{_more(n)}", rows[rows["label"] != rows["taken for"]]))
    return parts


def _number_parts(predicted, method, model, data):
    """Return the residuals, the jackknife+ interval, and the largest residuals."""
    residuals, m = data.y - predicted, data.y.size
    size, epsilon = np.abs(residuals), model.epsilon_
    # left-out residuals of copies are epsilon, but for round-off
    edge = ROUND_OFF * max(float(np.ptp(data.y)), epsilon)
    n = np.count_nonzero(zero_within(size - epsilon, edge) <= 0)
    inside = f"{n} of {m} are at most epsilon, {epsilon:.3g}"
    axes = _new_figure(3).subplots()
    axes.axhspan(-epsilon, epsilon, color="0.85")
    axes.axhline(0, color="0.5", linewidth=0.8)
    axes.plot(predicted, residuals, "o", markersize=3, alpha=0.6)
    axes.set(xlabel=f"{method} prediction", ylabel="residual")
    parts = [
        f"<h2>{method.capitalize()} residuals</h2>",
        f"<p>A residual is a number less the prediction by the model without its row: mean absolute error "
        f"{size.mean():.6g}, with a standard error of {size.std() / np.sqrt(m):.3g}; {inside}.</p>",
    ]
    if method == "leave-one-out":
        width = np.median(np.diff(model.predict_interval(data.X, ALPHA), axis=1))
        parts.append(
            f"<p>Jackknife+ intervals for {1 - ALPHA:.0%} of new rows are {width:.6g} wide (the median).</p>"
        )
    rows = {"row of data": data.numbers, "number": data.y, "prediction": predicted, "residual": residuals}
    rows = pd.DataFrame(rows).iloc[np.argsort(-size, kind="stable")]
    figure = _drawn(axes.figure, "residuals", f"Residuals beside predictions; {inside}.")
    return [*parts, figure, _table(f"Largest residuals{_more(m)}", rows)]


def _one_class_parts(values, method, model, data):
    """Return the decision values and the rejected rows."""
    rejected = values < 0
    n, m = int(rejected.sum()), values.size
    display = SearchDisplay("margins", "leave-one-out decision value of a row", values=values)
    axes = display.plot(_new_figure(3).subplots()).ax_
    names = (f"accepted ({m - n})", f"rejected ({n})")
    for entry, name in zip(axes.get_legend().get_texts(), names, strict=True):
        entry.set_text(name)
    rows = pd.DataFrame({"row of data": data.numbers, "decision value": values})
    rows = rows if data.y is None else rows.assign(label=data.y)
    rows = rows[rejected].sort_values("decision value", kind="stable")
    return [
        "<h2>Leave-one-out decision values</h2>",
        f"<p>{n} of {m} rows are rejected by the model without them: their value is below 0.</p>",
        _drawn(display.figure_, "values", f"Rows by their decision values; {n} below 0."),
        *([_table(f"Rejected rows{_more(n)}", rows)] if n else []),
    ]


def _more(n):
    return f"; the first {MOST_ROWS} of {n}" if n > MOST_ROWS else ""


def _drawn(figure, name, alternative):
    """Return a figure as HTML, with a text for those who do not see it; its ids begin with its name."""
    file = io.BytesIO()
    _draw(figure, file, "svg")
    svg, label = file.getvalue().decode(), f'role="img" aria-label="{escape(alternative)}"'
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg[svg.index("<svg") :])
    return f"<figure>{svg.replace('<svg', f'<svg {label}', 1)}</figure>"


def _table(caption, frame):
    """Return the first rows of a DataFrame as HTML."""
    frame = frame[:MOST_ROWS].map(
        lambda value: text(value.item() if isinstance(value, np.generic) else value)
    )
    table = frame.to_html(index=False, border=0, justify="left")
    head, body = table.split("\n", 1)
    return f'<div class="wide">{head}<caption>{escape(caption)}</caption>\n{body}</div>'


def surface(search):
    """Draw the scores of a fitted search: a surface over C and gamma, or a curve along one of them."""
    return SearchDisplay.from_search(search, ax=_new_figure(4).subplots()).figure_


def rejection_rates(search):
    """Draw the left-out rejection rates of a search by consistency over gamma, or over nu without gamma.

    Each nu has a curve, and filled markers where a model is consistent.
    """
    results, models = search.cv_results_, pd.DataFrame(search.cv_results_["params"])
    axes, x = _new_figure(4).subplots(), "gamma" if "gamma" in models else "nu"
    models["rate"], models["consistent"] = 100 * results["loo_rejection_rate"], results["consistent"]
    for number, (nu, part) in enumerate(models.groupby("nu") if x == "gamma" else [(None, models)]):
        part, mark = part.sort_values(x), "os^vD"[number % 5]
        label = None if nu is None else f"nu = {nu:.3g}"
        (line,) = axes.plot(part[x], part["rate"], f"{mark}-", fillstyle="none", label=label)
        filled = part[part["consistent"]]
        axes.plot(filled[x], filled["rate"], mark, color=line.get_color())
    best = models.iloc[search.best_index_]
    axes.plot(best[x], best["rate"], "*", markersize=14, color="tab:red", label="chosen")
    axes.set(xscale="log", xlabel=x, ylabel="left-out rows that are rejected (%)")
    axes.legend(frameon=False, title="filled: consistent")
    return axes.figure


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
