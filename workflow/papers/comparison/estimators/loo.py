"""The exact leave-one-out error, by unlearning each point from the fit on all points."""

from svmselect import leave_one_out

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    start = None if model.solution is None else model.solution.alpha
    return leave_one_out(model.gram, model.y, model.C, "unlearn", start=start, **model.options)


ESTIMATOR = Estimator(
    run,
    order=9,
    name="Exact LOO",
    short="LOO",
    fold="loo",
)
