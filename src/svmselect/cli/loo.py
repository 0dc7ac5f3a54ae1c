"""The command `loo`.

It trains by functions of the library alone. To import scikit-learn takes longer than to train most models.
Scores and pages need an estimator.
"""

import time
from types import SimpleNamespace

import numpy as np

from svmselect.cli.data import (
    constant_class,
    constant_remark,
    described,
    heading,
    load,
    model_options,
)
from svmselect.cli.output import percent, show, table, warn
from svmselect.errors import weighted_share
from svmselect.sklearn.kernels import gram_of, kernel_of
from svmselect.sklearn.one_vs_one import Problem, class_weights, encoded, loo_path, values_of, winners
from svmselect.sklearn.progress import progress_bar
from svmselect.svm import solve_csvc

__all__ = ["findings", "loo"]


def loo(arguments):
    """Run the command `loo`: the exact leave-one-out error of one model."""
    if arguments.scoring or arguments.positive or arguments.report:
        from svmselect.cli.models import scored_loo

        scored_loo(arguments)
        return
    X, data, facts = load(arguments)
    begin = time.perf_counter()
    model = _left_out(arguments, X, data.labels)
    model.seconds = time.perf_counter() - begin
    line, result, rows = findings(arguments, X, data, facts, model)
    lines = heading(facts, line) + table(rows) + constant_remark(model.predicted)
    show(result, arguments.json, lines)


def _left_out(arguments, X, y):
    """Train on all rows and leave each out; return the options of the model, predictions and errors."""
    # 1) the problem of each pair of classes, and its solution
    options = model_options(arguments)
    classes, codes = encoded(y)
    weight = class_weights(options["class_weight"], classes, codes)[codes]
    problem = Problem(classes, codes, weight)
    kernel = kernel_of(arguments.kernel, X, arguments.gamma, arguments.degree, arguments.coef0)
    gram = gram_of(X, kernel, arguments.memory)
    solutions = [
        solve_csvc(pair.gram(gram), pair.y, arguments.C * weight[pair.rows], tol=arguments.tol)
        for pair in problem.pairs
    ]
    _warn(sum(not solution.converged for solution in solutions), arguments.tol)
    support = np.zeros(y.size, dtype=bool)
    for pair, solution in zip(problem.pairs, solutions, strict=True):
        support[pair.rows[solution.alpha > 0]] = True
    # 2) predictions with the row, and without
    values = values_of(gram, problem, solutions)
    with progress_bar(1, not arguments.quiet) as report:
        starts = [solution.alpha for solution in solutions]
        (left_out,) = loo_path(gram, problem, [arguments.C], arguments.tol, None, starts, report)
    _warn(left_out.n_not_converged, arguments.tol)
    left_out_codes = winners(left_out.values, classes.size)
    return SimpleNamespace(
        **options,
        C=arguments.C,
        gamma=arguments.gamma,
        predicted=classes[winners(values, classes.size)],
        left_out=classes[left_out_codes],
        weighted_error=float(weighted_share(left_out_codes != codes, weight)),
        n_support=int(np.count_nonzero(support)),
        score=None,
        score_name=None,
    )


def _warn(n, tol):
    """Say that n solves ran out of steps."""
    if n:
        warn(f"{n} solves stopped after the most steps, short of tol={tol}")


def findings(arguments, X, data, facts, model):
    """Return the line of a model, its results for JSON, and the rows of a table for people."""
    parameters, line = described(model, X)
    wrong = np.flatnonzero(model.left_out != data.labels)
    m, error = data.labels.size, wrong.size / data.labels.size
    training_error = float(np.mean(model.predicted != data.labels))
    result = {
        **facts,
        **parameters,
        "loo_error": error,
        "weighted_loo_error": model.weighted_error,
        "scoring": arguments.scoring,
        "positive": arguments.positive,
        "score": model.score,
        "loo_errors": wrong.size,
        "misclassified_rows": data.numbers[wrong],
        "training_error": training_error,
        "constant": constant_class(model.predicted),
        "support_vectors": model.n_support,
        "seconds": model.seconds,
    }
    rows = [
        ("leave-one-out error", percent(error), f"{wrong.size} of {m} rows"),
        *([("weighted by class", percent(model.weighted_error), "")] if arguments.balanced else []),
        *([(f"leave-one-out {model.score_name}", f"{model.score:.6g}", "")] if arguments.scoring else []),
        ("training error", percent(training_error), ""),
        ("support vectors", str(model.n_support), ""),
        ("time", f"{model.seconds:.2f} s", ""),
    ]
    return line, result, rows
