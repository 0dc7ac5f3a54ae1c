"""The xi-alpha bound of Joachims."""

from __future__ import annotations

from svmselect import xi_alpha

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return xi_alpha(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=3,
    name="xi-alpha bound",
    short="xi-alpha",
    color="orange",
    marker="^",
    assumption="The xi-alpha bound assumes that some in-bound support vector fixes the threshold without the "
    "point that is left out, too.",
)
