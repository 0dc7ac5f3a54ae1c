"""The command `loo` with a score or a page, which need an estimator."""

import time
from types import SimpleNamespace

from svmselect.cli.data import constant_remark, heading, load, model_options
from svmselect.cli.loo import findings
from svmselect.cli.models import (
    check_name,
    check_positive,
    check_score,
    evaluated_model,
    loo_rows,
    score_name,
    scorer_for,
)
from svmselect.cli.output import show, table
from svmselect.cli.page import check_plotting, class_sections, write_page
from svmselect.sklearn.progress import progress_bar

__all__ = ["scored_loo"]


def scored_loo(arguments):
    """Run the command `loo` by an estimator, which has probabilities if --scoring may ask for them."""
    # 1) checks before the file is read, and before anything is trained
    check_name("--scoring", arguments.scoring)
    check_positive(arguments)
    check_plotting(None, arguments.report)
    X, data, facts = load(arguments)
    y = data.labels
    check_score("--scoring", arguments.scoring, y, arguments.positive)
    # 2) training, and leave-one-out
    estimator = evaluated_model(arguments, C=arguments.C, gamma=arguments.gamma)
    begin = time.perf_counter()
    estimator.fit(X, y)
    if not arguments.scoring:  # else training has left each row out
        with progress_bar(1, not arguments.quiet) as report:
            estimator.leave_one_out(report, decision_values=bool(arguments.report))
    scorer = scorer_for(arguments.scoring, arguments.positive, y)
    score = estimator.loo_score(scorer) if arguments.scoring else None
    seconds = time.perf_counter() - begin
    model = SimpleNamespace(
        **model_options(arguments),
        C=arguments.C,
        gamma=arguments.gamma,
        predicted=estimator.predict(X),
        left_out=estimator.loo_predictions_,
        weighted_error=estimator.weighted_loo_error_,
        n_support=estimator.support_.size,
        score=score,
        score_name=score_name(arguments.scoring, arguments.positive),
        seconds=seconds,
    )
    # 3) results for JSON, for people, and for the page
    line, result, rows = findings(arguments, X, data, facts, model)
    if arguments.report:
        numbers = [(name, value) for name, value, _ in rows[:-1]]
        lines = [line, *constant_remark(model.predicted)]
        sections = class_sections(loo_rows(estimator, y), estimator, data)
        write_page(arguments, facts, lines, numbers, sections)
    lines = heading(facts, line) + table(rows) + constant_remark(model.predicted)
    show(result, arguments.json, lines)
