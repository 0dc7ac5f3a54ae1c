"""Every number that a paper prints stands beside ours in a table of its page, or in a picture."""

import re
from collections import Counter

import numpy as np
import pytest
from checkouts import ROOT
from lib.exhibits import read_context
from lib.papers import load_papers
from lib.run import planned
from lib.shown import dataset_in_words
from lib.tables import read_tidy
from lib.tolerances import read_published

RESULTS, CONFIG = ROOT / "results/paper", ROOT / "config/paper.yaml"
PRINTED = [key for key, paper in load_papers().items() if paper.published]


@pytest.fixture(scope="module")
def plans():
    """The planned papers, and the configuration of the full scale."""
    papers, _, config = planned(CONFIG)
    return papers, config


def displayed(paper, exhibit, config):
    """Return the table or the figure of an exhibit, with the published settings, from the committed tidy
    rows."""
    part = "published" if "published" in exhibit.parts else exhibit.parts[0]
    context = read_context(paper.context(config), part)
    tidy = read_tidy(RESULTS / paper.key / f"{exhibit.stem(part)}.csv")
    return getattr(exhibit.module, exhibit.kind)(tidy, context)


def printed_texts(rows):
    """Return the texts that a paper prints, each with its spread."""
    texts = []
    for row in rows.itertuples():
        decimals = len(row.printed.partition(".")[2])
        texts.append(row.printed + ("" if np.isnan(row.spread) else f" ± {row.spread:.{decimals}f}"))
    return texts


@pytest.mark.parametrize("key", PRINTED)
def test_each_printed_number_stands_beside_ours(key, plans):
    papers, config = plans
    published = read_published(ROOT / f"workflow/papers/{key}/printed.csv")
    for name, rows in published.groupby("exhibit"):
        exhibit = papers[key].exhibits[name]
        picture = displayed(papers[key], exhibit, config)
        if exhibit.kind == "figure":
            lines = [line for ax in picture.axes for line in ax.lines]
            for value in rows["value"].unique():
                assert any(len(line.get_ydata()) and np.all(line.get_ydata() == value) for line in lines), (
                    name,
                    value,
                )
            continue
        cells = picture.cells.to_numpy().astype(str)
        for dataset, set_rows in rows.groupby("dataset"):
            # a mark may follow the name of the set
            lines = [line for line in cells if line[0].removesuffix(" *") == dataset_in_words(dataset)]
            # "5 x 200" are two numbers
            brackets = [re.search(r"^.+ \((\S.*)\)$", cell) for line in lines for cell in line[1:]]
            shown = Counter(text for match in brackets if match for text in match[1].split(" x "))
            assert Counter(printed_texts(set_rows)) == shown, (name, dataset)
