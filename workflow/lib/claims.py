"""Claims: the numbers that decide each, and a verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd

__all__ = ["at_least", "at_most", "claims_layout", "decide", "number"]

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly reproduced", "not reproduced"
NOT_TESTED = "not tested"


def decide(claims, results):
    """Decide every claim.

    Parameters
    ----------
    claims : dict
        Claim -> who makes it (paper or svmselect), its statement, and its test: a callable that yields the
        numbers (`number`) found in the results.
    results : object
        What the tests are called with.

    Returns
    -------
    verdicts : DataFrame
        One row per claim: ``claim``, ``by`` (paper or svmselect), ``statement``, ``tests``, ``held`` and
        ``verdict``: reproduced if all tests held, not reproduced if none did, not tested if there were none.
    numbers : DataFrame
        One row per number: ``claim``, ``dataset``, ``kernel``, ``quantity``, ``value``, ``limit`` and
        ``holds``, "yes" or "no"; limit and holds are empty where a number only explains others.
    """
    verdicts, numbers = [], []
    for claim, (by, statement, test) in claims.items():
        found = [{"claim": claim, **row} for row in test(results) if not np.isnan(row["value"])]
        numbers += found
        held = [row["holds"] == "yes" for row in found if row["holds"]]
        verdict = PARTLY
        if not held:
            verdict = NOT_TESTED
        elif all(held):
            verdict = REPRODUCED
        elif not any(held):
            verdict = NOT_REPRODUCED
        verdicts.append(
            {
                "claim": claim,
                "by": by,
                "statement": statement,
                "tests": len(held),
                "held": sum(held),
                "verdict": verdict,
            }
        )
    columns = ["claim", "dataset", "kernel", "quantity", "value", "limit", "holds"]
    return pd.DataFrame(verdicts), pd.DataFrame(numbers, columns=columns)


def number(dataset, kernel, quantity, value, limit="", holds=None):
    """One number of a claim: it decides the claim unless `holds` is None; a `limit` says what was claimed."""
    decided = "" if holds is None else "yes" if holds else "no"
    return {
        "dataset": dataset,
        "kernel": kernel,
        "quantity": quantity,
        "value": float(value),
        "limit": limit,
        "holds": decided,
    }


def at_least(dataset, kernel, quantity, value, least):
    """A number that holds from a limit on."""
    return number(dataset, kernel, quantity, value, f">= {least:g}", value >= least)


def at_most(dataset, kernel, quantity, value, most):
    """A number that holds up to a limit."""
    return number(dataset, kernel, quantity, value, f"<= {most:g}", value <= most)


def claims_layout(verdicts, numbers):
    """Columns, body and notes of the claims; one note per data set and kernel where tests did not hold."""
    columns = [("", name) for name in ("Claim", "By", "Statement", "Tests", "Held", "Verdict")]
    body = [[str(value) for value in row] for row in verdicts.itertuples(index=False)]
    notes = []
    for (claim, dataset, kernel), own in numbers.groupby(["claim", "dataset", "kernel"], sort=False):
        if (own["holds"] == "no").any():
            found = [
                f"{row.quantity} {row.value:.3g}" + (f" (claimed: {row.limit})" if row.limit else "")
                for row in own[own["holds"] != "yes"].itertuples()
            ]
            notes.append(f"{claim}, {dataset}, {kernel}: {'; '.join(found)}.")
    return columns, body, notes
