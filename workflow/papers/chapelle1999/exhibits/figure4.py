"""Figure 4: the radius-margin bound, plain and rescaled.

Two line plots against the natural logarithm of the width sigma: (a) the radius-margin functional without
rescaling, (b) with rescaling.

(a) ``R^2 |w|^2``, where R is the radius of the smallest sphere around the training points in feature space
and ``1 / |w|`` is the margin. (b) The same functional after each principal direction of the centred training
points is scaled into a box of side 2. Values are means over {{ settings["width"]["realisations"] }}
realisations of the hard margin, with bars of one standard deviation (n - 1). Divided by the number of
training points, the functional bounds an error. The paper's text prints no value of this figure that could
stand beside ours.
"""

from lib.figures import curve, panels
from papers.chapelle1999.exhibits.curves import LOGARITHMS, MARK, mean_curves

STAGES = ("cells",)
RUN_TIME = "as Figure 2"

# functional -> title of its panel, and label of its axis
PANELS = {
    "radius_margin": ("(a) without rescaling", r"$R^2 |w|^2$"),
    "rescaled_radius_margin": ("(b) with rescaling", "rescaled functional"),
}


def tidy(rows, context):
    """Return the radius-margin functional ``R^2 |w|^2``, plain and rescaled, against the width."""
    cells = rows["cells"].assign(functional=rows["cells"]["bound"] * rows["cells"]["m"])
    methods = {name: name for name in PANELS}
    return mean_curves(cells, "width", "figure4", methods, "functional", "functional", "")


def figure(tidy, context):
    """Draw each functional against the width, bars of one standard deviation."""
    fig, axes = panels(1, 2, 7.4, 3)
    functionals = tidy[tidy["metric"] == "functional"]
    for ax, (method, (title, label)) in zip(axes.flat, PANELS.items(), strict=True):
        x, y, spread = curve(functionals[functionals["method"] == method])
        ax.errorbar(x, y, yerr=spread, elinewidth=0.6, **MARK)
        ax.set(title=title, xlabel=LOGARITHMS["width"][1], ylabel=label, ylim=(0, None))
    return fig
