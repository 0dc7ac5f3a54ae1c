"""The radius-margin bound on rescaled components, of Chapelle and Vapnik."""

from __future__ import annotations

from svmselect import rescaled_radius_margin

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return rescaled_radius_margin(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=7,
    name="Rescaled radius-margin",
    short="Resc. r.-m.",
    color="orange",
    marker="p",
    size=7,
    assumption="The rescaled radius-margin bound is a heuristic for a hard margin, no theorem.",
    is_bound=True,
)
