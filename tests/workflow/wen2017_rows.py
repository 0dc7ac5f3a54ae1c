"""Rows that the tests of wen2017's exhibits and claims share."""

import numpy as np
import pandas as pd
from lib.rows import OK
from papers.wen2017.exhibits import figure2, seeds
from workflow.exhibit_calls import tidy_of

SEEDS = ["cold", "ato", "mir", "sir", "avg", "top"]


def made_row(method, fold, n_iter, cpu_s, rounds=None, settings="published", dataset="madelon", **more):
    """A result row; `n_iter` and `cpu_s` are those of each round."""
    k = 20 if fold == "loo" else int(fold)
    rounds = k if rounds is None else rounds
    seeded = method not in ("libsvm", "cold")
    row = {
        "dataset": dataset,
        "settings": settings,
        "fold": fold,
        "method": method,
        "C": 1.0,
        "gamma": 0.5,
        "m": 20,
        "k": k,
        "rounds": rounds,
        "status": OK,
        "estimate": 0.25,
        "rows_tested": 20,
        "errors": 5,
        "gram_cpu_s": np.nan if method == "libsvm" else 1.0,
        "kernel_share": 0.001,
        "kernel_largest": 0.5,
        "round_n_iter": [n_iter] * rounds,
        "round_training_cpu_s": [cpu_s] * rounds,
        "round_seeding_cpu_s": None if method == "libsvm" else [0.0] + [0.1 * seeded] * (rounds - 1),
        "round_kernel_values": None if method == "libsvm" else [100] * rounds,
        "full_n_iter": 50 if method in ("avg", "top") else 0,
        "full_cpu_s": 0.5 if method in ("avg", "top") else 0.0,
        "full_kernel_values": 0,
        "differing_points": [],
        "differing_folds": [],
        "differing_decisions": [],
    }
    return {**row, **more}


# iterations and CPU seconds of one fold
FOLD = {
    "libsvm": (900, 20.0),
    "cold": (900, 0.5),
    "ato": (500, 0.3),
    "mir": (180, 0.2),
    "sir": (180, 0.1),
    "avg": (90, 0.05),
    "top": (90, 0.05),
}


def made_rows(**changes):
    rows = []
    for settings in ("published", "chosen"):
        for fold in ("10", "100", "loo"):
            for method, (n_iter, cpu_s) in FOLD.items():
                rounds = 2 if method == "libsvm" else None
                rows.append(made_row(method, fold, n_iter, cpu_s, rounds, settings, **changes))
    return pd.DataFrame(rows)


def made_along_C():
    return pd.DataFrame(
        {
            "dataset": "madelon",
            "fold": "10",
            "method": method,
            "k": 10,
            "rounds": 10,
            "C": c,
            "cache_mb": cached,
            "status": OK,
            "n_iter": 100 * c,
            "kernel_values": 1000,
            "cpu_s": 0.5,
        }
        for cached in (np.nan, 100.0)
        for c in (1.0, 10.0)
        for method in ("cold", "top", "path")
    )


FACTS = {"sampled": False, "features": {"madelon": 500}}


def tidy_rows(tmp_path, module, rows, part=""):
    """Return the tidy rows of an exhibit, from rows of seeds and of LIBSVM."""
    libsvm = rows["method"] == "libsvm"
    stages = {
        "seeds": rows[~libsvm],
        "libsvm": rows[libsvm],
        "cached": rows[~libsvm & (rows["fold"] != "loo")],
        "along_C": made_along_C(),
    }
    return tidy_of(tmp_path, module, stages, part=part, facts=FACTS, limits={"tie": 1e-3})


def with_unlearning(rows, dataset="madelon", **changes):
    """The rows, and one of unlearning for each of top's, with 1 ms for each fold."""
    entry = rows[(rows["method"] == "top") & (rows["dataset"] == dataset)].assign(method="unlearn", **changes)
    entry["round_seeding_cpu_s"] = entry["round_n_iter"].map(lambda counts: [0.001] * len(counts))
    entry["round_training_cpu_s"] = entry["round_n_iter"].map(lambda counts: [0.0] * len(counts))
    return pd.concat([rows, entry], ignore_index=True)


def drawn(tmp_path, rows):
    """The exhibits that figures draw, by name."""
    return {"figure2": tidy_rows(tmp_path, figure2, rows), "seeds": tidy_rows(tmp_path, seeds, rows)}
