"""The toy's figure from tidy rows."""

from lib.figures import BLUE, figure


def plot_figure1(tidy):
    fig, axes = figure(1, 1, 4, 3)
    axes.flat[0].plot(tidy["setting"], tidy["value"], color=BLUE, marker="o")
    axes.flat[0].set_ylabel("Support vectors")
    return fig
