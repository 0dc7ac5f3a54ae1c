"""The option --report: one page of HTML about a model and how it was chosen, which needs nothing else."""

from __future__ import annotations

import platform
import shlex
from html import escape
from importlib.metadata import version
from pathlib import Path

import numpy as np

from svmselect.cli.labels import name_of
from svmselect.cli.report import percent, text
from svmselect.cli.surface import as_svg, surface
from svmselect.data.atomic import replacing

__all__ = ["write_page"]

MOST_ROWS = 200
PACKAGES = ("svmselect", "numpy", "scipy", "scikit-learn")
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; border-bottom: 1px solid #8886; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; }
svg { max-width: 100%; height: auto; background: white; }
pre { overflow-x: auto; padding: .5rem; background: #8882; }
"""


def write_page(arguments, facts, line, numbers, model, data, search=None):
    """Write the page.

    Parameters
    ----------
    arguments : Namespace
        Of the command.
    facts, line : dict, str
        Of the file and of the model, as the command prints them.
    numbers : list of tuple of str
        What the command found: name and value.
    model : SVC
        With its leave-one-out predictions.
    data : Table
    search : tuple, optional
        As `surface` has them: models in the order of their errors, the number of the chosen one, what is
        drawn, and its name.
    """
    classes = ", ".join(f"{name} ({n})" for name, n in facts["classes"].items())
    parts = [
        f"<h1>{escape(Path(arguments.file).name)}</h1>",
        f"<p>{facts['rows']} rows, {facts['features']} features; classes {escape(classes)}; label: "
        f"{escape(facts['label'])}.</p>",
        f"<p>{escape(line)}.</p>",
        table("What was found", ("quantity", "value"), numbers),
    ]
    if facts["doubts"]:
        parts += [
            "<h2>Remarks</h2><ul>",
            *(f"<li>{escape(doubt)}</li>" for doubt in facts["doubts"]),
            "</ul>",
        ]
    if search is not None:
        models, best, measure, key = search
        alternative = f"The {measure} of {len(models)} models; the table has the numbers."
        figure = as_svg(surface(models, best, measure, key))
        figure = figure.replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}"', 1)
        names = [name for name in models[0] if name != key]
        shown = percent if key == "error" else float
        rows = [(*(m[name] for name in names), shown(m[key])) for m in models[:MOST_ROWS]]
        parts += ["<h2>All models</h2>", f"<figure>{figure}</figure>"]
        parts += [table(f"Models by {measure}", (*names, measure), rows)]
    parts += ["<h2>Misclassified rows</h2>", misclassified(model, data)]
    parts += ["<h2>Support vectors</h2>", support_vectors(model, data)]
    command = shlex.join(["svmselect", *arguments.words])
    versions = [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]
    parts += ["<h2>How this was made</h2>", f"<pre><code>{escape(command)}</code></pre>"]
    parts += [table("Versions", ("what", "version"), versions)]
    title = f"svmselect {arguments.command}: {Path(arguments.file).name}"
    page = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n<main>\n" + "\n".join(parts) + "\n</main>\n</html>\n"
    )
    with replacing(Path(arguments.report)) as file:
        file.write(page.encode())


def misclassified(model, data):
    """The rows that the classifier without them gets wrong."""
    wrong = np.flatnonzero(model.loo_predictions_ != data.labels)
    rows = [
        (int(data.numbers[n]), name_of(data.labels[n]), name_of(model.loo_predictions_[n]))
        for n in wrong[:MOST_ROWS]
    ]
    share = f"{wrong.size} of {data.labels.size} rows are misclassified by the classifier that is trained "
    share += f"without them{more(wrong.size)}."
    return f"<p>{share}</p>" + (table("Rows", ("row of data", "label", "taken for"), rows) if rows else "")


def support_vectors(model, data):
    """How many there are of each class, and which."""
    rows = []
    ends = np.cumsum(model.n_support_)
    for label, end, n in zip(model.classes_, ends, model.n_support_, strict=True):
        of_class = data.numbers[model.support_[end - n : end]]
        listed = ", ".join(map(str, of_class[:MOST_ROWS]))
        rows.append((name_of(label), int(n), listed + (", ..." if n > MOST_ROWS else "")))
    return table("By class", ("class", "number", "rows of data"), rows)


def more(n):
    return f"; the first {MOST_ROWS} follow" if n > MOST_ROWS else ""


def table(caption, header, rows):
    """A table; cells that are numbers are right-aligned."""

    def cell(value):
        kind = ' class="number"' if isinstance(value, int | float) else ""
        return f"<td{kind}>{escape(text(value))}</td>"

    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>\n" for row in rows)
    return f"<table><caption>{escape(caption)}</caption>\n<tr>{head}</tr>\n{body}</table>"
