"""The span rule of Chapelle and Vapnik."""

from __future__ import annotations

from svmselect import span_rule

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return span_rule(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=1,
    name="Span rule",
    short="Span rule",
    color="vermillion",
    marker="s",
    assumption="The span rule assumes that leaving a point out changes neither the set of in-bound nor that "
    "of bounded support vectors.",
)
