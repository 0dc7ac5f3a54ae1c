"""Parse or generate a data set into one .npz file."""

from data.dataset import Dataset
from data.fetch import fetched_files
from data.prepare import prepare
from data.registry import load_registry
from lib.damage import set_aside_if_damaged
from lib.environment import project_file
from lib.joblog import start_log

log = start_log(snakemake.log[0])
# its path is no parameter: what it says about other data sets prepares nothing anew
entry = load_registry(project_file(snakemake.config["registry"]))[snakemake.wildcards.dataset]
# a list of one folder, or of none
raw, output = next(iter(snakemake.input.raw), None), snakemake.output.data
if raw is not None:
    with set_aside_if_damaged(raw):
        fetched_files(entry, raw)
prepare(entry, raw, output)
dataset = Dataset.load(output)
log.info(
    "%s: sha256 %s, source %s, %d splits", dataset.name, dataset.sha256, dataset.source, dataset.n_splits
)
