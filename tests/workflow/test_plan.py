"""Planning names what a paper lacks, and the file where it should be."""

import shutil
from dataclasses import replace

import pytest
from checkouts import ROOT
from lib import papers
from lib.plan import Cell, Plan, Run, check_plan, functions_of

RUN = Run("fits", "cells.run_fits", "TEST_ROWS", {"heart/linear": Cell("heart")}, {"timing": "shared"})


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cells.py").write_text("def run_fits(job, settings):\n    return []\n")
    return tmp_path


def test_complete_plan_is_accepted(folder):
    check_plan("toy", Plan([RUN], ["heart"]), folder)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"function": "cells.run_fit"}, ["run_fit", "cells.py"]),
        ({"function": "other.run_fits"}, ["run_fits", "other.py"]),
        ({"schema": "FIT_ROWS"}, ["FIT_ROWS", "rows.py"]),
        ({"settings": {}}, ["'timing'", "plan.py"]),
        ({"after": ["choice"]}, ["choice", "plan.py"]),
    ],
)
def test_what_a_run_needs_is_named_where_it_lacks(folder, changed, words):
    with pytest.raises(ValueError) as caught:
        check_plan("toy", Plan([replace(RUN, **changed)], ["heart"]), folder)
    assert [word for word in ["fits", *words] if word not in str(caught.value)] == []


def test_functions_of_a_module_are_those_it_defines_or_imports(folder):
    path = folder / "more.py"
    path.write_text("from cells import run_fits as run\nplan_a = plan_b = None\nclass Results: pass\n")
    assert {"run", "plan_a", "plan_b", "Results"} <= functions_of(path)
    assert functions_of(folder / "none.py") == set()


@pytest.mark.parametrize("name", ["plan.py", "config.schema.yaml", "printed.yaml"])
def test_files_of_a_paper_are_named_where_they_lack(tmp_path, monkeypatch, name):
    monkeypatch.setattr(papers, "FOLDER", tmp_path)
    shutil.copytree(ROOT / "workflow/papers/wen2017", tmp_path / "wen2017")
    (tmp_path / "wen2017" / name).unlink()
    with pytest.raises(ValueError, match=name.replace(".", r"\.")):
        papers.load_papers()


def test_jobs_have_the_cells_whose_names_begin_alike():
    names = ["heart/realisation-1/linear", "heart/realisation-2/linear", "iris/realisation-1/linear"]
    cells = {name: Cell(name.split("/")[0]) for name in names}
    for level, jobs, log in [
        (None, names, "fits/{job}.log"),
        (2, ["heart/realisation-1", "heart/realisation-2", "iris/realisation-1"], "fits/{job}.log"),
        (0, [""], "fits.log"),
    ]:
        run = replace(RUN, cells=cells, level=level)
        assert (list(run.jobs), run.log) == (jobs, log)
    assert run.files == names
    assert run.cells_of({}) == cells
    assert replace(run, level=2).files == ["{job}/linear"]
    with pytest.raises(ValueError, match="iris/realisation-2"):
        replace(run, level=2).cells_of({"job": "iris/realisation-2"})


def test_cells_that_end_otherwise_in_another_job_are_refused(folder):
    cells = {"heart/linear": Cell("heart"), "iris/rbf": Cell("iris")}
    with pytest.raises(ValueError, match="fits"):
        check_plan("toy", Plan([replace(RUN, cells=cells, level=1)], ["heart", "iris"]), folder)
