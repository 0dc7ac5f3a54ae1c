"""Probabilities from left-out decision values, and CalibratedClassifierCV: results/calibration.csv, .md.

python benchmarks/calibration.py
python benchmarks/calibration.py --problems heart --realisations 2

Log loss and Brier score on test rows, and CPU time of one thread from the training rows to a classifier with
probabilities, for the same model. README.md has the columns.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import sklearn.svm
from csv_rows import current_rows, write_rows
from problems import registered
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import brier_score_loss, log_loss
from threadpoolctl import threadpool_limits

from svmselect.sklearn import SVC, SeededCV

RESULTS = Path(__file__).resolve().parent / "results" / "calibration.csv"
PROBLEMS = ["heart", "diabetis", "german", "image", "waveform"]
CS = 2.0 ** np.arange(-1, 10, 2)
GAMMAS = 2.0 ** np.arange(-6, 3, 2)  # times that of "scale"
LEAST = 1e-3  # probability that a log loss counts with: isotonic maps are 0 and 1 at their ends


def methods(model):
    """Classifiers with probabilities by name, of one model."""
    found = {}
    for method in ("sigmoid", "isotonic"):
        base = sklearn.svm.SVC(**model)
        found[f"left out, {method}"] = SVC(**model, calibration="loo", calibration_method=method)
        for ensemble in (True, False):
            name = f"CalibratedClassifierCV, {'five' if ensemble else 'one'}, {method}"
            found[name] = CalibratedClassifierCV(base, method=method, cv=5, ensemble=ensemble)
    return found


def compare(name, realisations, repeats):
    """The rows of one problem: a method each."""
    measured = {}
    for realisation in range(1, realisations + 1):
        X, y, X_test, y_test, _ = registered(name).realisation(realisation)
        gamma = 1 / (X.shape[1] * X.var())
        grid = {"C": CS.tolist(), "gamma": (gamma * GAMMAS).tolist()}
        model = SeededCV(param_grid=grid, cv=5, refit=False).fit(X, y).best_params_
        for method, classifier in methods(model).items():
            times = []
            for _ in range(repeats):
                begin = time.process_time()
                classifier.fit(X, y)
                times.append(time.process_time() - begin)
            p = np.clip(classifier.predict_proba(X_test)[:, 1], LEAST, 1 - LEAST)
            positive = y_test == classifier.classes_[1]
            numbers = log_loss(positive, p), brier_score_loss(positive, p), min(times)
            measured.setdefault(method, []).append(numbers)
    ours = np.array(measured["left out, sigmoid"])
    for method, numbers in measured.items():
        numbers = np.array(numbers)
        difference = numbers[:, 0] - ours[:, 0]
        yield {
            "problem": name,
            "rows": y.size,
            "realisations": realisations,
            "method": method,
            "log_loss": f"{numbers[:, 0].mean():.4f}",
            "log_loss_over_sigmoid": f"{difference.mean():.4f}",
            "deviation": f"{difference.std(ddof=1) / np.sqrt(realisations):.4f}",
            "brier": f"{numbers[:, 1].mean():.4f}",
            "cpu_ms": f"{1e3 * numbers[:, 2].mean():.4g}",
        }


def report(rows):
    """The table in Markdown: log loss and time of every method."""
    names = list(dict.fromkeys(row["problem"] for row in rows))
    lines = [f"| method | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for method in dict.fromkeys(row["method"] for row in rows):
        own = {row["problem"]: row for row in rows if row["method"] == method}
        cells = [f"{own[name]['log_loss']} ({float(own[name]['cpu_ms']):.3g} ms)" for name in names]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, metavar="NAME")
    parser.add_argument("--realisations", type=int, default=10, metavar="N")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of each fit; the fastest counts")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="CSV")
    options = parser.parse_args()
    rows = current_rows(options.output)
    done = {row["problem"] for row in rows}
    for name in options.problems:
        if name in done:
            continue
        with threadpool_limits(1):
            for row in compare(name, options.realisations, options.repeats):
                print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
                rows.append(row)
        write_rows(options.output, rows, report(rows))


if __name__ == "__main__":
    main()
