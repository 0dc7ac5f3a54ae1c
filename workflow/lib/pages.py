"""HTML pages: each one file that needs nothing else, no network, and no script to be read."""

import base64
from pathlib import Path

from docutils.core import publish_parts
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lib.shown import about_in_words, cause_in_words, number_in_words

TEMPLATES = Path(__file__).resolve().parents[1] / "report"


def write_page(path, template, **values):
    """Write a page made from a template of workflow/report."""
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"cause": cause_in_words, "words": number_in_words, "about": about_in_words}
    Path(path).write_text(environment.get_template(template).render(values))


def picture(path):
    """Return an SVG file as the address of an image."""
    return "data:image/svg+xml;base64," + base64.b64encode(Path(path).read_bytes()).decode()


def prose(text):
    """Return a caption or description (reStructuredText) as HTML; invalid text is docutils'
    `SystemMessage`."""
    settings = {"halt_level": 2, "report_level": 2, "initial_header_level": 4}
    return publish_parts(text, writer="html5", settings_overrides=settings)["body"]
