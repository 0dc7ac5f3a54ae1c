"""Every link of the finished site leads somewhere: to a file of the site, and to a place in it of this name.
And no page loads anything from another site.

Sphinx checks the links that it makes. This looks at the pages themselves, and so at those in raw HTML, too. A
link that leads nowhere ends "make docs".
"""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.errors import ExtensionError


class _Page(HTMLParser):
    """The links of a page and the names of its places."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links += [found[key] for key in ("href", "src") if found.get(key)]
        if found.get("src") or (tag == "link" and found.get("rel") in ("stylesheet", "preload")):
            self.loaded.append(found.get("src") or found["href"])


def broken(folder):
    """Pairs of page and link, of all pages below a folder: links that lead nowhere, and what is loaded from
    another site. Links to other sites are not tried."""
    root = Path(folder).resolve()
    files = [path for path in root.rglob("*.html") if not path.is_relative_to(root / "_static")]
    pages = {path: _Page(path.read_text()) for path in files}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if parts.netloc and link in page.loaded:
                    yield path, link
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            named = parts.fragment in ("", "top") or target not in pages
            if not target.exists() or not (named or unquote(parts.fragment) in pages[target].names):
                yield path, link


def _check(app, exception):
    if exception is None and app.builder.format == "html":
        found = [f"{path.relative_to(app.outdir)}: {link}" for path, link in broken(app.outdir)]
        if found:
            raise ExtensionError(
                "\n".join(["links of the site lead nowhere, or load from another site:", *found])
            )


def setup(app):
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True}
