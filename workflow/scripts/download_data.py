"""Download the raw files of a data set, verified against the registry."""

from data.fetch import fetch
from data.registry import load_registry
from lib.joblog import start_log

log = start_log(snakemake.log[0])
entry = load_registry(snakemake.params.registry)[snakemake.wildcards.dataset]
# where the files come from does not change what they are: the mirror is no param, so it triggers no new
# download
files = fetch(entry, snakemake.output.raw, mirror=snakemake.config["mirror"], progress=False)
log.info("fetched %s", ", ".join(path.name for path in files))
