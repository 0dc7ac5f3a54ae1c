"""The form of figures: widths of a journal's columns, and fonts to match."""

import pandas as pd
import pytest
from lib.figures import COLORS, curve, mark, panels, save, use_form
from lib.figures import MARKERS as KNOWN_MARKERS
from lib.overview import MARKERS, ZERO, compared_results, plot_results
from lib.papers import load_papers
from lib.tables import measured
from matplotlib.collections import PathCollection
from matplotlib.lines import Line2D


@pytest.fixture(autouse=True)
def as_designed():
    yield
    use_form()


@pytest.mark.parametrize(("designed", "width"), [(3.4, 3.5), (5, 3.5), (7.4, 7.2), (10.5, 7.2)])
def test_a_figure_has_the_width_of_one_or_two_columns(designed, width, tmp_path):
    plain, _ = panels(1, 1, designed, 3)
    assert plain.get_figwidth() == designed
    use_form(width=[3.5, 7.2])
    fig, axes = panels(1, 1, designed, 3)
    assert fig.get_figwidth() == pytest.approx(width)
    axes[0, 0].set(xlabel="x", title="y")
    assert 9 * 0.75 <= axes[0, 0].xaxis.label.get_size() <= 9
    save(fig, tmp_path / "a.pdf", tmp_path / "a.svg", "A", "B")
    assert f'width="{72 * width:g}pt"' in (tmp_path / "a.svg").read_text()


def test_a_font_is_used_or_refused():
    use_form(font="STIXGeneral")
    _, axes = panels(1, 1, 4, 3)
    assert axes[0, 0].set_title("x").get_fontname() == "STIXGeneral"
    with pytest.raises(ValueError, match=r"figures\.font is 'Nowhere Sans', which is not installed"):
        use_form(font="Nowhere Sans")
    use_form()
    _, axes = panels(1, 1, 4, 3)
    assert axes[0, 0].set_title("x").get_fontname() == "DejaVu Sans"


@pytest.fixture
def card(root):
    """The committed scorecard, and the names of its papers."""
    frame = pd.read_csv(root / "results/paper/scorecard.csv", dtype=str, keep_default_na=False)
    return frame, {key: paper.name for key, paper in load_papers().items() if key in set(frame["paper"])}


def words_of(fig):
    return [text.get_text() for text in fig.axes[0].texts], [
        label.get_text() for label in fig.axes[0].get_yticklabels()
    ]


def test_open_results_are_named_by_their_data_sets(card):
    named, lines = words_of(plot_results(*card))
    assert "forest" in named and "Table 1: support vectors" in lines


def test_the_picture_has_every_compared_result(card):
    frame, papers = card
    fig = plot_results(frame, papers)
    results = frame[(frame["kind"] == "result") & (frame["explained_by"] != "")]
    points = [drawn for drawn in fig.axes[0].collections if isinstance(drawn, PathCollection)]
    drawn = sum(len(group.get_offsets()) for group in points)
    counts = results["explained_by"].value_counts()
    legend = [text.get_text() for text in fig.legends[0].get_texts()]
    assert drawn == len(results) and legend == [f"{kind} ({counts.get(kind, 0)})" for kind in MARKERS]
    # a printed 0 has its place, and points beyond an edge are counted there
    rows = compared_results(frame)
    assert (rows["ratio"] == ZERO).sum() == (results["value"].astype(float) == 0).sum() > 0
    beyond = (rows["ratio"] > 16).groupby([rows["paper"], rows["exhibit"], rows["metric"]]).sum().max()
    assert beyond < 2 or f"{beyond}" in words_of(fig)[0]


def test_a_run_without_misses_has_its_picture(card):
    frame, papers = card
    within = frame[frame["within"] != "no"]
    assert not [text for text in words_of(plot_results(within, papers))[0] if not text.isdigit() and text]


def test_an_unknown_colour_or_marker_is_named():
    assert {name for name in Line2D.markers if isinstance(name, str) and len(name) == 1} - {" "} == {
        *KNOWN_MARKERS
    }
    assert mark("blue", "h") == {"color": COLORS["blue"], "marker": "h", "markersize": 6}
    for color, marker, name in (("pink", "o", "pink"), ("blue", "Q", "Q"), ("blue", "none", "none")):
        with pytest.raises(ValueError, match=f"'{name}'"):
            mark(color, marker)


def test_a_curve_along_words_names_its_exhibit():
    rows = pd.DataFrame(
        [measured({"exhibit": "figure9", "dataset": "a", "setting": "gamma=0.001"}, "test_error", 1.0, "")]
    )
    with pytest.raises(ValueError, match=r"figure9.*numbers.*gamma=0\.001"):
        curve(rows)
