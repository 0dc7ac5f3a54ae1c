"""The pages of results on the site: results/paper/README.md and those of the papers, but for their links."""

import re
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "results/paper"
LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?:)([^)#]+)\)")


def page(path):
    """Return the text of a page with links that work on the site: pictures are those of the results, pages
    are those of the site, and of other files the name stands alone."""

    def link(match):
        picture, text, target = match.groups()
        if picture:
            return f"![{text}](../../results/paper/{path.parent.relative_to(RESULTS) / target})"
        if target.endswith("/README.md"):
            return f"[{text}]({target.removesuffix('/README.md')}.md)"
        if target.endswith("causes.md"):
            return f"[{text}](causes.md)"
        if "docs/" in target and target.endswith(".md"):
            return f"[{text}](../{target.rpartition('docs/')[2]})"
        return text

    return LINK.sub(link, path.read_text())


def write_pages(app):
    """Write ``reproduction/index.md`` and ``reproduction/<paper>.md`` into the folder of the sources."""
    folder = Path(app.srcdir) / "reproduction"
    folder.mkdir(exist_ok=True)
    index = page(RESULTS / "README.md")
    papers = [name for name in dict.fromkeys(re.findall(r"\]\((\w+)\.md\)", index)) if name != "causes"]
    texts = {paper: page(RESULTS / paper / "README.md") for paper in papers}
    texts["causes"] = page(RESULTS / "causes.md")
    texts["index"] = "\n".join([index, "```{toctree}", ":hidden:", "", *papers, "causes", "```", ""])
    for name, text in texts.items():
        path = folder / f"{name}.md"
        # an unchanged page is not read again
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app):
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
