"""The form of figures: widths of a journal's columns, and fonts to match."""

import pytest
from lib.figures import figure, save, use_form


@pytest.fixture(autouse=True)
def as_designed():
    yield
    use_form()


@pytest.mark.parametrize(("designed", "width"), [(3.4, 3.5), (5, 3.5), (7.4, 7.2), (10.5, 7.2)])
def test_a_figure_has_the_width_of_one_or_two_columns(designed, width, tmp_path):
    plain, _ = figure(1, 1, designed, 3)
    assert plain.get_figwidth() == designed
    use_form(width=[3.5, 7.2])
    fig, axes = figure(1, 1, designed, 3)
    assert fig.get_figwidth() == pytest.approx(width)
    axes[0, 0].set(xlabel="x", title="y")
    assert 9 * 0.75 <= axes[0, 0].xaxis.label.get_size() <= 9
    save(fig, tmp_path / "a.pdf", tmp_path / "a.svg", "A", "B")
    assert f'width="{72 * width:g}pt"' in (tmp_path / "a.svg").read_text()


def test_a_font_is_used_or_refused():
    use_form(font="STIXGeneral")
    _, axes = figure(1, 1, 4, 3)
    assert axes[0, 0].set_title("x").get_fontname() == "STIXGeneral"
    with pytest.raises(ValueError, match=r"figures\.font is 'Nowhere Sans', which is not installed"):
        use_form(font="Nowhere Sans")
    use_form()
    _, axes = figure(1, 1, 4, 3)
    assert axes[0, 0].set_title("x").get_fontname() == "DejaVu Sans"
