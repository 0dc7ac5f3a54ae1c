"""Choose C and gamma on the scaled data by cross-validation."""

import pandas as pd

from lib.joblog import Progress, start_log
from papers.wen2017.choice import run_choice

log = start_log(snakemake.log[0])
models = run_choice(
    data=snakemake.input.data, **snakemake.params.choice, progress=Progress(log, "grid", "gammas")
)
pd.DataFrame(models).to_csv(snakemake.output.chosen, index=False, float_format="%.10g", lineterminator="\n")
log.info("%s", next(model for model in models if model["chosen"] == "yes"))
