"""Download the raw files of a data set, verified against the registry."""

from data.fetch import fetch
from data.registry import load_registry
from lib.environment import project_file
from lib.joblog import start_log

log = start_log(snakemake.log[0])
entry = load_registry(project_file(snakemake.config["registry"]))[snakemake.wildcards.dataset]
# neither the path of the registry nor the mirror is a parameter: the files are the same wherever they come
# from
files = fetch(entry, snakemake.output.raw, mirror=snakemake.config["mirror"], progress=False)
log.info("fetched %s", ", ".join(path.name for path in files))
