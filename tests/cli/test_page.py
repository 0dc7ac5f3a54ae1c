"""The page of --report."""

import re

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 3))
TABLES = {
    "classes": X[:, 0] + 0.5 * RNG.normal(size=40) > 0,
    "three": np.digitize(X[:, 0], [-0.5, 0.5]),
    "numbers": 3 * X[:, 0] + X[:, 1],
    "rows": None,
}


@pytest.fixture
def page(run, tmp_path):
    """The text of a page."""

    def call(command, name, *words):
        frame = pd.DataFrame(X, columns=["a<b>", "b", "c"])
        frame = (
            frame
            if TABLES[name] is None
            else frame.assign(target=TABLES[name].astype(float if name == "numbers" else int))
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        words += ("--task", "one-class") * (name == "rows")
        status, _, err = run(command, f"{name}.csv", *words, "--report", "page.html")
        assert status == 0, err
        text = (tmp_path / "page.html").read_text()
        assert text.startswith("<!doctype html>") and f"{name}.csv" in text
        assert not re.search(r"(src|href)=\"(?!#|data:)", text) and "<script" not in text  # self-contained
        ids = re.findall(r'\bid="([^"]+)"', text)
        assert len(ids) == len({*ids})
        return text

    return call


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(("command", "words"), [("loo", ()), ("select", ("--gamma", "0.1,1"))])
def test_a_page_has_the_results_of_each_task(name, command, words, page):
    if command == "select" and name != "rows":
        words += ("--C", "1,10", "--by", "loo" if name == "three" else "cv")
    text = page(command, name, *words)
    assert "Support vectors" in text and "<svg role=" in text and "aria-label=" in text
    if name in ("classes", "three"):
        assert "standard error" in text and "by the predicted class" in text and "always" in text
        counts = re.search(r"by the predicted class</caption>(.*?)</table>", text, re.S)[1]
        k = len({*TABLES[name].tolist()})
        cells = re.findall(r"<td[^>]*>(\d+)<", counts)
        assert sum(int(cell) for n, cell in enumerate(cells) if n % (k + 1)) == 40
    if name == "numbers":
        assert "r2" in text and "root mean squared error" in text and "standard error" in text
        assert ("Jackknife+" in text) == (command == "loo")
    if name == "rows":
        assert "rejected" in text


def test_a_page_escapes_the_names_of_a_file(page):
    text = (
        page("loo", "classes", "--categorical", "<age>", "--scoring", "roc_auc")
        if False
        else page("loo", "classes")
    )
    assert "a<b>" not in text
