"""The published figures as people read them: a state for each, names in words, digits that matter."""

import math

# the words of a state; the first is read first
WITHIN, EXPLAINED, NOT_EXPLAINED, UNDECIDABLE, UNDECIDED, NOT_RUN = STATES = (
    "within",
    "explained",
    "not explained",
    "undecidable here",
    "not decided",
    "not run",
)
OF_EXPLAINED = {"yes": EXPLAINED, "no": NOT_EXPLAINED, "undecidable": UNDECIDABLE}

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
UNITS = {"percent": "%", "s": "s", "1e6": "millions"}


def shown_figures(figures, remarks):
    """The published figures of the scorecard (from `lib.scorecard.figures`) for a page, each with its
    remark: a list of dicts, in their order. An ``id`` is unique on the page, and ``about`` names data set,
    setting and method."""
    found, numbers = [], {}
    for row, remark in zip(figures.to_dict("records"), remarks, strict=True):
        place = f"{row['paper']}-{row['exhibit']}"
        numbers[place] = numbers.get(place, 0) + 1
        relative = "" if row["published_relative"] == "" else "_relative"
        published = row["published_relative"] if relative else row["value"]
        reproduced = row["reproduced_relative"] if relative else row["reproduced"]
        words = WORDS.get(row["metric"], row["metric"].replace("_", " "))
        unit = "" if relative else UNITS.get(row["unit"], "")
        found.append(
            {
                "paper": row["paper"],
                "id": f"{place}-{numbers[place]}",
                "state": state(row),
                "exhibit": exhibit_name(row["exhibit"]),
                "exhibit_key": row["exhibit"],
                "about": ", ".join(filter(None, (row["dataset"], row["setting"], row["method"]))),
                "quantity": f"{words}, {unit}" if unit else words,
                # what is printed is shown as it is printed
                "published": digits(published, row) if relative else published,
                "spread": "" if relative else row["spread"],
                "reproduced": digits(reproduced, row),
                "allowed": " to ".join(digits(row[end], row) for end in ("least", "most") if row[end]),
                "variant": digits(row["variant"], row),
                **{name: row[name] for name in ("tolerance", "kind", "cause")},
                "remarks": remark,
            }
        )
    return found


def state(row):
    """Which of `STATES` a figure is in: a row of the scorecard, as a dict of texts."""
    if row["reproduced"] == "":
        return NOT_RUN
    if row["within"] == "yes":
        return WITHIN
    return OF_EXPLAINED[row["explained"]] if row["within"] == "no" else UNDECIDED


def digits(text, row):
    """A number that is text with as many decimals as its tolerance makes matter, two digits of that; without
    a tolerance four digits. Other text as it is."""
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
    """The name of an exhibit in words: ``table2`` is Table 2."""
    word = name.rstrip("0123456789")
    return f"{word.capitalize()} {name[len(word) :]}".strip()
