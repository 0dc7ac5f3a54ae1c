"""What the tests of the command line share."""

import json

import pytest
from sklearn.model_selection import StratifiedKFold

from svmselect.cli import main
from svmselect.sklearn import SeededCV


@pytest.fixture
def file(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Exit status, output and errors of a command, which works in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        try:
            status = main([*map(str, words), "--quiet"])
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def said(run):
    """The JSON that a command prints."""

    def call(*words):
        status, out, err = run(*words, "--json")
        assert status == 0, err
        return json.loads(out)

    return call


@pytest.fixture
def searched():
    """The search that `svmselect select` does by default: 3 folds with the classes' shares, by the seed 0."""

    def fit(X, y, grid=None, estimator=None, **options):
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        return SeededCV(estimator, grid, cv=folds, **options).fit(X, y)

    return fit
