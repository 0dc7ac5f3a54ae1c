"""k-fold cross-validation, each fit from zero."""

from svmselect import cross_validate

from papers.comparison.estimator import Estimator, Model


def run(model: Model):
    return cross_validate(model.gram, model.y, model.C, model.folds, "cold", **model.options)


ESTIMATOR = Estimator(
    run,
    order=8,
    name="{k}-fold CV",
    short="{k}-fold",
    needs_fit=False,
    needs_folds=True,
    fold="cv",
)
