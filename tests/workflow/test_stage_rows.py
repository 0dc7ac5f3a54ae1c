"""Gathered rows that are damaged, incomplete, doubled or foreign.

Each kind ends in one sentence before anything is drawn, with a remedy that works, and changes no file.
"""

import gzip
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from checkouts import ROOT, SMALL, Checkout
from lib.papers import check_rows
from lib.rows import BOUND_ROWS, write_table
from lib.run import planned

PAPER, STAGE = "chapelle1999", "cells"
ROWS = f"results/paper/{PAPER}/rows/{STAGE}.parquet"
GOOD = (ROOT / ROWS).read_bytes()


@pytest.fixture(scope="module")
def papers():
    return planned(ROOT / "config/paper.yaml")[0]


def table():
    return pq.read_table(pa.BufferReader(GOOD)).replace_schema_metadata()


def flipped(place):
    return GOOD[:place] + bytes([GOOD[place] ^ 1]) + GOOD[place + 1 :]


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 1\n"
# what is no file that this workflow wrote: its bytes
DAMAGED = {
    "empty": b"",
    "cut to half": GOOD[: len(GOOD) // 2],
    "without its last byte": GOOD[:-1],
    "without its first byte": GOOD[1:],
    "a byte more": GOOD + b"\n",
    "the first bytes alone": GOOD[:4],
    "zeros": bytes(len(GOOD)),
    "the beginning zeros": bytes(512) + GOOD[512:],
    "the end zeros": GOOD[:-512] + bytes(512),
    "twice": GOOD + GOOD,
    "line ends of Windows": GOOD.replace(b"\n", b"\r\n"),
    "read as text": GOOD.decode("utf-8", errors="replace").encode(),
    "a page of a server": b"<!DOCTYPE html><html><body>404</body></html>",
    "a pointer of Git LFS": POINTER,
    "marks of a merge": b"<<<<<<< HEAD\n" + GOOD + b"=======\n" + GOOD + b">>>>>>> theirs\n",
    "compressed": gzip.compress(GOOD),
    "a table in CSV": b"paper,cell\nchapelle1999,a\n",
    "JSON": b'{"paper": "chapelle1999"}',
    "a bit of a page": flipped(100),
    "a bit of the middle": flipped(len(GOOD) // 2),
    "a bit of the footer": flipped(len(GOOD) - 100),
    "a bit of the checksum": flipped(GOOD.rindex(b"svmselect_sha256=") + 20),
    "a bit of the checksum's name": flipped(GOOD.rindex(b"svmselect_sha256=")),
    "a bit of the last byte": flipped(len(GOOD) - 1),
}

# the rows as another program writes them, whose file has no checksum or one of the file that it read
OTHER_PROGRAMS = {
    "pandas": lambda path: table().to_pandas().to_parquet(path),
    "every second row by pandas": lambda path: table().to_pandas().iloc[::2].to_parquet(path),
    "all rows twice by pandas": lambda path: pd.concat([table().to_pandas()] * 2).to_parquet(path),
    "without metadata by pyarrow": lambda path: pq.write_table(table(), path),
    "unchanged by pyarrow": lambda path: pq.write_table(pq.read_table(pa.BufferReader(GOOD)), path),
    "another table": lambda path: pd.DataFrame({"x": [1.0]}).to_parquet(path),
}


def changed(**columns):
    """Return the rows with other columns, each an array or a value of all rows."""
    result = table()
    for name, value in columns.items():
        place = result.schema.get_field_index(name)
        value = value if isinstance(value, pa.Array) else pa.array([value] * len(result), pa.string())
        result = result.set_column(place, name, value)
    return result


def cells():
    """Return the names of the cells of all rows, and each name once."""
    names = table()["cell"].to_pylist()
    return np.array(names), list(dict.fromkeys(names))


def rows_of(chosen):
    """Return the rows of some cells."""
    names, _ = cells()
    return table().filter(pa.array(np.isin(names, chosen)))


def renamed():
    names, all_cells = cells()
    return changed(cell=pa.array(["other" if name == all_cells[3] else name for name in names]))


def other_file(path):
    return pq.read_table(ROOT / path).replace_schema_metadata()


# rows with the checksum of this workflow, and what the sentence names
FOREIGN = {
    "no rows": (lambda: table().slice(0, 0), "0 of the 123 cells"),
    "the first row": (lambda: table().slice(0, 1), "1 of the 123 cells"),
    "the first half": (lambda: rows_of(cells()[1][:60]), "60 of the 123 cells"),
    "every second cell": (lambda: rows_of(cells()[1][::2]), "62 of the 123 cells"),
    "all but the last cell": (lambda: rows_of(cells()[1][:-1]), cells()[1][-1]),
    "all but the first cell": (lambda: rows_of(cells()[1][1:]), cells()[1][0]),
    "all rows twice": (lambda: pa.concat_tables([table()] * 2), "twice"),
    "one cell twice": (lambda: pa.concat_tables([table(), rows_of(cells()[1][:1])]), cells()[1][0]),
    "the rows of a cell apart": (
        lambda: table().take(np.random.default_rng(0).permutation(len(table()))),
        "twice",
    ),
    "a cell with another name": (renamed, "'other'"),
    "cells without names": (lambda: changed(cell=None), "None"),
    "another paper's name": (lambda: changed(paper="wen2017"), "'wen2017'"),
    "no paper's name": (lambda: changed(paper=None), "None"),
    "rows of another paper": (lambda: other_file("results/paper/bakir2004/rows/cells.parquet"), "bound"),
    "rows of a paper with the same columns": (
        lambda: other_file("results/paper/sarafis2018/rows/spans.parquet"),
        "C_positive",
    ),
    "all rows failed": (lambda: changed(status="error", reason="too little memory"), "too little memory"),
    "all rows skipped": (lambda: changed(status="skipped", reason="not asked for"), "not asked for"),
    "a column less": (lambda: table().drop_columns(["bound"]), "bound"),
    "a column more": (lambda: table().append_column("remark", pa.array([""] * len(table()))), "remark"),
    "numbers of 32 bits": (lambda: changed(bound=table()["bound"].combine_chunks().cast("float32")), "float"),
    "numbers as text": (lambda: changed(errors="1"), "errors"),
}


@pytest.fixture
def file(tmp_path):
    """A file of good rows among the results of a preset."""
    path = tmp_path / f"{PAPER}/rows/{STAGE}.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(GOOD)
    return path


def refused(papers, path, computed=False):
    """Return the sentence with which a file is refused; nothing in its folder has changed."""
    before = sorted(path.parent.iterdir()), path.is_file() and path.read_bytes()
    with pytest.raises(ValueError, match=re.escape(str(path))) as caught:
        check_rows(papers, str(path.parents[2]), {str(path)}, computed)
    assert (sorted(path.parent.iterdir()), path.is_file() and path.read_bytes()) == before
    sentence = str(caught.value)
    assert "\n" not in sentence and sentence.endswith(".") and "compute" in sentence
    return sentence


def test_committed_rows_are_as_planned(papers):
    read = {
        paper.gathered(stage, "results/paper") for paper in papers.values() for stage in paper.plan.stages
    }
    check_rows(papers, str(ROOT / "results/paper"), {str(ROOT / path) for path in read}, computed=False)
    assert len(read) > 30


def test_only_rows_that_are_read_are_checked(papers, file):
    file.write_bytes(b"")
    check_rows(papers, str(file.parents[2]), {"results/paper/wen2017/rows/seeds.parquet"}, computed=False)


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_rows_are_refused(papers, file, damage):
    file.write_bytes(DAMAGED[damage])
    assert "damaged" in refused(papers, file)


@pytest.mark.parametrize("program", OTHER_PROGRAMS)
def test_rows_that_another_program_wrote_are_refused(papers, file, program):
    OTHER_PROGRAMS[program](file)
    assert "damaged" in refused(papers, file)


@pytest.mark.parametrize("rows", FOREIGN)
def test_rows_of_other_cells_than_planned_are_refused(papers, file, rows):
    make, named = FOREIGN[rows]
    write_table(file, make())
    assert named in refused(papers, file)
    assert "the next run" in refused(papers, file, computed=True)


@pytest.mark.parametrize("kind", ["a folder", "a link to nothing", "a link to a damaged file"])
def test_what_is_no_file_is_refused(papers, file, tmp_path, kind):
    file.unlink()
    if kind == "a folder":
        file.mkdir()
    else:
        file.symlink_to(tmp_path / "elsewhere")
    if kind == "a link to a damaged file":
        (tmp_path / "elsewhere").write_bytes(GOOD[:1000])
    refused(papers, file)
    assert file.is_symlink() == kind.startswith("a link")


def test_rows_of_another_stage_are_refused(papers, tmp_path):
    """The sensitivity of bakir2004 once counted its other rows: 12 of 16 tests held, not 2 of 4."""
    path = tmp_path / "bakir2004/rows/sensitivity.parquet"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "results/paper/bakir2004/rows/cells.parquet", path)
    assert "cell" in refused(papers, path)


def test_more_realisations_than_the_rows_have_are_refused(papers, file):
    plan = papers[PAPER].plan
    (run,) = plan.runs
    longer = replace(run, cells={**run.cells, "width/new/realisation-1": next(iter(run.cells.values()))})
    longer_papers = {PAPER: replace(papers[PAPER], plan=replace(plan, runs=[longer]))}
    assert "width/new/realisation-1" in refused(longer_papers, file)


def test_schemas_of_rows_are_read_as_they_are_written(tmp_path):
    write_table(tmp_path / "rows.parquet", BOUND_ROWS.empty_table())
    assert pq.read_schema(tmp_path / "rows.parquet").remove_metadata().equals(BOUND_ROWS)


def git(checkout, *arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=checkout.folder, capture_output=True, text=True, check=True
    )
    return done.stdout


def changes(checkout):
    return git(checkout, "status", "--porcelain", "--untracked-files=no").split()


@pytest.fixture
def repository(tmp_path):
    """A repository with the committed results of one paper."""
    checkout = Checkout(tmp_path / "clone", linked=False)
    shutil.copytree(ROOT / f"results/paper/{PAPER}", checkout.folder / f"results/paper/{PAPER}")
    git(checkout, "add", "--force", "results")
    git(checkout, "-c", "user.name=me", "-c", "user.email=me", "commit", "--quiet", "--message=results")
    return checkout


DRAW = ("--profile", "profiles/paper", "--cores", "1", f"results/paper/{PAPER}/figure2.pdf")


def test_committed_files_survive_damage_and_the_remedy_works(repository):
    """Snakemake deletes the outputs of a job before the job sees its rows."""
    path = repository.folder / ROWS
    for content in (GOOD[: len(GOOD) // 2], POINTER):
        path.write_bytes(content)
        done = repository.snakemake(*DRAW)
        assert done.returncode == 1 and changes(repository) == ["M", ROWS]
        assert path.read_bytes() == content and "Traceback" not in done.stderr
    remedy = re.search(r"`git (checkout .*?)`", done.stderr)[1]
    git(repository, *remedy.split())
    path.touch()
    done = repository.snakemake(*DRAW)
    assert done.returncode == 0 and changes(repository) == [], done.stderr


def test_a_configuration_that_asks_for_more_than_the_rows_have_draws_nothing(repository):
    more = (*DRAW, "--forceall", "--config", f"{PAPER}={{width: {{realisations: 90}}}}")
    done = repository.snakemake(*more)
    assert done.returncode == 1 and changes(repository) == []
    assert f"{ROWS} has the rows of" in done.stderr and "compute=true" in done.stderr


@pytest.mark.slow
def test_damaged_rows_of_a_run_are_computed_again(small_run):
    """Where rows are computed, nothing is drawn from damaged ones either, and the remedy works."""
    rows, drawn = (f"results/small/{PAPER}/{name}" for name in (f"rows/{STAGE}.parquet", "figure2.csv"))
    path = small_run.folder / rows
    good, before = path.read_bytes(), (small_run.folder / drawn).read_bytes()
    path.write_bytes(good[:-100])
    done = small_run.snakemake("--cores", "1", drawn, config=SMALL)
    assert done.returncode == 1 and f"{rows} is damaged" in done.stderr and "delete it" in done.stderr
    assert (small_run.folder / drawn).read_bytes() == before
    path.unlink()
    done = small_run.snakemake("--cores", "1", rows, drawn, config=SMALL)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == good and (small_run.folder / drawn).read_bytes() == before


def test_committed_rows_are_drawn_by_a_library_of_other_sources(repository):
    """A comment changed in the library stops who computes, and nobody who draws."""
    with (repository.folder / "src/svmselect/atomic.py").open("a") as file:
        file.write("# a comment\n")
    done = repository.snakemake("-n", *DRAW, "--forceall")
    assert done.returncode == 0, done.stdout + done.stderr
    done = repository.snakemake("-n", *DRAW, "--forceall", "--config", "compute=true")
    assert done.returncode == 1 and "make env" in done.stdout + done.stderr
