"""An estimator that is one file more in the comparison, for test_toy_paper.py."""

from papers.comparison.estimator import Estimator, Model

from svmselect import sv_count


def run(model: Model):
    return sv_count(model.gram, model.y, model.solution)


ESTIMATOR = Estimator(
    run,
    order=10,
    name="Support vectors",
    short="SVs",
    assumption="That every support vector is an error assumes the worst.",
)
