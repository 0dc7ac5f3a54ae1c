"""Rows that the tests of franc2008's exhibits and claims share."""

import numpy as np
import pandas as pd
from lib.rows import (
    OK,
    pack_bits,
)


def loo_row(realisation, C, gamma, estimate, method="standard", status=OK, **more):
    return {
        "dataset": "d",
        "kernel": "linear" if gamma is None else "rbf",
        "realisation": realisation,
        "C": C,
        "gamma": gamma,
        "method": method,
        "estimate": estimate,
        "status": status,
        **more,
    }


def frame(rows):
    return pd.DataFrame(rows).astype({"gamma": float, "estimate": float})


def cost(cpu_s, columns, solved, certified, retrained=0, **sample):
    costs = {"cpu_s": cpu_s, "columns_requested": columns, "n_solved": solved}
    costs |= {"n_certified": certified, "n_retrained": retrained}
    return {**costs, **sample}


DECISIONS = {"standard": 1e-4, "proposed": -1e-4, "unlearn": 1e-7}


def pattern_rows(exact=-1e-7, **patterns):
    """Rows of one model from each method's error pattern, with the points that differ as a cell has them."""
    columns = list(zip(*patterns.values(), strict=True))
    differ = [i for i, errors in enumerate(columns) if len(set(errors)) > 1]
    rows = []
    for method, pattern in patterns.items():
        more = {"m": len(pattern), "error_pattern": pack_bits(pattern), "differing_points": differ}
        more |= {"differing_decisions": [DECISIONS[method]] * len(differ)}
        more |= {"differing_exact": [exact] * len(differ)}
        rows.append(loo_row(1, 1.0, None, np.mean(pattern), method, **more))
    return rows
