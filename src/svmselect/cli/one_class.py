"""The commands of one-class models, with --task one-class, and the rows that such models reject."""

import time

import numpy as np
from sklearn.base import clone

from svmselect.cli.csv_table import is_number
from svmselect.cli.data import common_options, described, heading, load
from svmselect.cli.encoding import counted
from svmselect.cli.models import check_name
from svmselect.cli.output import percent, show, table, text
from svmselect.cli.page import check_plotting, one_class_sections, plot, rejection_rates, surface, write_page
from svmselect.cli.read import MOST_CLASSES, label_names
from svmselect.cli.select import check_gamma, grid_of, search_options, write_models
from svmselect.cli.train import check_encoding, save
from svmselect.sklearn import LOOSearchCV, OneClassSVM
from svmselect.sklearn.candidates import DEFAULT, default_grid
from svmselect.sklearn.machine import LeftOutOneClass
from svmselect.sklearn.progress import progress_bar
from svmselect.sklearn.scoring import Scoring

__all__ = ["loo", "rejections_of_file", "select", "train"]

DEFAULT_NU = 0.5  # that of scikit-learn and LIBSVM


def loo(arguments):
    """Run the command `loo` for a one-class model: the exact left-out decision values."""
    check_plotting(None, arguments.report)
    X, data, facts, y = _loaded(arguments)
    model = _model(arguments, nu=arguments.nu or DEFAULT_NU, gamma=arguments.gamma)
    begin = time.perf_counter()
    model.fit(X)
    with progress_bar(1, not arguments.quiet) as report:
        values = model.leave_one_out(report)
    seconds = time.perf_counter() - begin
    score = model.loo_score(arguments.scoring, y) if arguments.scoring else None
    training_rate = float(np.mean(model.predict(X) < 0))
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "loo_rejection_rate": model.loo_rejection_rate_,
        "rejected_rows": data.numbers[values < 0],
        **_rejection_facts(values < 0, data.labels),
        "scoring": arguments.scoring,
        "positive": arguments.positive,
        "score": score,
        "loo_decision_values": values,
        "training_rejection_rate": training_rate,
        "support_vectors": model.support_.size,
        "seconds": seconds,
    }
    rows = [
        *_rejection_rows("leave-one-out", values < 0, data.labels),
        *([(f"leave-one-out {arguments.scoring}", f"{score:.6g}", "")] if arguments.scoring else []),
        ("training rejection rate", percent(training_rate), ""),
        ("support vectors", str(model.support_.size), ""),
        ("time", f"{seconds:.2f} s", ""),
    ]
    if arguments.report:
        numbers = [(name, value) for name, value, _ in rows[:-1]]
        write_page(arguments, facts, [line], numbers, one_class_sections(values, model, data))
    show(result, arguments.json, heading(facts, line) + table(rows))


def train(arguments):
    """Run the command `train` for a one-class model."""
    X, data, facts, _ = _loaded(arguments)
    begin = time.perf_counter()
    model = _model(arguments, nu=arguments.nu or DEFAULT_NU, gamma=arguments.gamma).fit(X)
    seconds = time.perf_counter() - begin
    save(model, data, arguments)
    rejected = model.predict(X) < 0
    parameters, line = described(model, X)
    result = {
        **facts,
        **parameters,
        "training_rejection_rate": rejected.mean(),
        **_rejection_facts(rejected, data.labels),
        "support_vectors": model.support_.size,
        "model": arguments.save,
        "seconds": seconds,
    }
    rows = [
        *_rejection_rows("training", rejected, data.labels),
        ("support vectors", str(model.support_.size), ""),
        ("saved", arguments.save, ""),
        ("time", f"{seconds:.2f} s", ""),
    ]
    show(result, arguments.json, heading(facts, line) + table(rows))


