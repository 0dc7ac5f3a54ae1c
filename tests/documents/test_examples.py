"""Every object of the API has an example, and each example prints what its docstring says."""

import doctest
import importlib
import re

import pytest
from checkouts import ROOT

PAGE = (ROOT / "docs/api.rst").read_text()


def named():
    """The objects that the page on the API lists, by their full names."""
    for part in PAGE.split(".. currentmodule:: ")[1:]:
        module, *rest = part.splitlines()
        for lists in re.findall(r":nosignatures:\n\n((?:   \S+\n)+)", "\n".join(rest) + "\n"):
            yield from (f"{module}.{name}" for name in lists.split())


def imported(name):
    """The object of a name such as ``svmselect.editing.SVM``."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_the_page_is_read():
    names = list(named())
    assert len(names) > 60 and "svmselect.Gram" in names and "svmselect.editing.SVM" in names


@pytest.mark.parametrize("name", [*named()])
def test_an_object_has_an_example_that_is_true(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = imported(name).__doc__
    examples = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    assert len(examples.examples) > 1
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE, verbose=False)
    said = []
    runner.run(examples, out=said.append)
    assert runner.failures == 0, "".join(said)
