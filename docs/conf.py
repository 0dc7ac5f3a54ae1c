"""Sphinx configuration of the documentation: "make docs" builds it without warnings."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

import sphinx.ext.autosummary

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

# pages of examples that have gone or have another name
for page in Path(__file__).parent.glob("auto_examples/plot_*"):
    if not (Path(__file__).parent / "examples" / f"{page.name.split('.')[0]}.py").exists():
        page.unlink()

project = "svmselect"
author = "The svmselect developers"
copyright = "the svmselect developers"
version = release = version_of("svmselect")

extensions = [
    "command_help",
    "links",
    "mathml",
    "myst_parser",
    "numpydoc",
    "results",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["examples"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autosummary_generate = True
# the first sentence of a function does not end there
sphinx.ext.autosummary.WELL_KNOWN_ABBREVIATIONS += ("eq.", "eqs.")
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    "reference_url": {"svmselect": None},
    "doc_module": ("svmselect",),
    "backreferences_dir": None,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
}

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_title = f"svmselect {version}"
html_static_path = ["_static"]
html_css_files = ["svmselect.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_prev_next": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
# pages without others beside them need no list of these; those of the papers have wide tables
PROJECT = Path(__file__).parents[1]
alone = [page.stem for page in PROJECT.glob("docs/*.md")]
alone += [f"reproduction/{paper.parent.name}" for paper in PROJECT.glob("workflow/papers/*/paper.yaml")]
html_sidebars = {"**": ["sidebar-nav-bs"], **{page: [] for page in alone}}


def without_aliases(app, what, name, obj, skip, options):
    """Leave out the fields of named tuples as members: their class describes them."""
    return True if str(getattr(obj, "__doc__", None)).startswith("Alias for field number") else None


def setup(app):
    app.connect("autodoc-skip-member", without_aliases)
