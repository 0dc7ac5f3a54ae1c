"""Write what the results were computed with: code, machine, threads, versions, data, configuration."""

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import yaml
from svmselect.data import Dataset
from threadpoolctl import threadpool_info

from lib.environment import cpu_model
from lib.joblog import start_log

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


log = start_log(snakemake.log[0])
# results are made anew, this file among them
changes = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results")
datasets = {}
for path in snakemake.input.data:
    dataset = Dataset.load(path)
    datasets[dataset.name] = {"sha256": dataset.sha256, "source": dataset.source}
provenance = {
    "written": datetime.now(UTC).isoformat(timespec="seconds"),
    "commit": git("rev-parse", "HEAD"),
    "uncommitted_changes": None if changes is None else bool(changes),
    "library": metadata.version("svmselect"),
    "code": snakemake.params.cells,
    "cpu": cpu_model(),
    "cpus": os.cpu_count(),
    "platform": platform.platform(),
    "python": platform.python_version(),
    "packages": {package: metadata.version(package) for package in PACKAGES},
    "threads": {name: value for name, value in sorted(os.environ.items()) if name.endswith("_NUM_THREADS")},
    "threadpools": [
        {key: pool[key] for key in ("user_api", "internal_api", "version", "num_threads")}
        for pool in threadpool_info()
    ],
    "datasets": datasets,
}
Path(snakemake.output.provenance).write_text(json.dumps(provenance, indent=2) + "\n")
Path(snakemake.output.config).write_text(yaml.safe_dump(snakemake.params.config, sort_keys=False))
log.info("commit %s, library %s", provenance["commit"], provenance["library"])
