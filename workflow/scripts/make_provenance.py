"""Write the provenance of the results: code, machine, threads, versions, data, configuration."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import pandas as pd
import yaml
from threadpoolctl import threadpool_info

from data.dataset import Dataset
from lib.environment import commit, cpu_model, library_id
from lib.files import write_text
from lib.joblog import start_log

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")

log = start_log(snakemake.log[0])
datasets = {}
for path in snakemake.input.data:
    dataset = Dataset.load(path)
    datasets[dataset.name] = {"sha256": dataset.sha256, "source": dataset.source}
# a cell that is finished is as old as its copy: the first and the last of them began and ended the run
cells = pd.Series(
    [path.stat().st_mtime for path in Path(snakemake.output[0]).parent.glob("*/finished/**/*.parquet")]
)
began, ended = (
    datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds") for time in (cells.min(), cells.max())
)
provenance = {
    "began": began,
    "ended": ended,
    "commit": commit(),
    "library": library_id(),
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
write_text(snakemake.output.provenance, json.dumps(provenance, indent=2) + "\n")
write_text(snakemake.output.config, yaml.safe_dump(snakemake.params.config, sort_keys=False))
log.info("commit %s, library %s", provenance["commit"], provenance["library"])
