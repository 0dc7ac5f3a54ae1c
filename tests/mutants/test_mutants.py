"""The driver of ``make mutants``: its faults, what it leaves out, and the results that are committed."""

import re

import pytest
from mutants import modules
from mutants.mutate import Mutation, apply, mutations
from mutants.run_mutants import HANGS, sample, verdict
from mutants.score import EQUIVALENT, FIELDS, RESULTS, SCORE, VERDICTS, counted, read, report

SOURCE = '''"""A docstring with 1 + 1."""
cimport numpy  # 2 < 3

LIMIT = 1e-10

cdef class Store:
    cdef double *values  # no fault of a declaration

    cdef int find(self, Py_ssize_t i, double tol=0.5) except -1 nogil:
        cdef double *row = <double *> self.at(i - 1)
        if self.full:
            raise ValueError("at most 3")
        self.count += 1
        if i < 0 and not self.empty:
            return -i
        return max(i, 2)
'''


def changes(source):
    return {(fault.line, fault.old, fault.new) for fault in mutations(source)}


def test_every_fault_of_a_source():
    assert changes(SOURCE) == {
        (4, "1e-10", "1e-5"),
        (10, "-", "+"),
        (10, "1", "2"),
        (10, "1", "0"),
        (11, "if", "if not"),
        (13, "self.count += 1", "pass"),
        (13, "+=", "-="),
        (13, "1", "2"),
        (13, "1", "0"),
        (14, "<", "<="),
        (14, "<", ">="),
        (14, "0", "1"),
        (14, "and", "or"),
        (14, "not", ""),
        (15, "-", ""),
        (16, "max", "min"),
        (16, "2", "3"),
        (16, "2", "1"),
    }


@pytest.mark.parametrize("name", [file for module in modules.MODULES for file in modules.files(module)])
def test_every_fault_is_one_change_of_its_line(name):
    source = (modules.LIBRARY / name).read_text()
    faults = mutations(source)
    # what only declares has nothing to change
    assert len(faults) == len(set(faults)) and (faults or "def " not in source)
    for fault in faults:
        changed = apply(source, fault)
        assert changed != source and len(changed) - len(source) == len(fault.new) - len(fault.old)
        assert changed.splitlines()[: fault.line - 1] == source.splitlines()[: fault.line - 1]


def test_a_fault_of_another_source_is_refused():
    with pytest.raises(ValueError, match="line 4 has no 'MOST' at column 0"):
        apply(SOURCE, Mutation(4, 0, "MOST", "LEAST"))


def test_a_sample_is_repeatable_and_grows():
    few, total = sample("svm", 5, seed=1)
    assert sample("svm", 8, seed=1)[0][:5] == few
    assert sample("svm", 5, seed=2)[0] != few
    assert len(sample("svm", 10**6, seed=1)[0]) == total > 50


def test_what_is_left_out_is_there_and_every_nearest_test():
    lines = [
        line.strip()
        for module in modules.MODULES
        for file in modules.files(module)
        for line in (modules.LIBRARY / file).read_text().splitlines()
    ]
    for pattern, reason in modules.NO_ANSWER:
        assert any(re.search(pattern, line) for line in lines), reason
    left_out = [line for line in lines if modules.exemption(line)]
    assert len(left_out) < 0.05 * len(lines)
    for module in modules.MODULES:
        assert all((modules.ROOT / test.split("::")[0]).is_file() for test in modules.nearest(module))
        # what passes without a fault is seen of the wider ones alone
        assert all(test.startswith(tuple(modules.WIDER)) for test in modules.nearest(module))
    assert all((modules.ROOT / test.split("::")[0]).exists() for test in modules.WIDER)


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        (0, "3 passed", ("passed", "")),
        (1, "FAILED a.py::test_b[1 2-c] - assert 1 == 2", ("failed", "a.py::test_b[1 2-c]")),
        (1, "ERROR a.py - ImportError: no", ("failed", "a.py")),
        (1, "Timeout (0:02:00)!\nThread 0x1 (most recent call first):", ("failed", HANGS)),
        (4, "ERROR: not found: a.py::test_b\n", ("passed", "")),
        (4, "ImportError while loading conftest 'conftest.py'.", ("failed", "an error on import")),
        (-11, "Fatal Python error: Segmentation fault", ("failed", "a crash (status -11)")),
    ],
)
def test_what_a_run_of_tests_says(status, text, expected):
    assert verdict(status, text) == expected


def test_a_run_that_says_nothing_is_an_error():
    with pytest.raises(RuntimeError, match="status 5"):
        verdict(5, "no tests ran")


def row(verdict, module="svm", **cells):
    empty = dict.fromkeys(FIELDS, "")
    return {**empty, "module": module, "verdict": verdict, "commit": "c", "seed": "1", **cells}


def test_score():
    equivalent = row("survived", reason=EQUIVALENT + "no value is negative", file="svm.py", line="3")
    rows = [row("killed")] * 17 + [row("survived")] * 2 + [equivalent, row("invalid")]
    rows += [row("killed", "gram")] * 10
    assert counted(rows[:21]) == (17, 3, 1)
    text = report(rows, {"svm": 100, "gram": 300, "loo": 50})
    assert "| `svm` | `c` | 100 | 21 | 17 | 3 | 1 | 89.5 % (68.6 % to 97.1 %) |" in text
    assert "| `gram` | `c` | 300 | 10 | 10 | 0 | 0 | 100.0 % (72.2 % to 100.0 %) |" in text
    # 100 of 400 mutants at 17/19, the others at 1
    assert "| all | | 400 | 31 | | | | 97.4 % (" in text
    assert text.count("none yet") == 2 and "no value is negative" in text


@pytest.mark.skipif(not RESULTS.exists(), reason="no results are committed: make mutants")
def test_the_committed_results_are_whole():
    rows = read(RESULTS)
    assert len({row["seed"] for row in rows}) == 1
    # every module at one commit, or named as not judged
    evaluated = [module for module, _ in {(row["module"], row["commit"]) for row in rows}]
    assert len(evaluated) == len(set(evaluated)) and set(evaluated) <= set(modules.MODULES)
    lines = SCORE.read_text().splitlines()
    for module in modules.MODULES:
        values = [line for line in lines if line.startswith(f"| `{module}` |")]
        assert len(values) == 1 and values[0].endswith("| not judged |") == (module not in evaluated)
    assert {row["verdict"] for row in rows} <= set(VERDICTS)
    assert all(bool(row["killed_by"]) == (row["verdict"] == "killed") for row in rows)
    assert all(row["reason"] for row in rows if row["verdict"] == "survived")
    score = SCORE.read_text()
    assert all(row["commit"][:10] in score for row in rows)
