"""A plugin of pytest: scikit-learn's own tests of SVC and NuSVC with the classes of svmselect in their place.

Writes what became of each test that made or trained one of ours to the file that REPLACED_OUTCOMES names.
"""

import functools
import json
import os

import pytest
import sklearn.svm

from svmselect.sklearn import SVC, NuSVC

used, outcomes = [], {}


def noted(method):
    """The same method, of which each call is noted."""

    @functools.wraps(method)
    def call(self, *arguments, **options):
        used.append(type(self).__name__)
        return method(self, *arguments, **options)

    return call


def pytest_configure():
    for kind in (SVC, NuSVC):
        kind.__init__, kind.fit = noted(kind.__init__), noted(kind.fit)
        setattr(sklearn.svm, kind.__name__, kind)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    used.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and used:
        said = str(call.excinfo.value).strip().splitlines() if call.excinfo else []
        outcomes[item.nodeid.rpartition("/")[2]] = report.outcome, " ".join(said)[:400]
    return report


def pytest_sessionfinish():
    with open(os.environ["REPLACED_OUTCOMES"], "w") as file:
        json.dump(outcomes, file, indent=1)
