"""scikit-learn's own tests of SVC and NuSVC, run on ours: what fails is what the documents list, and why."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn
from packaging.version import Version

DOCUMENT = Path(__file__).parents[2] / "docs/develop/scikit_learn_tests.md"
pytestmark = pytest.mark.slow

MODULES = ("sklearn.svm.tests.test_svm", "sklearn.svm.tests.test_sparse")


def documented():
    """The functions of the table: cases that fail, and cases in all."""
    text = DOCUMENT.read_text().partition("<!-- differences -->")[2].partition("<!-- end of the diff")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\d+) of (\d+) \| .+ \|$", text, re.MULTILINE)
    assert len(rows) == text.count("\n|") - 2 == len({name for name, *_ in rows})
    return {name: (int(failed), int(cases)) for name, failed, cases in rows}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of every case that makes or trains one of our classes."""
    release = re.search(r"with scikit-learn (\d+\.\d+),", DOCUMENT.read_text())[1]
    if Version(sklearn.__version__).release[:2] != Version(release).release:
        pytest.skip(f"the table is of scikit-learn {release}, and this is {sklearn.__version__}")
    pytest.importorskip("sklearn.svm.tests")
    folder = tmp_path_factory.mktemp("replaced")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]),
        "REPLACED_OUTCOMES": str(folder / "outcomes.json"),
        "SKLEARN_TESTS_GLOBAL_RANDOM_SEED": "42",
    }
    environment.pop("PYTEST_ADDOPTS", None)
    options = ("-p", "replaced", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--pyargs")
    command = [sys.executable, "-m", "pytest", *options, *MODULES]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads((folder / "outcomes.json").read_text())


def function(case):
    return case.rpartition("::")[2].partition("[")[0]


def test_the_documents_list_what_fails_and_nothing_else(outcomes):
    cases = Counter(map(function, outcomes))
    failed = Counter(function(case) for case, (outcome, _) in outcomes.items() if outcome == "failed")
    assert {outcome for outcome, _ in outcomes.values()} <= {"passed", "failed"}
    assert documented() == {name: (n, cases[name]) for name, n in failed.items()}
    assert f"by {len(cases)} functions" in DOCUMENT.read_text()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_probability", r"probability\b.* True\b"),
        ("test_negative_weight_equal_coeffs", r"sample_weight\b.* -0.5\b"),
        ("test_svm_with_infinite_C", r"C\b.* inf\b"),
        ("test_sparse_precomputed", r"kernel\b.* sparse\b"),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(outcomes, name, said):
    assert all(re.search(said, why) for case, (_, why) in outcomes.items() if function(case) == name and why)