def select(arguments):
    """Run the command `select` for one-class models: by consistency, or by a score of labels."""
    # 1) the search
    check_plotting(arguments.plot, arguments.report)
    check_gamma(arguments)
    X, data, facts, y = _loaded(arguments)
    search = _searched(arguments, X, y)
    # 2) the models in the order of their ranks
    results = search.cv_results_
    key = "score" if arguments.scoring else "loo_rejection_rate"
    columns = {"consistent": results["consistent"], "loo_rejection_rate": results["loo_rejection_rate"]}
    if arguments.scoring:
        columns["score"] = results["mean_test_score"]
    models = [
        {**results["params"][n], **{name: column[n].item() for name, column in columns.items()}}
        for n in np.argsort(results["rank_test_score"], kind="stable")
    ]
    tied = int(np.count_nonzero(results["rank_test_score"] == 1))
    best = clone(search.estimator).set_params(**search.best_params_)
    parameters, line = described(best, X)
    measure = f"leave-one-out {arguments.scoring or 'rejection rate'}"
    result = {
        **facts,
        **parameters,
        "by": "loo",
        "measure": measure,
        **{name: models[0][name] for name in columns},
        "tied": tied,
        "models": models,
        "seconds": search.search_time_,
    }
    # 3) sentences on the choice
    names = [*models[0]]
    titles = {"loo_rejection_rate": "leave-one-out rejection rate", "score": measure}
    shown = [m | {"loo_rejection_rate": percent(m["loo_rejection_rate"])} for m in models]
    by = f"{'' if arguments.scoring else 'consistency, '}{measure} {text(shown[0][key])}"
    all_models = counted(len(models), "model", "models")
    sentence = f"Best of {all_models} by {by}: {line.removeprefix('One-class SVM: ')}"
    remarks = _remarks(arguments, search, tied, models[0]["consistent"])
    rows = [(*m.values(),) for m in shown[: arguments.top]]
    lines = [
        *heading(facts, sentence),
        *table(rows, [titles.get(name, name) for name in names]),
        "",
        *remarks,
    ]
    # 4) files and output
    if arguments.save or arguments.report:
        best.fit(X)
    if arguments.save:
        save(best, data, arguments)
        result["model"] = arguments.save
        lines += table([("saved", arguments.save)])
    if arguments.output:
        write_models(arguments.output, [name for name in names if name != key], key, models)
        result["output"] = arguments.output
    draw = surface if arguments.scoring else rejection_rates
    if arguments.plot:
        plot(draw(search), arguments.plot)
    if arguments.report:
        values = best.loo_decision_
        numbers = [(measure, text(shown[0][key])), ("support vectors", str(best.support_.size))]
        sections = one_class_sections(values, best, data)
        about_all = (draw(search), models, measure, key)
        write_page(arguments, facts, [sentence, *remarks], numbers, sections, about_all)
    show(result, arguments.json, [*lines, *table([("time", f"{search.search_time_:.2f} s")])])


def _loaded(arguments):
    """Return the features, the Table, the facts, and for --scoring the labels as 1 and -1 of a file."""
    scoring, positive = vars(arguments).get("scoring"), arguments.positive
    check_name("--scoring", scoring)
    if positive is not None and scoring is None:
        raise ValueError("--positive is for --scoring: it names the label of rows to accept")
    X, data, facts = load(arguments)
    check_encoding(arguments, data)
    if arguments.command != "train" and X.shape[0] < 2:
        raise ValueError(f"{arguments.file}: leave-one-out needs at least two rows, found one")
    if scoring is None:
        return X, data, facts, None
    # 1) the rows to accept
    if data.labels is None:
        raise ValueError("--scoring needs --label, the column that says which rows are outliers")
    kinds = np.unique(data.labels).tolist()
    accepted = [kind for kind in kinds if _is_label(kind, "1" if positive is None else positive)]
    if not accepted:
        named = ", ".join(kinds)
        if positive is None:
            raise ValueError(
                f"--scoring needs --positive, the label of rows to accept: no label of {named} is 1"
            )
        raise ValueError(f"--positive {positive} is none of the labels {named}")
    if len(accepted) == len(kinds):
        raise ValueError(f"--scoring needs rows of outliers, and the label of all rows is {kinds[0]}")
    y = np.where(np.isin(data.labels, accepted), 1, -1)
    # 2) a rehearsal of the score
    try:
        Scoring(scoring).rehearse(LeftOutOneClass(X, y.astype(np.float64)), y, None)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"--scoring {scoring} is not for one-class models: {error}") from None
    return X, data, facts, y


