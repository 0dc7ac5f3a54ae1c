"""Parse or generate data sets, each into one .npz file."""

from data.dataset import Dataset
from data.fetch import fetched_files
from data.prepare import prepare
from data.registry import load_registry
from lib.damage import set_aside_if_damaged
from lib.joblog import start_log

log = start_log(snakemake.log[0])
registry = load_registry(snakemake.params.registry)
raw = snakemake.input.get("raw")
for name, output in zip(snakemake.params.datasets, snakemake.output, strict=True):
    if raw is not None:
        with set_aside_if_damaged(raw):
            fetched_files(registry[name], raw)
    prepare(registry[name], raw, output)
    dataset = Dataset.load(output)
    log.info("%s: sha256 %s, source %s, %d splits", name, dataset.sha256, dataset.source, dataset.n_splits)
