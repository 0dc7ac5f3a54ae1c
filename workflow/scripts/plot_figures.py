"""Plot the figures of a paper from tidy rows."""

from lib.exhibits import load_exhibits, read_context
from lib.figures import save, use_form
from lib.joblog import start_log
from lib.papers import output_name
from lib.tables import read_tidy

log = start_log(snakemake.log[0])
inputs, output, params = snakemake.input, snakemake.output, snakemake.params
use_form(**params.form)
context = read_context(params.context)
for key in params.exhibits:
    exhibit = load_exhibits(params.paper)[key]
    fig = exhibit.module.figure(read_tidy(inputs[output_name(f"{key}.csv")]), context)
    pdf, svg = (output[output_name(file)] for file in exhibit.drawn_files)
    save(fig, pdf, svg, exhibit.name, exhibit.alt)
    log.info("%s", exhibit.title)
