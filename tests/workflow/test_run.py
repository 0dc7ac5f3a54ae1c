"""One cell without Snakemake."""

import subprocess
import sys

import pytest
from checkouts import ROOT
from lib import run
from lib.rows import read_rows


@pytest.mark.slow
def test_a_cell_of_a_configuration_is_run(computed, franc, tmp_path):
    """Its data and the rows that it is given lie below the working directory."""
    config = computed.configuration(franc)
    command = [
        sys.executable,
        "-m",
        "lib.run",
        "--configfile",
        str(config),
        "--output",
        str(tmp_path / "own.parquet"),
    ]
    done = subprocess.run(
        [*command, "--", "franc2008/test/titanic-table/rbf"],
        cwd=computed.folder,
        env=computed.environment(PYTHONPATH=str(ROOT / "workflow")),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    gathered = read_rows([computed.folder / "results/small/franc2008/rows/test.parquet"])
    rows = read_rows([tmp_path / "own.parquet"])
    assert rows["errors"].tolist() == gathered[gathered["cell"] == "titanic-table/rbf"]["errors"].tolist()
    assert len(done.stdout.splitlines()) == 1 + len(rows) and "estimate" in done.stdout.splitlines()[0]


LINEAR = "franc2008/cells/titanic-table/realisation-1/linear"
NO_DATA = "resources/data/titanic-table.npz"


@pytest.mark.parametrize(("cell", "changed", "sentence"), [
    ("franc2008/cells/titanic", {}, "There is no cell 'franc2008/cells/titanic' among the 5 of this "
     f"configuration; one is '{LINEAR}'."),
    ("wen2017", {}, "There is no cell 'wen2017' among the 5 of"),
    (LINEAR, {}, f"{NO_DATA} is not there: `snakemake --cores 1 {NO_DATA}` makes it."),
    (LINEAR, {"papers": ["wenn2017"]}, "Unknown 'wenn2017' in the configuration's papers; the known ones"),
    (LINEAR, {"timing": "quiet"}, "The configuration's timing is not valid: 'quiet'"),
])  # fmt: skip
def test_a_cell_that_cannot_be_run_is_a_sentence(checkout, franc, monkeypatch, cell, changed, sentence):
    monkeypatch.chdir(checkout.folder)
    config = checkout.configuration({**franc, **changed})
    with pytest.raises(SystemExit) as caught:
        run.main([cell, "--configfile", str(config)])
    assert str(caught.value).startswith(sentence) and "\n" not in str(caught.value)


def test_a_configuration_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(SystemExit, match=r"No such file or directory: '.*nowhere\.yaml'"):
        run.main(["franc2008/cells/x", "--configfile", str(tmp_path / "nowhere.yaml")])
