"""The scorecard: every published figure beside ours, totals per exhibit, the verdicts on the claims, and the
origins of rows."""

from itertools import chain

import numpy as np
import pandas as pd

from lib.causes import cause_of, spreads_of
from lib.claims import VERDICTS, kind_of, verdict
from lib.rows import read_rows
from lib.shown import EXPLAINED_BY, NOT_EXPLAINED, STATES, TOO_WIDE, WITHIN, column, shown_figures, strip
from lib.tables import KEY, TIDY_COLUMNS
from lib.tolerances import ANCHOR, RESULT, SAME, SETTING, Tolerance, rows_of, tolerance

COLUMNS = [
    "paper",
    *TIDY_COLUMNS,  # as printed
    "kind",  # setting, result or anchor
    "rows",  # ours and the paper's: exact, same distribution, other
    "reproduced",
    "reproduced_spread",
    "difference",  # reproduced - published; none where seconds of two machines would be compared
    "ratio",  # reproduced / published
    "relative_to",  # the time that both are divided by, each by its own
    "published_relative",
    "reproduced_relative",
    "least",  # from here
    "most",  # to here ours, relative where there is a unit, is within tolerance
    "tolerance",  # how these come about
    "within",  # yes, no, or empty where nothing is decided or too wide a tolerance holds
    "cause",  # what explains a result that is not within, or was disproved
    "variant",  # what the cause's variant has, or the bound of a proof
    "explained_by",  # one of lib.shown.EXPLAINED_BY; empty where nothing is compared
    "extrapolated",  # no, reproduced, published or both
    "hardware_dependent",
    "reason",  # why there is nothing, or nothing is decided
]
KINDS_COUNTED = [column(kind) for kind in EXPLAINED_BY]
EXHIBIT_COLUMNS = [
    "paper", "exhibit", "target", "title", "run_time", "settings", "settings_within", "anchors",
    "anchors_within", "results", "reproduced", "compared", *KINDS_COUNTED, "tests", "held", "decided",
    *(f"decided_{kind}" for kind in KINDS_COUNTED), "verdict",
]  # fmt: skip
NO_CLAIM = "nothing claimed"
# What a claim declares.
WORDS = ("by", "statement", "text", "test")


