"""A checkout in a temporary folder in which snakemake runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
# the demo, cut down, and the rows of one paper in it
SMALL = yaml.safe_load((ROOT / "tests/small.yaml").read_text())
FRANC_ROWS = [f"results/small/franc2008/rows/{stage}.parquet" for stage in ("cells", "stopping", "test")]
SOURCES = ("Snakefile", "config", "environment.yml", "meson.build", "profiles", "src", "workflow")


class Checkout:
    """A folder with links to the sources: results, logs and Snakemake's records of a test stay in it.

    With `linked=False` it has copies of them, and is a repository of its own, whose commit is `commit`.
    """

    def __init__(self, folder, linked=True):
        self.folder = folder
        if linked:
            for name in SOURCES:
                (folder / name).symlink_to(ROOT / name)
            return
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *SOURCES]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in names.split("\0")[:-1]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        me = ["-c", "user.name=me", "-c", "user.email=me"]
        for command in (["init", "--quiet"], ["add", "."], [*me, "commit", "--quiet", "--message=copy"]):
            subprocess.run(["git", *command], cwd=folder, check=True)
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
        )
        self.commit = head.stdout.strip()

    def snakemake(self, *arguments, config=None, **environment):
        """Run snakemake on a configuration (dict, laid over the demo's); return the finished process.

        Further keywords are variables of its environment.
        """
        return subprocess.run(
            self._command(arguments, config),
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *arguments, config=None, **environment):
        """The same, running, in a process group of its own; its output goes to ``started.log``."""
        with open(self.folder / "started.log", "w") as log:
            return subprocess.Popen(
                self._command(arguments, config),
                cwd=self.folder,
                env=self.environment(**environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _command(self, arguments, config):
        command = [sys.executable, "-m", "snakemake"]
        if config is not None:
            command += ["--configfile", str(self.configuration(config))]
        return [*command, *arguments]

    def configuration(self, config):
        """A file of this configuration."""
        path = self.folder / "test.yaml"
        path.write_text(yaml.safe_dump(config))
        return path

    def environment(self, **more):
        """Variables of processes that run in it."""
        return {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **more}


# Added to the cells of franc2008 in a copy of the workflow.
OBSERVED = """

import os
import time
from pathlib import Path

_unobserved = _leave_one_out


def _leave_one_out(cell, C, method, *given, **options):
    path = cell.job.checkpoint.path
    name = f"{path.parent.name}-{path.stem}-C{C:g}"
    with open("begun.log", "a") as log:
        log.write(f"{os.getpid()} {name}\\n")
    while Path("hold", name).exists():
        time.sleep(0.05)
    return _unobserved(cell, C, method, *given, **options)
"""


class ObservedCheckout(Checkout):
    """A checkout with copies of the sources in which each model of franc2008 says that it begins, and waits
    while a test holds it."""

    def __init__(self, folder):
        super().__init__(folder, linked=False)
        with open(folder / "workflow/papers/franc2008/cells.py", "a") as file:
            file.write(OBSERVED)
        self.log, self.holds = folder / "begun.log", folder / "hold"

    @staticmethod
    def model(cell, C):
        """Name of a model, given its cell."""
        return f"{cell.partition('/')[2].replace('/', '-')}-C{C:g}"

    def hold(self, *models):
        """Let these models wait once they have begun."""
        self.holds.mkdir()
        for model in models:
            (self.holds / model).touch()

    def go_on(self):
        """Let all models go on."""
        shutil.rmtree(self.holds)

    def begun(self):
        """Models in the order in which they began, each with the process that computed it."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [(model, int(process)) for process, model in map(str.split, lines)]


def planned(output):
    """Number of jobs per rule in the table that a dry run prints; none where there is nothing to do."""
    table = output.partition("Job stats:")[2].partition("Reasons:")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE)}
