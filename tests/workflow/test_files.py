"""Results appear complete or not at all, whenever the process that writes them is killed."""

import re
import signal
import subprocess
import sys

import pytest
from lib.config import WORKFLOW

# a process that is killed when a file is about to be complete
KILLED = """
import os, signal, sys
sys.path.insert(0, {workflow!r})
from pathlib import Path
import pandas as pd
from lib.figures import panels, save
from lib.files import write_csv, write_text
from lib.tables import write_tidy
from matplotlib.figure import Figure
os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
path = Path(sys.argv[1])
{call}
"""
CALLS = {
    "text": 'write_text(path, "new")',
    "csv": 'write_csv(path, pd.DataFrame({"a": [1]}))',
    "tidy rows": "write_tidy(path, [])",
    "pdf": 'save(panels(1, 1, 2, 2)[0], path, path.with_suffix(".svg"), "title", "description")',
    "svg": """
kill, os.replace = os.replace, lambda *paths: None
savefig = Figure.savefig
def last(figure, file, format, metadata):
    savefig(figure, file, format=format, metadata=metadata)
    if format == "svg":
        os.replace = kill
Figure.savefig = last
save(panels(1, 1, 2, 2)[0], path.with_suffix(".pdf"), path, "title", "description")""",
}


@pytest.mark.parametrize("kind", CALLS)
def test_a_killed_writer_leaves_the_whole_file_of_before(tmp_path, kind):
    path = tmp_path / "file"
    path.write_text("before")
    program = KILLED.format(workflow=str(WORKFLOW), call=CALLS[kind])
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert path.read_text() == "before"


# files of temporary folders, of the kernel, and one whose reader knows cut lines
OTHERS = ("data/fetch.py", "data/registry_entry.py", "lib/timing.py", "lib/checkpoint.py")


def test_no_result_is_written_in_place():
    in_place = re.compile(
        r"\.(write_text|write_bytes)\(|\.to_(csv|json|parquet)\((?!index=|\))|savefig\((?!file, )|"
        r"""open\([^()]*["'][wax]b?["']"""
    )
    in_place_modules = {
        path.relative_to(WORKFLOW).as_posix()
        for path in WORKFLOW.rglob("*.py")
        if in_place.search(path.read_text())
    }
    assert in_place_modules == set(OTHERS)
