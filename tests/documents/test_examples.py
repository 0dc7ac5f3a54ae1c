"""Each part of the API has examples, and each example prints what its docstring says."""

import doctest
import importlib
import re

import pytest
from checkouts import ROOT

PAGE = (ROOT / "docs/api.rst").read_text()


def parts():
    """The lists of objects on the page on the API, by their full names."""
    for part in PAGE.split(".. currentmodule:: ")[1:]:
        module, *rest = part.splitlines()
        for names in re.findall(r":nosignatures:\n\n((?:   \S+\n)+)", "\n".join(rest) + "\n"):
            yield [f"{module}.{name}" for name in names.split()]


NAMES = [name for part in parts() for name in part]


def imported(name):
    """The object of a name such as ``svmselect.editing.SVM``."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def examples_of(name):
    return doctest.DocTestParser().get_doctest(imported(name).__doc__, {}, name, None, 0)


def test_the_page_is_read():
    assert len(NAMES) > 60 and "svmselect.Gram" in NAMES and "svmselect.editing.SVM" in NAMES


@pytest.mark.parametrize("part", [*parts()], ids=lambda part: part[0])
def test_a_part_has_examples(part):
    assert sum(len(examples_of(name).examples) > 1 for name in part) > 1


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_true(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "agg")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    said = []
    runner.run(examples_of(name), out=said.append)
    assert runner.failures == 0, "".join(said)
