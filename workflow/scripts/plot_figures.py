"""Plot the figures of a paper from tidy rows."""

from importlib import import_module

from lib.figures import save, use_form
from lib.given import Given
from lib.joblog import start_log
from lib.papers import Exhibit, alt_text

log = start_log(snakemake.log[0])
use_form(**snakemake.params.form)
given = Given(snakemake.input.items(), snakemake.params.facts)
plots = import_module(f"papers.{snakemake.params.paper}.plots")
for declared in snakemake.params.exhibits:
    exhibit = Exhibit(**declared)
    key = exhibit.key
    fig = given.call(getattr(plots, f"plot_{key}"), tidy=given[exhibit.drawn_from or key])
    pdf, svg = (snakemake.output[name] for name in exhibit.plotted())
    save(fig, pdf, svg, exhibit.heading or exhibit.name, alt_text(exhibit.caption))
    log.info("%s", exhibit.title)
