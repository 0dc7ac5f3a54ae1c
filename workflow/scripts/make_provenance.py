"""Write the provenance of the results: code, machine, threads, versions, data, configuration."""

import json
import os
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import yaml
from threadpoolctl import threadpool_info

from data import Dataset
from lib.environment import commit, cpu_model
from lib.joblog import start_log
from lib.origins import commits
from lib.runlog import runs

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "matplotlib", "snakemake")

log = start_log(snakemake.log[0])
datasets = {}
for path in snakemake.input.data:
    dataset = Dataset.load(path)
    datasets[dataset.name] = {"sha256": dataset.sha256, "source": dataset.source}
written = datetime.now(UTC).isoformat(timespec="seconds")
# commits of the rows, of which most name the first; a copy without git has none
origins = commits(snakemake.input.rows) or [(commit(), cpu_model())]
made_by, made_on = origins[0]
noted = [run for run in runs(snakemake.params.log_of_runs) if run["commit"] in dict(origins)]
if noted and noted[-1]["ended"] is None:
    # it goes on, but all rows are there
    noted[-1]["ended"] = written
provenance = {
    "written": written,
    "runs": noted,
    "commit": made_by,
    "library": metadata.version("svmselect"),
    "code": snakemake.params.cells,
    "cpu": made_on,
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
