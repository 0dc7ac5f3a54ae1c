"""Formulas as MathML, which browsers show by themselves: without a script or a network, and in print."""

from docutils.nodes import SkipNode
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError


def inline(writer, node):
    writer.body.append(_mathml(node, "inline"))
    raise SkipNode


def block(writer, node):
    writer.body.append(f'<div class="formula">{_mathml(node, "block")}</div>')
    raise SkipNode


def _mathml(node, display):
    formula = node.astext()
    try:
        shown = convert(formula, display=display)
    except Exception as error:  # the converter has no one kind of error
        raise ExtensionError(f"the formula {formula!r} cannot be shown: {error}") from error
    # the converter leaves a command that it does not know as it is, and readers would see it
    if "\\" in shown:
        raise ExtensionError(f"the formula {formula!r} cannot be shown: a command is left in it")
    return shown


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
