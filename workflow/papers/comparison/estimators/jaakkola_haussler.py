"""The bound of Jaakkola and Haussler."""

from __future__ import annotations

from svmselect import jaakkola_haussler

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return jaakkola_haussler(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=4,
    name="Jaakkola-Haussler",
    short="J.-H.",
    color="grey",
    marker="X",
    size=7,
    assumption="Jaakkola-Haussler assumes an SVM without threshold, which ours has.",
)
