"""The published figures as people read them: a state for each, names in words, digits that matter."""

import math
import re

# what explains a result that is compared, the strongest first
EXPLAINED_BY = WITHIN, PROVED, FOUND_AFTERWARDS, TOO_WIDE, UNDECIDABLE, NOT_EXPLAINED = (
    "within",
    "proved",
    "found afterwards",
    "too wide to decide",
    "undecidable",
    "not explained",
)
UNDECIDED, NOT_RUN = "not decided", "not run"
STATES = *EXPLAINED_BY, UNDECIDED, NOT_RUN

WORDS = {
    "C": "C",
    "accuracy": "accuracy",
    "certified": "signs certain before the end",
    "clean_error": "error without noise",
    "empty_span_sets": "support vectors without a span",
    "error": "error",
    "features": "features",
    "gamma": "gamma",
    "in_bound_svs": "in-bound support vectors",
    "iterations": "iterations",
    "kernel_column_speedup": "kernel columns, standard over this method",
    "kernel_columns": "kernel columns",
    "loo_error": "leave-one-out error",
    "rmse_to_test_error": "root mean square distance to the test error",
    "rows": "rows",
    "subsets": "subsets",
    "svs": "support vectors",
    "test_error": "test error",
    "test_rows": "test rows",
    "time": "time",
    "time_init": "time of the seeds",
    "time_rest": "time of the fits",
    "time_speedup": "time, standard over this method",
    "time_total": "time in all",
    "train_rows": "training rows",
}
METHODS = {
    "ato": "ATO",
    "avg": "AVG",
    "best_on_test": "least test error",
    "kfold": "cross-validation",
    "libsvm": "LIBSVM",
    "loo": "leave-one-out",
    "mir": "MIR",
    "nu_svm": "nu-SVM",
    "proposed": "proposed method",
    "selected_at_smallest_eps": "model selected with the smallest eps",
    "sir": "SIR",
    "standard": "standard method",
    "svm": "SVM",
    "top": "TOP",
    "xi_alpha": "xi-alpha bound",
}
# data sets whose keys, or whose names in printed.csv, do not say what they are
DATASETS = {
    "a1a": "adult (a1a)",
    "breast-cancer-wisconsin": "breast cancer (Wisconsin)",
    "heart-statlog": "heart",
    "iris-versicolor": "iris (versicolor)",
    "parkinson": "Parkinson's speech",
    "parkinsons-speech": "Parkinson's speech",
    "splice-libsvm": "splice (LIBSVM)",
    "titanic-table": "titanic (contingency table)",
    "wdbc": "breast cancer (diagnostic)",
    "wine-1": "wine (first cultivar)",
}
# settings: what is found -> words
SETTINGS = {
    r"^k=(\d+)$": r"\1 folds",
    r"^train=(\d+)$": r"\1 training rows",
    r"^(C|gamma)=(\S+)$": r"\1 \2",
    r"^linear$": "linear kernel",
    r"^rbf$": "RBF kernel",
    r"^published$": "published settings",
}
# words of a cause's key that are written in capitals
CAPITALS = ("ato", "delve", "libsvm", "mir", "qp", "rbf", "sir", "smo")
UNITS = {"percent": "%", "s": "s", "1e6": "millions"}


def shown_figures(figures, remarks):
    """Return the published figures of the scorecard (from `lib.scorecard.figures`) for a page, each with its
    remark: a list of dicts, in their order. An ``id`` is unique on the page, and ``about`` names data set,
    setting and method."""
    entries, numbers = [], {}
    for row, remark in zip(figures.to_dict("records"), remarks, strict=True):
        place = f"{row['paper']}-{row['exhibit']}"
        numbers[place] = numbers.get(place, 0) + 1
        relative = "" if row["published_relative"] == "" else "_relative"
        published = row["published_relative"] if relative else row["value"]
        reproduced = row["reproduced_relative"] if relative else row["reproduced"]
        words = quantity_in_words(row["metric"])
        about = (
            dataset_in_words(row["dataset"]),
            setting_in_words(row["setting"]),
            method_in_words(row["method"]),
        )
        unit = "" if relative else UNITS.get(row["unit"], "")
        entries.append(
            {
                "paper": row["paper"],
                "id": f"{place}-{numbers[place]}",
                "state": state(row),
                "exhibit": exhibit_name(row["exhibit"]),
                "exhibit_key": row["exhibit"],
                "about": ", ".join(filter(None, about)),
                "quantity": f"{words}, {unit}" if unit else words,
                # what is printed is shown as it is printed
                "published": digits(published, row) if relative else published,
                "spread": "" if relative else row["spread"],
                "reproduced": digits(reproduced, row),
                "allowed": allowed(row),
                "variant": digits(row["variant"], row),
                **{name: row[name] for name in ("tolerance", "kind", "cause")},
                "remarks": in_words(remark, row["relative_to"]),
            }
        )
    return entries


