"""Curves against the number of training rows, of Figures 5 and 6."""

from lib.figures import curve, legend, panels
from lib.shown import dataset_in_words
from papers.sarafis2018.exhibits.models import each_set
from papers.sarafis2018.grid import SIZE


def each_size(exhibit, rows):
    """Yield exhibit, data set and number of training rows, which is the ``setting``, and the rows."""
    for row_key, dataset_rows in each_set(exhibit, rows, SIZE):
        for m, group in dataset_rows.groupby("m"):
            yield {**row_key, "setting": str(m)}, group


def draw_sizes(tidy, key, curves, label, other_curves=()):
    """Draw a panel per data set on logarithmic axes, with a curve for each value of a column."""
    datasets = list(dict.fromkeys(tidy["dataset"]))
    fig, axes = panels(1, len(datasets), max(5, 3 * len(datasets)), 3.4, sharey=True)
    for dataset, ax in zip(datasets, axes.flat, strict=True):
        panel = tidy[tidy["dataset"] == dataset].dropna(subset="value")
        for name, (_, style) in curves.items():
            x, y, _ = curve(panel[panel[key] == name])
            ax.plot(x, y, markersize=4, **style)
        ax.set_xscale("log", base=2)
        ax.set(yscale="log", title=dataset_in_words(dataset), xlabel="Training rows")
        ax.xaxis.get_major_locator().set_params(numticks=20)
    axes.flat[0].set_ylabel(label)
    legend(fig, [*curves.values(), *other_curves], 2)
    return fig
