"""Estimators, and what they are compared with, in words."""

from papers.comparison.estimator import estimator_of, load_estimators

# what estimators are compared with: training and nothing else, the Gram matrix, a model drawn at random
FIT, GRAM, RANDOM = "fit", "gram", "random"
# of these, the name for readers, and the short one
BASELINES = {
    FIT: ("Fit alone", "Fit"),
    GRAM: ("Gram matrix", "Gram"),
    RANDOM: ("A model drawn at random", "Random"),
}


def estimator_name(method, short=False):
    """Return the name of an estimator for readers."""
    if method in BASELINES:
        return BASELINES[method][short]
    estimator, k = estimator_of(method)
    return (estimator.short if short else estimator.name).format(k=k)


def assumptions():
    """Return the assumptions of the estimators, a sentence each."""
    sentences = [estimator.assumption for estimator in load_estimators().values() if estimator.assumption]
    return " ".join([*sentences, "Where an assumption fails, the value is a heuristic."])


def included_costs():
    """Return a note on what the CPU time of an estimator includes."""

    def names(those):
        return ", ".join(estimator.name.format(k="k") for estimator in those)

    estimators = load_estimators().values()
    with_sphere = names(estimator for estimator in estimators if estimator.needs_sphere)
    without_fit = names(estimator for estimator in estimators if not estimator.needs_fit)
    return (
        "Cost: CPU time of one thread for one model. The fit on all points is included, except where none is "
        f"needed ({without_fit}). The smallest sphere is included where it is needed ({with_sphere}), "
        "divided by the models that share it. The Gram matrix, which all models of a kernel share, is not "
        "included."
    )
