"""The estimate of Opper and Winther."""

from __future__ import annotations

from svmselect import opper_winther

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return opper_winther(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=5,
    name="Opper-Winther",
    short="O.-W.",
    color="sky",
    marker="D",
    size=5.5,
    assumption="Opper-Winther assumes an SVM without threshold, in which leaving a point out changes neither "
    "the set of in-bound nor that of bounded support vectors.",
)
