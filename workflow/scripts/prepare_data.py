"""Parse or generate a data set into one .npz file."""

from svmselect.data import Dataset, load_registry, prepare

from lib.joblog import start_log

log = start_log(snakemake.log[0])
entry = load_registry(snakemake.params.registry)[snakemake.wildcards.dataset]
prepare(entry, snakemake.input.get("raw"), snakemake.output.data)
dataset = Dataset.load(snakemake.output.data)
log.info(
    "%s: sha256 %s, source %s, %d splits", dataset.name, dataset.sha256, dataset.source, dataset.n_splits
)
