"""The workflow's modules, and a checkout in a temporary folder in which snakemake runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow"))


class Checkout:
    """A folder with links to the sources: results, logs and Snakemake's records of a test stay in it."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("Snakefile", "config", "environment.yml", "profiles", "src", "workflow"):
            (folder / name).symlink_to(ROOT / name)

    def snakemake(self, *arguments, config=None):
        """Run snakemake on a configuration (dict, laid over the demo's); return the finished process."""
        command = [sys.executable, "-m", "snakemake"]
        if config is not None:
            path = self.folder / "test.yaml"
            path.write_text(yaml.safe_dump(config))
            command += ["--configfile", str(path)]
        command += arguments
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def scorecard_of(root):
    """A function: the scorecard of tidy rows of a paper; it raises where a figure has no counterpart."""
    from lib.published import read_printed, read_published
    from lib.scorecard import figures

    def of(paper, tidy):
        path = root / f"config/published/{paper}.csv"
        rules = yaml.safe_load((root / "config/claims.yaml").read_text())[paper]["figures"]
        return figures(paper, read_printed(path), read_published(path), tidy, rules)

    return of
