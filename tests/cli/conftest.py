"""What the tests of the command line share."""

import pytest

from svmselect.cli import main


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
        quiet = [] if words[0] == "datasets" else ["--quiet"]
        try:
            status = main([*map(str, words), *quiet])
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    return call
