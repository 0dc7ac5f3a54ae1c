"""A checkout in a temporary folder in which snakemake runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]


class Checkout:
    """A folder with links to the sources: results, logs and Snakemake's records of a test stay in it."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("Snakefile", "config", "environment.yml", "meson.build", "profiles", "src", "workflow"):
            (folder / name).symlink_to(ROOT / name)

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


def planned(output):
    """Number of jobs per rule in the table that a dry run prints; none where there is nothing to do."""
    table = output.partition("Job stats:")[2].partition("Reasons:")[0]
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE)}
