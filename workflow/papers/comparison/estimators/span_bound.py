"""The span bound of Vapnik and Chapelle."""

from __future__ import annotations

from svmselect import span_bound

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return span_bound(model.gram, model.y, model.solution, sphere=model.sphere)


ESTIMATOR = Estimator(
    run,
    order=2,
    name="Span bound",
    short="Span b.",
    color="purple",
    marker="v",
    assumption="The span bound holds for any C.",
    is_bound=True,
    needs_sphere=True,
)
