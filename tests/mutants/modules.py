"""What is mutated, which tests are nearest to it, and what is left out because no answer depends on it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "src" / "svmselect"

NUMERICS = "tests/numerics/"
SENTENCES = "tests/workflow/test_bad_input.py::test_library"
# of each module: its files, and the tests that are run first
MODULES = {
    "_smo": (
        ["solver/_state.pyx", "solver/_smo.pyx"],
        ["test_svm.py", "test_nu.py", "test_path.py", "test_active_set.py", "test_loo.py"],
    ),
    "_active_set": (
        ["solver/_active_set.pyx"],
        ["test_active_set.py", "test_svm.py", "test_bounds_sphere.py"],
    ),
    "_unlearn": (
        [
            "unlearning/_system.pyx",
            "unlearning/_paths.pyx",
            "unlearning/_certify.pyx",
        ],
        [
            *("test_ends.py", "test_tableau.py", "test_unlearn.py", "test_unlearn_folds.py"),
            *("test_loo.py", "test_bounds_spans.py"),
        ],
    ),
    "_blocked": (["solver/_blocked.pyx"], ["test_blocked.py", "test_svm.py"]),
    "kernels": (["kernels", "kernels/_panels.pyx"], ["test_kernels.py", "test_panels.py", "test_gram.py"]),
    "_retrain": (["loo/_retrain.pyx"], ["test_loo.py"]),
    "_columns": (["gram/_columns.pyx"], ["test_gram.py", "test_svm.py"]),
    "gram": (["gram"], ["test_gram.py", SENTENCES, "test_svm.py", "test_threads.py", "test_forks.py"]),
    "loo": (
        ["loo/leave_one_out.py", "loo/sufficiency.py", "unlearning/tableau.py", "unlearning/points.py"],
        ["test_ends.py", "test_tableau.py", "test_loo.py", "test_unlearn.py", "test_bounds_spans.py"],
    ),
    "cv": (["cv"], ["test_cv.py", "test_cv_seeds.py", "test_cv_grid.py", "test_unlearn_folds.py"]),
    "bounds": (["bounds"], ["test_bounds.py", "test_bounds_spans.py", "test_bounds_sphere.py"]),
    "svm": (["svm.py"], ["test_svm.py", SENTENCES, "test_nu.py"]),
}
# then these, as a whole: what is not near may notice too
WIDER = ["tests/fuzz", "tests/numerics", "tests/estimators", "tests/memory", SENTENCES]

# A fault in such a line changes time or memory, or how often somebody is told: no answer, and no promise.
NO_ANSWER = [
    (r"\bWORK_PER_CHECK = |\.(work|unchecked)\b.*[-+]=|\.work = 0", "how often Ctrl-C is looked at"),
    (r"\b(FETCH|FIRST|SMALL|BATCH|BLOCK|KEPT)_\w+ = |\bFEW = ", "how much is computed at once"),
    (r"\b(STEPS|GAP|WORK)_PER_\w+ = |\bSHRINK = ", "when rows are set aside"),
    (
        r"\b(MAX_ROWS|MIN_ROWS|SHARE|LOOSE|STEPS|SAMPLE) = ",
        "when a method takes over, and with how many rows",
    ),
    (r"process_time|perf_counter|cpu_s\b", "time taken"),
    (r"overwrite_[abc]\b|assume_unique", "memory used again"),
]


def files(module: str) -> list[str]:
    """The sources of a module, relative to the library."""
    results = []
    for name in MODULES[module][0]:
        path = LIBRARY / name
        results += sorted(path.glob("*.py")) if path.is_dir() else [path]
    return [str(path.relative_to(LIBRARY)) for path in results]


def exemption(line: str) -> str | None:
    """Why a line is left out, or None."""
    return next((reason for pattern, reason in NO_ANSWER if re.search(pattern, line.strip())), None)


def nearest(module: str) -> list[str]:
    """The tests that are run first, one after another."""
    return [name if "::" in name else NUMERICS + name for name in MODULES[module][1]]
