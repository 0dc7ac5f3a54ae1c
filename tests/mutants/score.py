"""The results of ``make mutants``: what the CSV file holds, and the score that follows from it."""

from __future__ import annotations

import csv
from pathlib import Path

from scipy.stats import binomtest, norm

RESULTS = Path(__file__).with_name("results.csv")
SCORE = Path(__file__).with_name("score.md")
FIELDS = [
    *("commit", "seed", "module", "file", "line", "column", "old", "new", "source"),
    *("verdict", "killed_by", "seconds", "reason"),
]
VERDICTS = ("killed", "survived", "invalid")
# how the reason of a survivor begins that no test can find, since it does what the library does
EQUIVALENT = "equivalent: "


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file of results; none if there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def counted(rows: list[dict[str, str]]) -> tuple[int, int, int]:
    """How many mutants were killed, how many survived, and how many of these are equivalent."""
    killed = sum(row["verdict"] == "killed" for row in rows)
    survived = sum(row["verdict"] == "survived" for row in rows)
    equivalent = sum(row["verdict"] == "survived" and row["reason"].startswith(EQUIVALENT) for row in rows)
    return killed, survived, equivalent


def report(rows: list[dict[str, str]], totals: dict[str, int]) -> str:
    """The score of each module and of all of them, as Markdown.

    Parameters
    ----------
    rows : list of dict
        Of the results.
    totals : dict
        How many mutants each module has, judged or not.
    """
    lines = ["# Mutation score of the core", ""]
    lines += [f"The sample's seed is {seed}." for seed in sorted({row["seed"] for row in rows})]
    lines += [
        "The commit is the last that changed the module before its mutants were judged.",
        "A mutant that does not compile is not counted, nor is one that is equivalent to the library.",
        "A survivor that showed a hole got a test and was judged anew, so this is the score of the tests",
        "that came of the sample; only another seed tells that of tests which have not met it.",
        "Intervals are at 95 %: Wilson's for a module; in the last row each module counts by its mutants.",
        "",
        "| module | commit | mutants | judged | killed | survived | equivalent | score |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    shares = []
    for module, total in totals.items():
        module_rows = [row for row in rows if row["module"] == module]
        killed, survived, equivalent = counted(module_rows)
        n = killed + survived - equivalent
        if n == 0:
            lines.append(f"| `{module}` | | {total} | {len(module_rows)} | | | | not judged |")
            continue
        low, high = binomtest(killed, n).proportion_ci(method="wilson")
        shares.append((total, killed / n, n))
        lines.append(
            f"| `{module}` | `{module_rows[0]['commit'][:10]}` | {total} | {len(module_rows)} | {killed} | "
            f"{survived} | {equivalent} | {percent(killed / n)} ({percent(low)} to {percent(high)}) |"
        )
    everything = sum(total for total, _, _ in shares)
    if shares:
        score = sum(total * share for total, share, _ in shares) / everything
        # where all were killed, the variance is that of one survivor in two mutants more
        variance = sum(
            (total / everything) ** 2 * adjusted * (1 - adjusted) / n
            for total, share, n in shares
            for adjusted in [(share * n + 1) / (n + 2)]
        )
        wide = norm.ppf(0.975) * variance**0.5
        lines.append(
            f"| all | | {everything} | {len(rows)} | | | | {percent(score)} "
            f"({percent(max(score - wide, 0))} to {percent(min(score + wide, 1))}) |"
        )
    survivors = [row for row in rows if row["verdict"] == "survived"]
    lines += ["", "## Survivors", "", "| where | line | fault | reason |", "| --- | --- | --- | --- |"]
    for row in survivors:
        fault = f"{code(row['old'])} -> {code(row['new'])}"
        cells = [f"`{row['file']}:{row['line']}`", code(row["source"]), fault, row["reason"] or "none yet"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def code(text: str) -> str:
    """A text for a cell of a table."""
    return f"`{' '.join(text.split())}`".replace("|", "\\|") if text else "nothing"
