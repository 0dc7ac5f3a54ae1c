"""Say what a run has made and where to look: made.py results/demo"""

import sys
from pathlib import Path


def said(results):
    """Sentences about a folder of results, with the paths of its pages."""
    tables, figures = (sum(1 for _ in results.glob(f"*/**/*{end}")) for end in (".tex", ".svg"))
    return [
        f"Made {tables} tables (CSV, Markdown, LaTeX) and {figures} figures (CSV, PDF, SVG) in {results}",
        *(f"{what}: {results / name}" for name, what in PAGES.items() if (results / name).exists()),
    ]


PAGES = {
    "report.html": 'Every table and figure on one page ("make open" shows it)',
    "scorecard.html": "Every published number beside ours",
}

if __name__ == "__main__":
    print("", *said(Path(sys.argv[1])), sep="\n")