def figures(paper, printed, published, reproduced, rules, extrapolated=(), causes=(), stand_ins=None):
    """Return the published figures of one paper beside ours: a DataFrame of text with the columns `COLUMNS`,
    one row per printed figure, in their order. A `ValueError` is raised if an exhibit has a data set, setting
    and method of a printed figure but not its metric, or has it in another unit, or if `rules` lack its
    metric.

    Parameters
    ----------
    paper : str
    printed, published : DataFrame
        The same file as `lib.tolerances.read_printed` and ``read_published`` read it.
    reproduced : DataFrame or None
        Tidy rows of the exhibits; None if the paper was not run.
    rules : dict
        Metric -> its tolerance: those of the paper's printed.yaml.
    extrapolated : collection of (str, str, str, str)
        Exhibit, data set, setting and method of figures that the paper extrapolated itself.
    causes : list of lib.causes.Cause
        What may explain those that are not within. Their ``landed`` is filled in.
    stand_ins : dict, optional
        ``datasets`` has, for data sets of the paper that were not run, one of the same distribution: its name
        ``is``, and the number of rows ``drawn`` anew if the splits are not of the same table. ``whole`` says
        how many runs it needs: the ``runs`` by setting, and the ``exhibit``, ``method`` and ``metric`` that
        count ours.
    """
    ours = Reproduced(reproduced, spreads_of(causes))
    published = published.fillna({name: "" for name in (*KEY, "unit")})
    theirs = published.set_index(KEY)["printed"].to_dict()
    parts = {}
    for part in published.itertuples():
        stand_in = ours.stand_in(part.dataset, part.setting, stand_ins)
        compared, allowed = _compare(paper, part, ours, theirs, rules, extrapolated, stand_in)
        for cause in causes if compared.get("explained_by") else []:
            cause.land(part[1:6], allowed)
        parts.setdefault(part.Index, []).append((part[1:6], compared))
    # a cause explains something once it has landed on all figures
    for key, compared in chain.from_iterable(parts.values()):
        if compared.get("within") == "no":
            compared |= cause_of(causes, key)
    empty = {**dict.fromkeys(COLUMNS, ""), "paper": paper}
    rows = [
        {**empty, **figure, **_joined([compared for _, compared in parts[position]])}
        for position, figure in zip(printed.index, printed.to_dict("records"), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


class Reproduced:
    """The tidy rows of the exhibits, and the reasons for missing values."""

    def __init__(self, tidy, spreads):
        self.spreads = spreads
        self.was_run = tidy is not None
        tidy = pd.DataFrame(columns=TIDY_COLUMNS) if tidy is None else tidy
        tidy = tidy.fillna({name: "" for name in (*KEY, "unit")})
        self.rows = {tuple(row[:5]): row for row in tidy[TIDY_COLUMNS].itertuples(index=False)}
        # every beginning of a key: what was made, with which data sets, settings and methods
        self.beginnings = {key[:length] for key in self.rows for length in range(1, 6)}

    def find(self, exhibit, dataset, setting, method, metric, unit=""):
        """Return value, spread, whether it is extrapolated, and why there is no value (empty if there is
        one)."""
        key = (exhibit, dataset, setting, method, metric)
        row = self.rows.get(key)
        guess = self.rows.get((*key[:4], f"{metric}_extrapolated"))
        if row is None and guess is not None:
            return guess.value, guess.spread, True, ""
        if row is None:
            return np.nan, np.nan, False, self._absent(*key)
        if unit and row.unit != unit:
            raise ValueError(f"{key} is printed in {unit!r} and reproduced in {row.unit!r}")
        if pd.isna(row.value):
            return np.nan, np.nan, False, "no run succeeded"
        rounds = self.rows.get((*key[:4], "rounds"))
        partial = rounds is not None and rounds.value < int(setting.removeprefix("k="))
        return row.value, row.spread, partial, ""

    def stand_in(self, dataset, setting, declared):
        """Return the declared data set that stands for one that was not run, if all of its runs are there;
        else None."""
        other = (declared or {}).get("datasets", {}).get(dataset)
        if other is None or any(key[1] == dataset for key in self.rows):
            return None
        whole = declared["whole"]
        runs = self.rows.get((whole["exhibit"], other["is"], setting, whole["method"], whole["metric"]))
        return other if runs is not None and runs.value == whole["runs"][setting] else None

    def known(self, rule, place, part):
        """Return the facts of our result that a tolerance needs: our draws, those of the paper, and points;
        for single draws also their spread, if it was measured."""
        method, dataset = part.method, part.dataset
        draws = rule.get("draws", {})
        theirs = draws.get("theirs", np.nan)
        if isinstance(theirs, dict):
            theirs = theirs.get(dataset, theirs["others"])
        points = [self._number(name, place, method) for name in rule.get("points", [])]
        one_draw = self.spreads.get(tuple(part[1:6]))
        number = self._number(draws.get("ours"), place, method)
        if one_draw is None or number > 1:
            return {"draws": number, "theirs": theirs, "points": points, "chosen": one_draw or 0.0}
        return {"spread": one_draw, "draws": 1, "theirs": 1, "measured": True, "points": points}

    def _number(self, name, place, method):
        """Return a number of the same place, of the method or of no method. A name such as
        ``table1/test_rows`` looks for the data set in another exhibit. Return NaN if there is none."""
        exhibit, _, metric = (name or "").rpartition("/")
        beginning = (exhibit, place[1]) if exhibit else place
        for row_method in (method, ""):
            for key, row in self.rows.items():
                if key[: len(beginning)] == beginning and key[3:] == (row_method, metric):
                    return row.value
        return np.nan

    def _absent(self, *key):
        if not self.was_run:
            return "the paper was not run"
        names = ("exhibit", "data set", "setting", "method")
        for length, name in enumerate(names, 1):
            if key[:length] not in self.beginnings:
                return f"{name} not run: {key[length - 1]}" if length > 1 else f"{key[0]} was not made"
        if any(other[:4] == key[:4] and other[4].endswith("_extrapolated") for other in self.rows):
            return "not run at this size, and not extrapolated"
        raise ValueError(f"the results have no {key[4]} of the published {key[:4]}")


def _compare(paper, part, ours, theirs, rules, theirs_extrapolated, stand_in):
    """Return the columns of one printed number beside ours, or beside that of the stand-in, and its
    tolerance."""
    # our number for the printed one, by another method if the rule says so
    rule = rules.get(f"{part.exhibit}/{part.metric}", rules.get(part.metric))
    if rule is None:
        raise ValueError(f"printed.yaml has no tolerance of the published metric {paper} {part.metric}")
    printed = (part.exhibit, part.dataset, part.setting)
    place = (part.exhibit, stand_in["is"] if stand_in else part.dataset, part.setting)
    value, spread, extrapolated, reason = ours.find(*place, part.method, part.metric, part.unit)
    if reason and part.method in rule.get("instead", {}):
        method = rule["instead"][part.method]
        value, spread, extrapolated, reason = ours.find(*place, method, part.metric, part.unit)
    # columns of the comparison as it stands
    hardware = "relative_to" in rule or "hardware" in rule
    by = ["reproduced"] if extrapolated else []
    by += ["published"] if (*printed, part.method) in theirs_extrapolated else []
    rows = SAME if stand_in else rows_of(rule, part.dataset, part.method)
    columns = {"kind": rule["kind"], "rows": rows, "hardware_dependent": "yes" if hardware else "no"}
    if not reason:
        columns |= {"reproduced": value, "reproduced_spread": spread}
        columns["ratio"] = _ratio(value, part.value)
        if part.unit != "s":
            columns["difference"] = value - part.value
    # times: both are divided by the time of their unit
    base_printed = None
    if "relative_to" in rule:
        unit = (rule["relative_to"]["method"], rule["relative_to"]["metric"])
        base = (*printed, *unit)
        columns["relative_to"] = " ".join(unit)
        base_printed = theirs.get(base)
        base_value, _, base_extrapolated, base_reason = ours.find(*place, *unit)
        value = _ratio(value, base_value)
        by += ["reproduced"] if base_extrapolated else []
        by += ["published"] if base[:4] in theirs_extrapolated else []
        relative = _ratio(part.value, float(base_printed or np.nan))
        columns |= {"published_relative": relative, "reproduced_relative": value}
        if base[3:] == (part.method, part.metric):
            reason = reason or "the unit of the other times"
        elif not reason and base_reason:
            reason = f"nothing to divide by: {base_reason}"
    elif "hardware" in rule:
        reason = reason or rule["why"]
    # the tolerance, unless there is a reason not to decide
    allowed = Tolerance()
    if not reason:
        known = {"value": value, "spread": spread, **ours.known(rule, place, part)}
        known["drawn"] = stand_in.get("drawn", np.nan) if stand_in else np.nan
        allowed = tolerance(
            rule, rows, part.printed, unit=part.unit, spread=part.spread, ours=known, base=base_printed
        )
        columns |= {"least": allowed.least, "most": allowed.most, "tolerance": allowed.words}
        reason = allowed.undecided
        if not reason:
            holds = allowed.holds(value)
            columns["explained_by"] = NOT_EXPLAINED if not holds else TOO_WIDE if allowed.wide else WITHIN
            columns["within"] = "no" if not holds else "" if allowed.wide else "yes"
    columns["reason"] = reason
    # what is not there is not extrapolated
    sides = {side for side in by if side == "published" or "reproduced" in columns}
    columns["extrapolated"] = "both" if len(sides) == 2 else "".join(sides) or "no"
    return columns, allowed


def _ratio(above, below):
    return above / below if below else np.nan


def _joined(parts):
    """Return the columns of the numbers of one printed figure, as text; "5x200" is two numbers."""
    texts = [{name: _text(value) for name, value in part.items()} for part in parts]
    first, *rest = texts
    if rest:
        joined = {name: first[name] for name in first if name not in ("difference", "ratio")}
        if all(part.get("reproduced") for part in texts):
            joined["reproduced"] = "x".join(part["reproduced"] for part in texts)
        if joined.get("within"):
            worst = max(texts, key=lambda part: EXPLAINED_BY.index(part["explained_by"]))
            joined |= {name: worst[name] for name in ("within", "explained_by")}
        return joined
    return first


def _text(value):
    if isinstance(value, str):
        return value
    return f"{value:.10g}" if np.isfinite(value) else ""


def verdicts(claims, decided):
    """Return the verdicts on the claims of all papers, a DataFrame of one row per claim.

    `claims` are from `lib.papers.Paper.scorecard_entry`, by paper; `decided` is each paper's claims.csv, and
    lacks papers that were not run. ``text`` are the words of the paper, and ``tolerances`` the limits and
    their reasons.
    """
    rows = []
    for paper, entry in claims.items():
        decisions = decided[paper].set_index("claim") if paper in decided else None
        for claim, declared in entry["claims"].items():
            tests, held = (0, 0) if decisions is None else decisions.loc[claim, ["tests", "held"]]
            limits = [_limit(name, entry["limits"][name]) for name in declared.get("limits", [])]
            words = [declared.get(name, "") for name in WORDS]
            counts = int(tests), int(held), verdict(tests, held)
            rows.append([paper, claim, *words, " ".join(limits), declared.get("assumption", ""), *counts])
    columns = ["paper", "claim", *WORDS, "tolerances", "assumption", "tests", "held", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _limit(name, limit):
    """Return a limit in words."""

    def words(value):
        if isinstance(value, dict):
            return ", ".join(f"{key} {words(part)}" for key, part in value.items())
        return f"{value:g}"

    value = words(limit["value"])
    return f"{name.replace('_', ' ')} {value}: {limit['why']}"


def exhibits(claims, figures, verdicts):
    """Return the totals of every exhibit, a DataFrame of one row for each, from the DataFrames of all papers
    that this module made; `claims` is as for `verdicts`.

    ``settings`` and ``anchors`` count the decided ones that an exhibit prints, ``..._within`` those within
    tolerance. ``results`` counts all results, ``reproduced`` those beside which a number of ours stands, and
    ``compared`` those with a tolerance, which `KINDS_COUNTED` divide. ``tests`` are those of the paper's
    claims about the exhibit. The ``verdict`` is on results, anchors and tests, or on the settings if there
    are no others; `NO_CLAIM` if there is nothing. It counts the ``decided`` ones: ``decided_within`` are
    within tolerance or hold, and ``decided_...`` divide the misses.
    """
    rows = []
    for paper, entry in claims.items():
        for exhibit, exhibit_entry in entry["exhibits"].items():
            # the printed figures by kind, and the paper's claims about the exhibit
            printed_figures = figures[(figures["paper"] == paper) & (figures["exhibit"] == exhibit)]
            names = [
                name
                for name, claim in entry["claims"].items()
                if claim["by"] == "paper" and exhibit in claim["exhibits"]
            ]
            tested = verdicts[(verdicts["paper"] == paper) & verdicts["claim"].isin(names)]
            settings, anchors, results = (
                printed_figures[printed_figures["kind"] == kind] for kind in (SETTING, ANCHOR, RESULT)
            )
            # counts; the verdict counts settings only if there is nothing else
            axes, setup = _decided(anchors), _decided(settings)
            tests = tested[["tests", "held"]].sum()
            counted = settings if results.empty and not names else pd.concat([anchors, results])
            decided, within = map(sum, zip(_decided(counted), tests, strict=True))
            kinds, decided_kinds = _by_kind(results), _by_kind(counted[counted["within"] != ""])
            rows.append(
                {
                    "paper": paper,
                    "exhibit": exhibit,
                    **{name: exhibit_entry[name] or "" for name in ("target", "title", "run_time")},
                    "settings": setup[0],
                    "settings_within": setup[1],
                    "anchors": axes[0],
                    "anchors_within": axes[1],
                    "results": len(results),
                    "reproduced": (results["reproduced"] != "").sum(),
                    "compared": sum(kinds.values()),
                    **kinds,
                    **tests,
                    "decided": decided,
                    **{f"decided_{kind}": count for kind, count in decided_kinds.items()},
                    "decided_within": within,
                    "verdict": verdict(decided, within)
                    if len(results) or len(settings) or names
                    else NO_CLAIM,
                }
            )
    return pd.DataFrame(rows, columns=EXHIBIT_COLUMNS)


def _decided(figures):
    """Return how many of some figures are decided, and how many of these are within tolerance."""
    return (figures["within"] != "").sum(), (figures["within"] == "yes").sum()


def _by_kind(figures):
    """Return how many of some figures have each of `EXPLAINED_BY`."""
    counts = figures["explained_by"].value_counts()
    return {column(kind): counts.get(kind, 0) for kind in EXPLAINED_BY}


def page_values(claims, figures, exhibits, verdicts, numbers, causes):
    """Return the values that the HTML templates show of the scorecard, from the DataFrames of all papers that
    the functions of this module and `lib.causes.cause_table` made. `numbers` is the claims_numbers.csv of
    each paper."""
    shown = shown_figures(figures, list(map(_remarks, figures.itertuples())))
    numbers = {paper: frame.astype(object).fillna("") for paper, frame in numbers.items()}

    def tests(paper, claim):
        paper_numbers = numbers.get(paper)
        return (
            [] if paper_numbers is None else paper_numbers[paper_numbers["claim"] == claim].to_dict("records")
        )

    def by_paper(frame):
        return {paper: frame[frame["paper"] == paper].to_dict("records") for paper in claims}

    return {
        "papers": {paper: entry["name"] for paper, entry in claims.items()},
        "totals": [line.removeprefix("- ") for line in totals(exhibits, verdicts)],
        "exhibits": [{**row, "strip": strip(row)} for row in exhibits.to_dict("records")],
        "kinds": EXPLAINED_BY,
        "states": [state for state in STATES if any(row["state"] == state for row in shown)],
        "causes": by_paper(causes),
        "claims": by_paper(verdicts),
        "figures": {paper: [row for row in shown if row["paper"] == paper] for paper in claims},
        "numbers": {
            (paper, claim): tests(paper, claim) for paper in claims for claim in claims[paper]["claims"]
        },
    }


def _remarks(row):
    parts = [row.reason]
    if row.relative_to and not row.reason:
        parts.append(f"relative to {row.relative_to}")
    if row.extrapolated != "no":
        parts.append(f"extrapolated: {row.extrapolated}")
    return "; ".join(part for part in parts if part)


def totals(exhibits, verdicts):
    """Yield lines that count the published figures and the verdicts on the claims."""
    results, reproduced, compared = exhibits[["results", "reproduced", "compared"]].sum()
    kinds = ", ".join(f"{exhibits[column(kind)].sum()} {kind}" for kind in EXPLAINED_BY)
    settings, settings_within = exhibits[["settings", "settings_within"]].sum()
    yield (
        f"- Published results: {results}; a number of ours stands beside {reproduced}; {compared} are "
        f"compared: {kinds}."
    )
    if settings:
        yield f"- Published settings, counted apart: {settings}; {settings_within} are as printed."
    anchors, anchors_within = exhibits[["anchors", "anchors_within"]].sum()
    if anchors:
        yield f"- Ends of axes that the texts give: {anchors}; {anchors_within} are not exceeded."
    for by, whose in (("paper", "of the papers"), ("svmselect", "of svmselect")):
        kinds = verdicts.loc[verdicts["by"] == by, "verdict"].map(kind_of)
        counts = [f"{(kinds == word).sum()} {_some(word)}" for word in VERDICTS if (kinds == word).any()]
        yield f"- Claims {whose}: {len(kinds)}; {', '.join(counts)}."


def _some(word):
    return f"{word} some tests" if word == VERDICTS[1] else word


def paper_table(names, exhibits, verdicts):
    """Return headings and body of the table of all papers, whose `names` are by key. It has a column for each
    paper, and a row for each verdict on results and on claims that any of them has."""
    columns = [
        ["Results: within tolerance"]
        + [f"Results: {kind}" for kind in EXPLAINED_BY[1:]]
        + [f"Claims: {_some(word)}" for word in VERDICTS]
    ]
    for paper in names:
        paper_exhibits = exhibits[exhibits["paper"] == paper]
        compared = paper_exhibits["compared"].sum()
        paper_verdicts = verdicts.loc[(verdicts["paper"] == paper) & (verdicts["by"] == "paper"), "verdict"]
        counts = paper_verdicts.map(kind_of).value_counts()
        reproduced, *other_counts = [counts.get(word, 0) for word in VERDICTS]
        within, *misses = paper_exhibits[KINDS_COUNTED].sum()
        results = [f"{within} of {compared}", *misses]
        if not compared:
            results = ["n/a"] * len(results)
        columns.append([*results, f"{reproduced} of {len(paper_verdicts)}", *other_counts])
    rows = [[str(cell) for cell in row] for row in zip(*columns, strict=True)]
    return ["", *names.values()], [row for row in rows if set(row[1:]) - {"0", "n/a"}]


ORIGIN = ["library", "commit", "cpu"]
ORIGIN_COLUMNS = ["paper", "stage", *ORIGIN, "rows"]


def libraries(paths, stages):
    """Return the libraries that rows come from: one line per stage, library, commit and processor, with the
    columns `ORIGIN_COLUMNS`. Commit and processor are empty if rows do not say. `paths` are files of rows,
    `stages` the paper and the stage of each."""
    lines = [
        (*stage, *origin, count)
        for path, stage in zip(paths, stages, strict=True)
        for origin, count in _origins(path).value_counts().sort_index().items()
    ]
    return pd.DataFrame(lines, columns=ORIGIN_COLUMNS)


def _origins(path):
    """Return the columns `ORIGIN` of a file of rows, empty if rows do not say."""
    return read_rows([path])[ORIGIN].astype(object).fillna("")


def row_origins(libraries):
    """Return the runs that rows come from, those with most rows first: dicts with the columns `ORIGIN`, their
    number of ``rows`` and their ``stages``, as text. `libraries` is from the function of this name."""
    runs = [
        {
            **dict(zip(ORIGIN, origin, strict=True)),
            "rows": int(lines["rows"].sum()),
            "stages": [f"{line.paper}/{line.stage}" for line in lines.itertuples()],
        }
        for origin, lines in libraries.groupby(ORIGIN, sort=False)
    ]
    return sorted(runs, key=lambda run: -run["rows"])


def with_origins(places, libraries):
    """Return how each exhibit is made (see `lib.papers.Paper.places`), by paper and exhibit, with the
    ``origins`` of its rows, lines of `libraries` as dicts."""
    with_lines = {}
    for paper, paper_places in places.items():
        paper_lines = libraries[libraries["paper"] == paper]
        for exhibit, place in paper_places.items():
            origins = paper_lines[paper_lines["stage"].isin(place["stages"])].to_dict("records")
            with_lines[paper, exhibit] = {**place, "origins": origins}
    return with_lines