def quantity_in_words(metric):
    """Return the name of a metric for readers: ``loo_error`` is the leave-one-out error."""
    return WORDS.get(metric, metric.replace("_", " "))


def method_in_words(method):
    return METHODS.get(method, method.replace("_", " "))


def dataset_in_words(dataset):
    """Return the name of a data set for readers, from its key or its name in a table: ``mnist-2v9`` is MNIST
    2 against 9."""
    words = re.sub(r"(\d)v(\d)$", r"\1 against \2", dataset)
    words = re.sub(r"-(\d+)$", r", \1 features", words)
    words = re.sub(r"-generated$", ", generated", words).replace("-", " ")
    words = re.sub(r"\b(mnist|usps)\b", lambda name: name[0].upper(), words)
    return DATASETS.get(dataset, words)


def setting_in_words(setting):
    """Return a setting in words: ``k=10`` is 10 folds."""
    for pattern, words in SETTINGS.items():
        setting = re.sub(pattern, words, setting)
    return setting.replace("_", " ")


def cause_in_words(cause):
    """Return the name of a cause for readers, from its key: ``cache_for_mir`` is the cache for MIR."""
    return " ".join(word.upper() if word in CAPITALS else word for word in cause.split("_"))


def number_in_words(text):
    """Return the quantity of a number of a claim, with the names of methods, quantities and settings in
    words."""
    text = re.sub(r"\btrain=(\d+)", r"\1 training rows", text)
    text = re.sub(r"\b[a-z]+(?:-[a-z]+)*-\d+\b", lambda key: dataset_in_words(key[0]), text)
    words = {**METHODS, **WORDS}
    return re.sub(
        r"\w+_\w+|\b(?:ato|avg|kfold|loo|mir|sir|svm|svs|top)\b",
        lambda key: words.get(key[0], key[0].replace("_", " ")),
        text,
    )


def about_in_words(text):
    """Return the subject of a number of a claim in words: the data set first, then its rows or a method if
    need be."""
    dataset, *rest = text.split(", ")
    return number_in_words(", ".join([dataset_in_words(dataset), *rest]))


def in_words(remark, unit):
    """Return a remark in which the method that was not run, and the `unit` of relative times (method and
    metric), are in words."""
    remark = re.sub(r"(?<=method not run: )\w+", lambda method: method_in_words(method[0]), remark)
    if not unit:
        return remark
    method, metric = unit.split()
    return remark.replace(unit, f"{method_in_words(method)}, {quantity_in_words(metric)}")


def allowed(row):
    """Return the interval within tolerance as text; of a setting that is a count, "as printed"."""
    if row["kind"] == "setting" and float(row["most"] or 0) - float(row["least"] or 0) == 1:
        return "as printed"
    return " to ".join(digits(row[end], row) for end in ("least", "most") if row[end])


def state(row):
    """Return the one of `STATES` that a figure is in, from its row of the scorecard, a dict of texts."""
    if row["reproduced"] == "":
        return NOT_RUN
    return row["explained_by"] or UNDECIDED


def strip(exhibit):
    """Return the counts behind the verdict on an exhibit, as a strip of colours shows them: pairs of a kind
    and its count, from a row of `lib.scorecard.exhibits` as a dict."""
    counts = {kind: exhibit[f"decided_{column(kind)}"] for kind in EXPLAINED_BY}
    counts["missed"] = exhibit["tests"] - exhibit["held"] + counts.pop(NOT_EXPLAINED)
    return [(kind, int(count)) for kind, count in counts.items() if count]


def column(kind):
    """Return the name of the column that counts results by one of `EXPLAINED_BY`."""
    return kind.replace(" ", "_")


def digits(text, row):
    """Return a number that is text with as many decimals as its tolerance makes matter: two digits of the
    tolerance, or four digits without one. Other text is returned as it is."""
    try:
        value = float(text)
    except ValueError:
        return text
    if text.lstrip("-").isdigit():
        return text  # a count
    if not (row["least"] and row["most"]):
        return f"{value:.4g}"
    width = float(row["most"]) - float(row["least"])
    if not 0 < width < math.inf:
        return f"{value:.4g}"
    decimals = max(0, 1 - math.floor(math.log10(width)))
    return f"{value:.{decimals}f}" if decimals < 8 else f"{value:.4g}"


def exhibit_name(name):
    """Return the name of an exhibit in words: ``table2`` is Table 2."""
    word = name.rstrip("0123456789")
    return f"{word.capitalize()} {name[len(word) :]}".strip()
