"""The paper scale drawn again from its rows on a clean clone: the same bytes, and a report in a browser."""

import fcntl
import json
import os
import re
import subprocess
import sys
import zipfile

import pandas as pd
import pytest
from lib.papers import load_papers
from lib.rows import read_rows
from lib.shown import state

pytestmark = pytest.mark.slow

# written by hand, or by the run that computed
KEPT = ("provenance.json", "config.yaml")
DESKTOP, PHONE = (1280, 900), (390, 844)
# what A4 on its side has within its margins
PAPER = (1047, 718)


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def redraw(root, clone):
    """Clone the tracked files as they are now, take away what is made from rows, and run the commands of
    `make figures` there; their output."""
    # a commit of changes, if there are any, needs an author
    author = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    commit = git(root, *author, "stash", "create") or git(root, "rev-parse", "HEAD")
    git(root, "clone", "--quiet", "--shared", "--no-checkout", str(root), str(clone))
    git(clone, "checkout", "--quiet", "--detach", commit)
    for path in (clone / "results/paper").rglob("*"):
        if path.is_file() and path.suffix != ".parquet" and path.name not in KEPT:
            path.unlink()
    makefile = (clone / "Makefile").read_text()
    line = re.search(r"snakemake (.*figures.*)\n", makefile).group(1)
    arguments = line.replace("$(CORES)", "2").replace("$(QUIET)", "--quiet rules").split()
    # nothing answers there
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "XDG_CACHE_HOME": str(clone.parent / "cache")}
    environment.pop("SVMSELECT_MIRROR", None)
    pages = re.search(r"python (workflow/stories\.py .*)\n", makefile).group(1).split()
    output = ""
    for command in (["-m", "snakemake", *arguments], pages):
        command = [sys.executable, *command]
        done = subprocess.run(
            command, cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        output += done.stdout + done.stderr
    return output


@pytest.fixture(scope="session")
def redrawn(tmp_path_factory, root):
    """The clone, and what Snakemake printed: one for all workers of pytest, since it takes minutes."""
    if not (root / ".git").exists():
        pytest.skip("this is no git checkout: there is nothing to clone")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    folder /= "redrawn"
    folder.mkdir(exist_ok=True)
    clone, printed = folder / "checkout", folder / "printed.txt"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            assert not clone.exists(), "another worker could not redraw"
            printed.write_text(redraw(root, clone))
    return clone, printed.read_text()


def test_redrawing_changes_nothing(redrawn):
    clone, output = redrawn
    assert git(clone, "status", "--porcelain") == ""
    assert "_run_" not in output and "gather_rows" not in output
    assert not (clone / "resources").exists()


def test_the_origin_of_rows_is_counted(redrawn):
    clone, _ = redrawn
    results = clone / "results/paper"
    libraries = pd.read_csv(results / "libraries.csv")
    for (paper, stage), lines in libraries.groupby(["paper", "stage"]):
        rows = read_rows([results / paper / "rows" / f"{stage}.parquet"])["library"].value_counts()
        assert lines.groupby("library")["rows"].sum().to_dict() == rows.to_dict()
    # those of the rows that exhibits of the papers show
    report, papers = (results / "report.html").read_text(), load_papers().items()
    shown = {
        (key, stage)
        for key, paper in papers
        for exhibit in paper.exhibits.values()
        for stage in exhibit.stages
        if paper.claims and exhibit.numbered
    }
    places = libraries[["paper", "stage"]].apply(tuple, axis=1).isin(shown)
    assert places.sum() > 5 and all(library in report for library in libraries["library"][places])


def test_the_report_of_snakemake_itself_has_every_exhibit(redrawn, tmp_path):
    clone, _ = redrawn
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/paper", "--cores", "1"]
    command += ["--report", str(tmp_path / "report.zip"), "figures"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\((?:ERROR|WARNING)/", done.stderr)
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        page = archive.read("report/report.html").decode()
    start = re.search(r"var results = (?=\{\")", page).end()
    result, _ = json.JSONDecoder().raw_decode(page, start)
    expected = {
        (key, exhibit.name, exhibit.subject)
        for key, paper in load_papers().items()
        for exhibit in paper.exhibits.values()
    }
    assert {(path.split("/")[2], *entry["labels"].values()) for path, entry in result.items()} == expected


# goes to the exhibit of a link, and tells what is seen there
VISIT = """
(async (link) => {
  link.click();
  await new Promise(done => setTimeout(done, 20));
  const section = document.querySelector(link.getAttribute('href'));
  const shown = section.querySelector('.figure img, table, details');
  const image = section.querySelector('.figure img');
  if (image) await image.decode();
  const box = shown.getBoundingClientRect();
  return {
    name: link.textContent,
    heading: section.querySelector('h3').getBoundingClientRect().top,
    width: box.width, height: box.height, image: image ? image.naturalWidth : null,
    caption: section.querySelector('.caption').innerText.length, height_of_window: innerHeight,
  };
})(document.querySelectorAll('nav a.exhibit')[%d])
"""


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_exhibit_of_the_report_is_seen(redrawn, browser, size):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", size)
    exhibits = browser.value("document.querySelectorAll('nav a.exhibit').length")
    assert exhibits == browser.value("document.querySelectorAll('section.exhibit').length")
    # every drawn figure is there, and the picture of all results
    drawn = [path for path in (clone / "results/paper").rglob("*.svg") if path.is_file()]
    exhibits_drawn = browser.value("document.querySelectorAll('section.exhibit .figure img').length")
    assert exhibits_drawn == len(drawn) - 1 > 0
    assert browser.value("document.querySelectorAll('figure img').length") == 1
    for number in range(exhibits):
        seen = browser.value(VISIT % number)
        assert seen["width"] > 100 and seen["height"] > 50, seen
        assert seen["caption"] > 50, seen
        assert seen["image"] is None or seen["image"] > 100, seen
        # the last ones cannot be scrolled to the top
        assert -5 <= seen["heading"] < seen["height_of_window"], seen
    # nothing makes the page wider than the screen: a phone would lay out a wider window; wide tables scroll
    assert browser.value("document.documentElement.scrollWidth") <= size[0]
    assert browser.complaints() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_can_be_read(redrawn, browser, dark):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", PHONE, dark)
    brightness = (
        "(name, of) => getComputedStyle(of)[name].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0)"
    )
    ground = browser.value(f"({brightness})('backgroundColor', document.body)")
    text = browser.value(f"({brightness})('color', document.body)")
    assert (ground < 150 and text > 600) if dark else (ground > 700 and text < 150)
    assert browser.value("document.documentElement.scrollWidth") <= PHONE[0]
    assert browser.value("document.querySelectorAll('table').length") > 1
    assert browser.complaints() == []


def test_what_scrolls_is_reached_by_keyboard(redrawn, browser):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", PHONE)
    unreached = """[...document.querySelectorAll('main div, main pre')].filter(box =>
      box.scrollWidth > box.clientWidth && box.tabIndex < 0
      && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX)).map(box => box.outerHTML)"""
    assert browser.value(unreached) == []
    assert browser.value("document.querySelectorAll('.wide').length") > 10


def test_the_report_is_one_file(redrawn):
    clone, _ = redrawn
    text = (clone / "results/paper/report.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', text) == []
    assert re.findall(r"<script[^>]*>", text) == ["<script>"]
    assert not re.search(r"\b(fetch|import|XMLHttpRequest)\b", text.split("<script>")[1])


SHOWN = "[...document.querySelectorAll('.filtered tbody tr')].filter(row => !row.hidden).map(row => row.id)"


def scorecard_rows(clone):
    figures = pd.read_csv(clone / "results/paper/scorecard.csv", keep_default_na=False, dtype=str)
    states = [state(row) for row in figures.to_dict("records")]
    numbers = figures.groupby(["paper", "exhibit"]).cumcount() + 1
    return figures.assign(
        state=states, id=figures["paper"] + "-" + figures["exhibit"] + "-" + numbers.astype(str)
    )


def test_the_scorecard_is_filtered_and_the_address_keeps_the_filter(redrawn, browser):
    clone, _ = redrawn
    figures = scorecard_rows(clone)
    page = clone / "results/paper/report.html"
    browser.open(page, DESKTOP)
    assert sorted(browser.value(SHOWN)) == sorted(figures["id"])
    browser.value(
        """(form => {
          form.elements.state.value = 'found afterwards'; form.elements.paper.value = 'wen2017';
          form.elements.search.value = 'heart';
          form.dispatchEvent(new Event('input'));
        })(document.querySelector('.filters'))"""
    )
    known = figures[(figures["state"] == "found afterwards") & (figures["paper"] == "wen2017")]
    expected = set(known.loc[known["dataset"].str.contains("heart"), "id"])
    assert 0 < len(expected) < len(known) and set(browser.value(SHOWN)) == expected
    assert browser.value("document.querySelector('.filters output').textContent") == (
        f"{len(expected)} of {len(figures)} shown"
    )
    query = browser.value("location.search")
    browser.open(page, DESKTOP, query=query)
    assert set(browser.value(SHOWN)) == expected
    assert browser.complaints() == []


def test_the_scorecard_is_sorted_by_any_column(redrawn, browser):
    clone, _ = redrawn
    figures = scorecard_rows(clone).set_index("id")
    browser.open(clone / "results/paper/report.html", DESKTOP)
    # the exhibit with the most figures
    largest = "[...document.querySelectorAll('.filtered')].sort((a, b) => b.rows.length - a.rows.length)[0]"
    heads = browser.value(f"[...{largest}.tHead.rows[0].cells].map(head => head.textContent)")
    rows = f"[...{largest}.tBodies[0].rows].map(row => row.id)"
    click = largest + ".tHead.querySelectorAll('[role=button]')[%d].click()"
    column = heads.index("Published")
    orders = []
    for _ in range(2):
        browser.value(click % column)
        orders.append(browser.value(rows))
    entry = pd.to_numeric(figures.loc[figures["published_relative"] == "", "value"], errors="coerce").dropna()
    for order, rising in zip(orders, (True, False), strict=True):
        values = entry[[row for row in order if row in entry.index]]
        assert values.nunique() > 10
        assert values.is_monotonic_increasing if rising else values.is_monotonic_decreasing
    browser.value(click % heads.index("State"))
    states = list(figures.loc[browser.value(rows), "state"])
    assert states == sorted(states) and len(set(states)) > 1


def test_a_row_leads_to_what_made_it(redrawn, browser):
    clone, _ = redrawn
    page, figures = clone / "results/paper/report.html", scorecard_rows(clone)
    browser.open(page, DESKTOP)
    links = "[...document.querySelectorAll('.filtered td.paper a')].map(link => link.getAttribute('href'))"
    for link, row in zip(browser.value(links), figures.itertuples(), strict=True):
        assert link == f"#{row.paper}-of-{row.exhibit}"
    browser.value("document.querySelector('.filtered td.paper a[href=\"#wen2017-of-table1\"]').click()")
    shown = """(row => [row.querySelector('details').open, ...[...row.querySelectorAll('dd')].map(
      entry => entry.textContent.trim().replace(/\\s+/g, ' '))])(document.querySelector(':target'))"""
    # the browser tells the page of its new address when it has time
    browser.value(
        """new Promise(opened => {
             const row = document.querySelector(':target details');
             const look = () => row.open ? opened() : setTimeout(look, 10);
             look(); })"""
    )
    opened, file, command, *rest = browser.value(shown)
    assert opened and file.startswith("wen2017/table1") and command.endswith(file)
    listing = [sys.executable, "-m", "snakemake", "--profile", "profiles/paper", "--list-rules"]
    listing += ["--config", "compute=true"]
    known = subprocess.run(listing, cwd=clone, capture_output=True, text=True, check=True).stdout.split()
    named = next(entry for entry in rest if entry.startswith("wen2017_")).split(", ")
    assert named[-1] == "wen2017_make_exhibits" and len(named) > 1 and set(named) <= set(known)
    libraries = pd.read_csv(clone / "results/paper/libraries.csv", keep_default_na=False)
    part = libraries[(libraries["paper"] == "wen2017") & (libraries["stage"] == "seeds")]
    for row in part.itertuples():
        rows = f"{row.rows} in results/paper/wen2017/rows/seeds.parquet: library {row.library}, commit "
        said = [entry for entry in rest if entry.startswith(rows)]
        assert len(said) == 1 and (row.commit[:12] or "not recorded") in said[0]


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_verdict_is_seen_without_scrolling(redrawn, browser, size):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", size)
    for table in (".sortable", ".filtered"):
        right = browser.value(f"document.querySelector('{table} tbody th').getBoundingClientRect().right")
        assert 0 < right < size[0]
    # the head stays where it is while the table scrolls
    scrolled = """(box => {
      box.scrollIntoView(); box.scrollTop = 5000; box.scrollLeft = 500;
      const [of, head] = [box, box.querySelector('thead th')].map(part => part.getBoundingClientRect());
      return [head.top - of.top, head.left - of.left, box.scrollTop];
    })(document.querySelector('.tall'))"""
    top, left, by = browser.value(scrolled)
    assert abs(top) < 2 and abs(left) < 2 and by > 1000


@pytest.mark.parametrize("size", [(1400, 900), (768, 1024), PHONE], ids=["laptop", "tablet", "phone"])
def test_no_column_of_the_scorecard_is_off_screen(redrawn, browser, size):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", size)
    outside = """[...document.querySelectorAll('.exhibits, .filtered')].flatMap(table => {
      const right = table.parentElement.getBoundingClientRect().right;
      return [...table.rows].flatMap(row => [...row.cells]).filter(
        cell => cell.getBoundingClientRect().right > right + 1).map(cell => cell.outerHTML);
    })"""
    assert browser.value(outside) == []


def test_nothing_scrolls_sideways_on_a_laptop(redrawn, browser):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", (1400, 900))
    scrolling = """[...document.querySelectorAll('.wide')].filter(
      box => box.scrollWidth > box.clientWidth).map(box => box.innerText.slice(0, 80))"""
    assert browser.value("document.querySelectorAll('.wide').length") > 10
    assert browser.value(scrolling) == []


def test_figures_are_dark_in_the_dark_theme_and_light_on_paper(redrawn, browser):
    clone, _ = redrawn
    page = clone / "results/paper/report.html"
    filters = "[...document.querySelectorAll('.figure img')].map(image => getComputedStyle(image).filter)"
    for dark, media, inverted in ((False, "", False), (True, "", True), (True, "print", False)):
        browser.open(page, DESKTOP, dark, media=media)
        result = set(browser.value(filters))
        assert len(result) == 1 and ("invert" in result.pop()) == inverted


def test_paper_has_all_of_a_page(redrawn, browser):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", PAPER, dark=True, media="print")
    beyond = """[...document.querySelectorAll('main table')].filter(
      table => table.getBoundingClientRect().right > innerWidth).map(table => table.innerText.slice(0, 80))"""
    assert browser.value(beyond) == []
    folded = """[...document.querySelectorAll(':not(td) > details > :last-child')].filter(
      part => !part.checkVisibility({contentVisibilityAuto: true})).length"""
    assert browser.value("document.querySelectorAll('details:not([open])').length") > 10
    assert browser.value(folded) == 0
    # in the colours of the light theme
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


@pytest.mark.parametrize(("size", "dark"), [(DESKTOP, False), (PHONE, True)], ids=["laptop", "dark phone"])
def test_pages_are_accessible(redrawn, browser, axe, size, dark):
    clone, _ = redrawn
    browser.open(clone / "results/paper/report.html", size, dark)
    assert browser.findings(axe) == []


def test_pages_begin_with_what_holds_and_the_state_of_every_exhibit(redrawn, browser):
    clone, _ = redrawn
    results = clone / "results/paper"
    exhibits = pd.read_csv(results / "scorecard_exhibits.csv", keep_default_na=False)
    claims = pd.read_csv(results / "scorecard_claims.csv", keep_default_na=False)
    tested = claims[claims["tests"] > 0]
    browser.open(results / "report.html", DESKTOP)
    counts = browser.value("[...document.querySelectorAll('.lead b')].map(count => +count.textContent)")
    whole = int((tested["tests"] == tested["held"]).sum())
    assert counts == [whole, tested["held"].sum(), exhibits["within"].sum()]
    shown = exhibits[exhibits["decided"] > 0]
    strips = browser.value("[...document.querySelectorAll('.papers .counts')].map(text => text.innerText)")
    assert len(strips) == len(shown)
    for text, row in zip(strips, shown.itertuples(), strict=True):
        assert text.startswith(f"{row.decided_within} within") or not row.decided_within
        assert sum(map(int, re.findall(r"\d+", text))) == row.decided
    assert browser.value("document.querySelector('.papers').getBoundingClientRect().top") < DESKTOP[1]


def test_the_scorecard_is_read_without_scripts(redrawn, browser):
    clone, _ = redrawn
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(clone / "results/paper/report.html", DESKTOP)
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(browser.value(SHOWN)) == len(scorecard_rows(clone))
    assert browser.value("getComputedStyle(document.querySelector('.filters')).display") == "none"
    assert browser.value("document.querySelectorAll('thead [role=button]').length") == 0


def test_shown_figures_have_a_description(redrawn):
    clone, _ = redrawn
    text = (clone / "results/paper/report.html").read_text()
    alternatives = re.findall(r'<img [^>]*alt="([^"]*)"', text)
    assert alternatives and all(len(words) > 30 for words in alternatives)
