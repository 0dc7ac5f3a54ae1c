"""The scorecard: every published figure beside ours, totals per exhibit, and the verdicts on the claims."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.claims import VERDICTS, verdict
from lib.tables import KEY, TIDY_COLUMNS, markdown, short

__all__ = ["COLUMNS", "between", "exhibits", "figures", "markdown_page", "page_values", "totals", "verdicts"]

COLUMNS = [
    "paper",
    *TIDY_COLUMNS,  # as printed
    "reproduced",
    "reproduced_spread",
    "difference",  # reproduced - published; none where seconds of two machines would be compared
    "ratio",  # reproduced / published
    "relative_to",  # the time that both are divided by, each by its own
    "published_relative",
    "reproduced_relative",
    "tolerance",
    "within",  # yes, no, or empty where nothing is decided
    "extrapolated",  # no, reproduced, published or both
    "hardware_dependent",
    "reason",  # why there is nothing, or nothing is decided
]
TOLERANCES = {
    "difference": "difference at most {:g}",
    "share": "difference at most {:g} of the published",
    "deviations": "difference at most {:g} of its standard deviations",
    "factor": "at most {:g} times as large or as small",
}
ROUNDING = 1e-9
NO_CLAIM = "nothing claimed"


def figures(paper, printed, published, reproduced, rules, extrapolated=()):
    """The published figures of one paper beside ours.

    Parameters
    ----------
    paper : str
    printed, published : DataFrame
        Of the same file, made by `lib.published.read_printed` and ``read_published``.
    reproduced : DataFrame or None
        Tidy rows of the exhibits; None if the paper was not run.
    rules : dict
        Metric -> its tolerance: ``figures`` of the paper's claims.yaml.
    extrapolated : collection of (str, str, str, str)
        Exhibit, data set, setting and method of figures that the paper extrapolated itself.

    Returns
    -------
    DataFrame
        One row per printed figure, in their order, with the columns `COLUMNS`, all text.

    Raises
    ------
    ValueError
        If an exhibit has a data set, setting and method of a printed figure but not its metric, or has it in
        another unit, or `rules` lack its metric.
    """
    ours = Reproduced(reproduced)
    theirs = published.fillna({name: "" for name in KEY}).set_index(KEY)["value"].to_dict()
    parts = {}
    for part in published.fillna({name: "" for name in (*KEY, "unit")}).itertuples():
        compared = _compare(paper, part, ours, theirs, rules, extrapolated)
        parts.setdefault(part.Index, []).append(compared)
    empty = {**dict.fromkeys(COLUMNS, ""), "paper": paper}
    rows = [
        {**empty, **figure, **_joined(parts[position])}
        for position, figure in zip(printed.index, printed.to_dict("records"), strict=True)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


class Reproduced:
    """What the exhibits have, and why they lack what they lack."""

    def __init__(self, tidy):
        self.was_run = tidy is not None
        tidy = pd.DataFrame(columns=TIDY_COLUMNS) if tidy is None else tidy
        tidy = tidy.fillna({name: "" for name in (*KEY, "unit")})
        self.rows = {tuple(row[:5]): row for row in tidy[TIDY_COLUMNS].itertuples(index=False)}
        # every beginning of a key: what was made, with which data sets, settings and methods
        self.beginnings = {key[:length] for key in self.rows for length in range(1, 6)}

    def find(self, exhibit, dataset, setting, method, metric, unit=""):
        """Value, spread, whether it is extrapolated, and why there is none (empty if there is one)."""
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


def _compare(paper, part, ours, theirs, rules, theirs_extrapolated):
    """Columns of one printed number beside ours."""
    if part.metric not in rules:
        raise ValueError(f"claims.yaml has no tolerance of the published metric {paper} {part.metric}")
    rule = rules[part.metric]
    place = (part.exhibit, part.dataset, part.setting)
    value, spread, extrapolated, reason = ours.find(*place, part.method, part.metric, part.unit)
    hardware = "factor" in rule or "hardware" in rule
    by = ["reproduced"] if extrapolated else []
    by += ["published"] if (*place, part.method) in theirs_extrapolated else []
    found = {"hardware_dependent": "yes" if hardware else "no", "reason": reason}
    kind = next((kind for kind in TOLERANCES if kind in rule), None)
    if kind:
        found["tolerance"] = TOLERANCES[kind].format(rule[kind])
    if not reason:
        found |= {"reproduced": value, "reproduced_spread": spread}
        found["ratio"] = _ratio(value, part.value)
        if part.unit != "s":
            found["difference"] = value - part.value
    one, other = part.value, value
    if "relative_to" in rule:
        base = (*place, rule["relative_to"]["method"], rule["relative_to"]["metric"])
        found["relative_to"] = " ".join(base[3:])
        one = _ratio(one, theirs.get(base, np.nan))
        base_value, _, base_extrapolated, base_reason = ours.find(*base)
        other = _ratio(other, base_value)
        by += ["reproduced"] if base_extrapolated else []
        by += ["published"] if base[:4] in theirs_extrapolated else []
        found |= {"published_relative": one, "reproduced_relative": other}
        if base[3:] == (part.method, part.metric):
            kind, found["tolerance"] = None, ""
            found["reason"] = reason or "the unit of the other times"
        elif not reason and base_reason:
            found["reason"] = f"nothing to divide by: {base_reason}"
    elif kind is None:
        found["reason"] = reason or rule["why"]
    if kind and np.isfinite(one) and np.isfinite(other):
        within = _within(kind, rule[kind], one, other, part.spread, spread)
        found["within"] = "yes" if within else "no"
    # what is not there is not extrapolated
    sides = {side for side in by if side == "published" or not reason}
    found["extrapolated"] = "both" if len(sides) == 2 else "".join(sides) or "no"
    return found


def _ratio(above, below):
    return above / below if below else np.nan


def _within(kind, tolerance, published, reproduced, *spreads):
    gap = abs(reproduced - published)
    if kind == "factor":
        ratio = _ratio(reproduced, published)
        return 1 / tolerance - ROUNDING <= ratio <= tolerance + ROUNDING
    if kind == "share":
        tolerance *= abs(published)
    elif kind == "deviations":
        tolerance *= np.sqrt(np.nansum(np.square(spreads)))
    return gap <= tolerance + ROUNDING


def _joined(parts):
    """Columns of the numbers of one printed figure, as text; "5x200" is two numbers."""
    if len(parts) == 1:
        return {name: _text(value) for name, value in parts[0].items()}
    texts = [{name: _text(value) for name, value in part.items()} for part in parts]
    joined = {name: value for name, value in texts[0].items() if name not in ("difference", "ratio")}
    if all(part.get("reproduced") for part in texts):
        joined["reproduced"] = "x".join(part["reproduced"] for part in texts)
    if joined.get("within"):
        joined["within"] = "yes" if all(part["within"] == "yes" for part in texts) else "no"
    return joined


def _text(value):
    if isinstance(value, str):
        return value
    return "" if pd.isna(value) else f"{value:.10g}"


def verdicts(claims, decided):
    """The verdicts on the claims of all papers.

    Parameters
    ----------
    claims : dict
        Paper -> what `lib.papers.Paper.judged` says.
    decided : dict of str to DataFrame
        Paper -> its claims.csv; papers that were not run are missing.

    Returns
    -------
    DataFrame
        One row per claim: ``paper``, ``claim``, ``by``, ``statement``, ``test``, ``tolerances`` (limits and
        their reasons), ``assumption``, ``tests``, ``held``, ``verdict``.
    """
    rows = []
    for paper, entry in claims.items():
        own = decided[paper].set_index("claim") if paper in decided else None
        for claim, declared in entry["claims"].items():
            tests, held = (0, 0) if own is None else own.loc[claim, ["tests", "held"]]
            rows.append(
                {
                    "paper": paper,
                    "claim": claim,
                    "by": declared["by"],
                    "statement": declared["statement"],
                    "test": declared["test"],
                    "tolerances": " ".join(
                        _limit(name, entry["limits"][name]) for name in declared.get("limits", [])
                    ),
                    "assumption": declared.get("assumption", ""),
                    "tests": int(tests),
                    "held": int(held),
                    "verdict": verdict(tests, held),
                }
            )
    return pd.DataFrame(rows)


def _limit(name, limit):
    """A limit in words."""
    value = limit["value"]
    if isinstance(value, dict):
        value = "; ".join(
            f"{key} {', '.join(f'{k} {v:g}' for k, v in of.items())}" for key, of in value.items()
        )
    else:
        value = f"{value:g}"
    presets = "".join(f" ({preset}: {other:g})" for preset, other in limit.get("presets", {}).items())
    return f"{name.replace('_', ' ')} {value}{presets}: {limit['why']}"


def exhibits(claims, figures, verdicts, other_rows):
    """Totals of every exhibit.

    Parameters
    ----------
    claims : dict
        As for `verdicts`.
    figures, verdicts : DataFrame
        Of all papers, from the functions of this module.
    other_rows : dict of (str, str) to str
        Paper and exhibit -> the libraries of its rows that are not of the present code, from
        `lib.origins.others`.

    Returns
    -------
    DataFrame
        One row per exhibit: ``paper``, ``exhibit``, ``target``, ``title``, ``run_time``; ``figures``, those
        ``reproduced`` (a number stands beside them), ``compared`` and ``within`` tolerance; ``tests`` of the
        paper's claims about it, and those that ``held``; the ``verdict`` on what is compared and tested,
        `NO_CLAIM` where there is neither; and ``other_libraries``, of its rows.
    """
    rows = []
    for paper, entry in claims.items():
        for exhibit, own in entry["exhibits"].items():
            of = figures[(figures["paper"] == paper) & (figures["exhibit"] == exhibit)]
            names = [
                name
                for name, claim in entry["claims"].items()
                if claim["by"] == "paper" and exhibit in claim["exhibits"]
            ]
            tested = verdicts[(verdicts["paper"] == paper) & verdicts["claim"].isin(names)]
            compared, within = (of["within"] != "").sum(), (of["within"] == "yes").sum()
            tests, held = tested["tests"].sum(), tested["held"].sum()
            rows.append(
                {
                    "paper": paper,
                    "exhibit": exhibit,
                    **{name: own[name] or "" for name in ("target", "title", "run_time")},
                    "figures": len(of),
                    "reproduced": int((of["reproduced"] != "").sum()),
                    "compared": int(compared),
                    "within": int(within),
                    "tests": int(tests),
                    "held": int(held),
                    "verdict": verdict(compared + tests, within + held) if len(of) or names else NO_CLAIM,
                    "other_libraries": other_rows[paper, exhibit],
                }
            )
    return pd.DataFrame(rows)


def page_values(claims, figures, exhibits, verdicts, numbers):
    """What the HTML templates show of the scorecard.

    Parameters
    ----------
    claims : dict
        As for `verdicts`.
    figures, exhibits, verdicts : DataFrame
        Made by the functions of this module.
    numbers : dict of str to DataFrame
        Paper -> its claims_numbers.csv.
    """
    figures = figures.assign(remarks=[_remarks(row) for row in figures.itertuples()])
    tests = {}
    for paper, own in numbers.items():
        for row in own.astype(object).fillna("").to_dict("records"):
            tests.setdefault((paper, row["claim"]), []).append(row)
    return {
        "papers": {paper: entry["name"] for paper, entry in claims.items()},
        "totals": [line.removeprefix("- ") for line in totals(exhibits, verdicts)],
        "exhibits": exhibits.to_dict("records"),
        "claims": {paper: verdicts[verdicts["paper"] == paper].to_dict("records") for paper in claims},
        "figures": {paper: figures[figures["paper"] == paper].to_dict("records") for paper in claims},
        "numbers": {
            (paper, claim): tests.get((paper, claim), [])
            for paper, entry in claims.items()
            for claim in entry["claims"]
        },
    }


def _remarks(row):
    parts = [row.reason]
    if row.relative_to and not row.reason:
        parts.append(f"relative to {row.relative_to}")
    if row.extrapolated != "no":
        parts.append(f"extrapolated: {row.extrapolated}")
    return "; ".join(part for part in parts if part)


# around the totals, which README.md repeats
SUMMARY = ("<!-- scorecard -->", "<!-- end of the scorecard -->")


def between(text):
    """The part of a text from one of the lines `SUMMARY` to the other.

    Raises
    ------
    ValueError
        If one of the lines is not there.
    """
    first, last = SUMMARY
    return text[text.index(first) : text.index(last) + len(last)]


def markdown_page(preset, claims, figures, exhibits, verdicts):
    """The scorecard as Markdown: totals between the lines `SUMMARY`, the exhibits, those of them whose rows
    are not of the present code, the claims, the published figures."""
    lines = [f"# Scorecard of the preset {preset}", "", SUMMARY[0], ""]
    lines += [*markdown(*_papers(claims, exhibits, verdicts), left=1), "", SUMMARY[1], ""]
    lines += [*totals(exhibits, verdicts), ""]
    lines += ["## Exhibits", "", *markdown(*_exhibits(preset, claims, exhibits), left=7), ""]
    lines += [
        "Within: by no more than the tolerances of `claims.yaml` in `workflow/papers/<paper>`, with reasons.",
        "",
    ]
    lines += ["## Rows of another library than the present one", "", *_others_part(claims, exhibits), ""]
    for paper, entry in claims.items():
        lines += [f"## {entry['name']}", "", *_claims_part(verdicts[verdicts["paper"] == paper]), ""]
        lines += [*_figures_part(figures[figures["paper"] == paper]), ""]
    return "\n".join(lines)


def _others_part(claims, exhibits):
    others = exhibits[exhibits["other_libraries"] != ""]
    if others.empty:
        return ["There are none: the present code computed every row."]
    body = [[claims[row.paper]["name"], row.title, row.other_libraries] for row in others.itertuples()]
    return markdown(["Paper", "Exhibit", "Stages and libraries of its rows"], body, left=3)


def _claims_part(verdicts):
    columns = ["claim", "by", "statement", "tests", "held", "verdict"]
    body = verdicts[columns].astype(str).to_numpy().tolist()
    yield from markdown([name.capitalize() for name in columns], body, left=len(columns))
    yield ""
    for row in verdicts[verdicts["assumption"] != ""].itertuples():
        yield f"- Assumption of {row.claim}: {row.assumption}"


# headings of the published figures -> columns of the scorecard
FIGURES = {
    "Exhibit": "exhibit",
    "Data set": "dataset",
    "Setting": "setting",
    "Method": "method",
    "Quantity": "metric",
    "Unit": "unit",
    "Published": "value",
    "Reproduced": "reproduced",
    "Difference": "difference",
    "Ratio": "ratio",
    "Relative, published": "published_relative",
    "Relative, reproduced": "reproduced_relative",
    "Within": "within",
}


def _figures_part(figures):
    if figures.empty:
        return ["The paper prints no numbers."]
    shown = figures.copy()
    computed = [name for name in FIGURES.values() if name not in TIDY_COLUMNS]
    shown[computed] = shown[computed].map(short)
    body = [
        [*values, _remarks(row)]
        for values, row in zip(shown[list(FIGURES.values())].to_numpy(), figures.itertuples(), strict=True)
    ]
    return markdown([*FIGURES, "Remarks"], body, left=len(FIGURES) + 1)


def totals(exhibits, verdicts):
    """Lines that count the published figures, and the verdicts on the claims."""
    figures, reproduced, compared, within = exhibits[["figures", "reproduced", "compared", "within"]].sum()
    yield (
        f"- Published figures: {figures}; a number of ours stands beside {reproduced}; of {compared} that "
        f"are compared, {within} are within tolerance."
    )
    for by, whose in (("paper", "of the papers"), ("svmselect", "of svmselect")):
        own = verdicts.loc[verdicts["by"] == by, "verdict"]
        counts = [f"{(own == word).sum()} {word}" for word in VERDICTS if (own == word).any()]
        yield f"- Claims {whose}: {len(own)}; {', '.join(counts)}."


def _papers(claims, exhibits, verdicts):
    """Headings and body of the table of papers."""
    headings = ["Paper", "Tables and figures", "Printed numbers within tolerance"]
    headings += ["Claims reproduced", "In part", "Not"]
    body = []
    for paper, entry in claims.items():
        of = exhibits[exhibits["paper"] == paper]
        compared = of["compared"].sum()
        own = verdicts[(verdicts["paper"] == paper) & (verdicts["by"] == "paper")]["verdict"].value_counts()
        reproduced, *others = [own.get(word, 0) for word in VERDICTS[:3]]
        within = f"{of['within'].sum()} of {compared}" if compared else "n/a"
        body.append([entry["name"], len(of), within, f"{reproduced} of {own.sum()}", *others])
    body = [[str(cell) for cell in cells] for cells in body]
    return headings, body


def _exhibits(preset, claims, exhibits):
    """Headings and body of the table of exhibits."""
    headings = ["Paper", "Exhibit", "Target", "Run time at full scale", "Published figures within tolerance"]
    headings += ["Tests of the paper's claims that hold", "Verdict"]
    body = []
    for row in exhibits.itertuples():
        within = f"{row.within} of {row.compared}" if row.compared else ""
        if row.figures > row.compared:
            within = f"{within} ({row.figures - row.compared} not compared)".strip()
        target = f"results/{preset}/{row.paper}/{row.target}"
        held = f"{row.held} of {row.tests}" if row.tests else ""
        body.append(
            [claims[row.paper]["name"], row.title, f"`{target}`", row.run_time, within, held, row.verdict]
        )
    return headings, body