def _is_label(word, name):
    """Return whether a label is the one of this name: as text, or as a number."""
    return word == name or (is_number(word) and is_number(name) and float(word) == float(name))


def _model(arguments, **parameters):
    """Return the OneClassSVM of the options."""
    return OneClassSVM(**common_options(arguments), **parameters)


def _searched(arguments, X, y):
    """Return the search of the options, after its fit."""
    model = _model(arguments)
    nus = list(DEFAULT["nu"]) if arguments.scoring else [DEFAULT_NU]
    grid = {"nu": nus} | default_grid(model, X)
    options = search_options(arguments, not arguments.quiet)
    return LOOSearchCV(model, grid_of(arguments, grid), scoring=arguments.scoring, **options).fit(X, y)


def _remarks(arguments, search, tied, consistent):
    """Return sentences on the choice."""
    grid, best, remarks = search.param_grid, search.best_params_, []
    if arguments.scoring:
        if tied > 1:
            remarks.append(
                f"{tied} models tie for the best {arguments.scoring}; the first of the grid is chosen"
            )
        return remarks
    if not consistent:
        remarks.append("no model is consistent; the chosen one rejects the fewest standard errors too many")
    elif "gamma" in best and best["gamma"] == max(grid["gamma"]):
        remarks.append("the largest gamma of the grid is consistent; larger ones may be, too")
    if len(grid["nu"]) > 1:
        remarks.append(
            "consistency compares gamma, and a larger nu allows a larger one: it does not choose nu, which "
            "--scoring with --label does"
        )
    return remarks


def _rejected_by_class(rejected, labels):
    """Return the numbers of rejected rows and of all rows of each label.

    It is empty without labels, and with one or very many different ones. An empty text is no label.
    """
    kinds = [] if labels is None else [kind for kind in np.unique(labels).tolist() if kind]
    if not 2 <= len(kinds) <= MOST_CLASSES:
        return {}
    parts = {kind: rejected[labels == kind] for kind in kinds}
    return {kind: (int(part.sum()), part.size) for kind, part in parts.items()}


def _rejection_rows(method, rejected, labels):
    """Return rejection rates, of all rows and of those of each label, as rows of a table."""
    counts = {f"{method} rejection rate": (int(rejected.sum()), rejected.size)}
    counts |= {f"of class {kind}": pair for kind, pair in _rejected_by_class(rejected, labels).items()}
    return [(name, percent(n / m), f"{n} of {m} rows") for name, (n, m) in counts.items()]


def _rejection_facts(rejected, labels):
    """Return the rejected rows of each label, for JSON."""
    return {"rejected_by_class": {kind: n for kind, (n, _) in _rejected_by_class(rejected, labels).items()}}


def rejections_of_file(predicted, labels):
    """Return the numbers of rejected rows, for JSON and as lines; by label where the file has several.

    `labels` are those of the file: words or numbers, or None.
    """
    if isinstance(labels, list):
        labels = np.array(labels)
    elif labels is not None:
        labels = label_names(labels)
    rejected = predicted < 0
    parts = [f"{rejected.sum()} of {rejected.size} rejected"]
    parts += [f"{n} of {m} of class {kind}" for kind, (n, m) in _rejected_by_class(rejected, labels).items()]
    return {"rejected": rejected.sum(), **_rejection_facts(rejected, labels)}, ["; ".join(parts)]
