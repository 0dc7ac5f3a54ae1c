"""Parse or generate data sets, each into one .npz file."""

from svmselect.data import Dataset, load_registry, prepare

from lib.joblog import start_log

log = start_log(snakemake.log[0])
registry = load_registry(snakemake.params.registry)
for name, output in zip(snakemake.params.datasets, snakemake.output, strict=True):
    prepare(registry[name], snakemake.input.get("raw"), output)
    dataset = Dataset.load(output)
    log.info("%s: sha256 %s, source %s, %d splits", name, dataset.sha256, dataset.source, dataset.n_splits)
