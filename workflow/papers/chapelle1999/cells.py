"""The runs: a whole grid of models on the training part of one realisation, as rows.

Each model is trained once; the test error and all estimates but leave-one-out come from that one solution.
"""

from dataclasses import replace
from itertools import groupby

import numpy as np
from svmselect import leave_one_out, radius_margin, rescaled_radius_margin, span_rule

from data.dataset import Dataset
from lib.cell import (
    COST,
    FIT,
    Cell,
    Method,
    estimate_columns,
    estimate_of_fit,
    identity_of,
    load_part,
    warm_up,
)

# seeds the parts that a training set is cut into
SEED = 1999

# the paper's estimates of one fit, and leave-one-out: as the paper does it, and ours
ESTIMATES = {
    "span_rule": span_rule,
    "radius_margin": radius_margin,
    "rescaled_radius_margin": rescaled_radius_margin,
}
LEAVE_ONE_OUT = {"loo_retrain": "retrain", "loo": "unlearn"}
# experiment -> its methods
EXPERIMENTS = {"width": ("test", *ESTIMATES, *LEAVE_ONE_OUT), "C": ("test", "span_rule", "loo")}


def training_part(dataset, realisation, parts):
    """Return training and test rows of a realisation, as a `Part`.

    If a data set has a test part of its own, its training rows are cut into `parts`, equal but for one row,
    and realisation r trains on the r-th. A data set that has splits cannot be cut too, which raises
    a `ValueError`, as a realisation beyond the parts does.
    """
    if parts == 1:
        return load_part(dataset, realisation)
    if dataset.recipe is not None:
        raise ValueError(f"parts must be 1 for data set {dataset.name!r}, which has splits, got {parts}")
    if realisation > parts:
        raise ValueError(f"realisation must be at most parts = {parts}, got {realisation}")
    whole = load_part(dataset, 1)
    order = np.random.default_rng(SEED).permutation(len(whole.y))
    rows = np.sort(np.array_split(order, parts)[realisation - 1])
    identity = identity_of(dataset, realisation, "seeded", [SEED])
    return replace(whole, X=whole.X[rows], y=whole.y[rows], identity=identity)


def run_models(job, realisation, parts, models, settings):
    """Run every method of an experiment (of `EXPERIMENTS`, in the job's identity) on every model of a grid.
    One row per model and method.

    For realisation and parts see `training_part`. `models` are dicts of ``C`` and ``gamma``; those of one
    gamma that follow each other share its Gram matrix. The settings are ``tol``, the KKT tolerance on
    LIBSVM's scale, and ``max_iter``, int or None.
    """
    cell = Cell(job, training_part(Dataset.load(job.data), realisation, parts))
    job.identity["tol"] = settings.tol
    warm_up(job, ESTIMATES.values())
    _, *names = EXPERIMENTS[job.identity["experiment"]]
    methods = [_method(name, cell, settings) for name in names]

    def run(batch):
        cell.set_kernel(batch[0]["gamma"])
        return cell.run([(model, model["C"], methods) for model in batch], vars(settings), (*FIT, *COST))

    batches = [list(batch) for _, batch in groupby(models, key=lambda model: model["gamma"])]
    return job.batches(batches, run)


def _method(name, cell, settings):
    if name in ESTIMATES:
        return estimate_of_fit(cell, name, ESTIMATES[name])
    options = {"working_set": "wss2", **vars(settings)}
    return Method(
        name,
        lambda C, _: leave_one_out(cell.gram, cell.y, C, LEAVE_ONE_OUT[name], **options),
        lambda loo: estimate_columns(loo, "n_iter", *COST, solved="solutions"),
        {"fold": "loo"},
    )
