"""Pictures for the dark theme: an SVG with dark paper, light ink and lighter colours."""

import re

PAPER, INK = "#14181e", "#ced6dd"
# colour on white -> colour on dark
LIGHTER = {
    "#ffffff": PAPER,
    '"white"': f'"{PAPER}"',
    "#f2f2f2": "#222832",
    "#f4f4f4": "#222832",
    "#dddddd": "#39424b",
    "#b0b0b0": "#6a737d",
    "#000000": INK,
    "#333333": INK,
    "#595959": "#9aa5b1",
    "#0072b2": "#56b4e9",
    "#56b4e9": "#a3d8f4",
    "#009e73": "#3ccba0",
    "#d55e00": "#ff8c42",
    "#cc79a7": "#e6a3c8",
}


def dark(svg):
    """Return a picture (SVG text) for the dark theme. Elements without a colour get that of ink."""
    svg = re.sub(r'#[0-9a-f]{6}\b|"white"', lambda color: LIGHTER.get(color[0], color[0]), svg)
    return re.sub(r"<svg ", f'<svg fill="{INK}" ', svg, count=1)
