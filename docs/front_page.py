"""Draw the picture of the front page: the program of the README, and what it found.

Call it as ``python docs/front_page.py``; it writes ``docs/_static/front_page.svg``.
"""

import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from svmselect.sklearn import SearchDisplay

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/_static/front_page.svg"
STYLE = {"svg.fonttype": "path", "svg.hashsalt": "svmselect", "font.size": 9}


def program():
    """Return the first program of the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)[1]


def main():
    names = {}
    exec(program(), names)
    mpl.rcParams.update(STYLE)
    figure = Figure(figsize=(9.2, 3.8), layout="constrained")
    surface, margins = figure.subplots(1, 2)
    SearchDisplay.from_search(names["search"], ax=surface)
    SearchDisplay.from_search(names["search"], kind="margins", ax=margins)
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    main()
