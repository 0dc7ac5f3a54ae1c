"""The radius-margin bound of Vapnik."""

from __future__ import annotations

from svmselect import radius_margin

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return radius_margin(model.gram, model.y, model.solution, sphere=model.sphere)


ESTIMATOR = Estimator(
    run,
    order=6,
    name="Radius-margin",
    short="R.-m.",
    color="purple",
    marker="P",
    size=7,
    assumption="The radius-margin bound assumes a hard margin without threshold.",
    is_bound=True,
    needs_sphere=True,
)
