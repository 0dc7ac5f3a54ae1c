"""Figures in both themes: after every SVG of a page stands its picture for the dark theme, in ``dark``. On a
phone they have their own size and scroll, as their letters would be too small."""

import sys
from os.path import normpath
from pathlib import Path

from docutils import nodes

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "workflow"))


def add_dark(app, doctree):
    """Write the pictures of a page for the dark theme; the theme shows one of the two by their classes."""
    from lib.dark import dark

    folder, project = Path(app.env.doc2path(app.env.docname)).parent, app.srcdir.parent
    for image in list(doctree.findall(nodes.image)):
        path = Path(normpath(folder / image["uri"]))
        if path.suffix != ".svg":
            continue
        name = Path("dark") / path.relative_to(project)
        (app.srcdir / name).parent.mkdir(parents=True, exist_ok=True)
        (app.srcdir / name).write_text(dark(path.read_text()))
        other = image.deepcopy()
        # a path from the root of the sources
        other["uri"] = f"/{name.as_posix()}"
        image["classes"].append("only-light")
        other["classes"].append("only-dark")
        image.parent.insert(image.parent.index(image) + 1, other)
        if image.parent.parent is not None and len(image.parent) == 2:
            _let_scroll(image.parent)


def _let_scroll(paragraph):
    """Put a paragraph that is a figure into what scrolls, and what the keyboard reaches for that."""
    before = nodes.raw("", '<div class="picture" tabindex="0">', format="html")
    after = nodes.raw("", "</div>", format="html")
    paragraph.replace_self([before, paragraph, after])


def setup(app):
    # before Sphinx collects the images of a page
    app.connect("doctree-read", add_dark, priority=100)
    return {"parallel_read_safe": True}
