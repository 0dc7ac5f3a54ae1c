# `snakemake verify`, with config/verify.yaml: some cells of a preset are computed again, below results/verify, and compared with the
# rows of that preset.

from lib.verify import drawn

if not config["compute"]:
    raise WorkflowError(
        "The target verify computes cells, and the configuration says compute: false. config/verify.yaml has to be "
        "the last file of --configfile, and --config may not say compute=false."
    )

try:
    CELLS_TO_VERIFY = drawn(
        {
            f"{name}/{stage}/{cell}": PAPERS[name].cell_files(run, [cell])[0]
            for name, stage in STAGES
            for cell, run in PAPERS[name].plan.runs_by_cell(stage).items()
        },
        config["verify"]["cells"],
    )
except ValueError as error:
    raise WorkflowError(str(error)) from None


# Which cells are drawn is known to this process alone.
localrules:
    verify,


rule verify:
    """Compare cells that were computed again with the rows of the preset."""
    input:
        again=list(CELLS_TO_VERIFY.values()),
        rows=sorted(
            {PAPERS[name.split("/")[0]].gathered(name.split("/")[1], EARLIER) for name in CELLS_TO_VERIFY}
        ),
    log:
        "<logs>/verify.log",
        table="<logs>/verify.csv",
    params:
        names=list(CELLS_TO_VERIFY),
        tolerance=config["verify"]["tolerance"],
    script:
        "../scripts/verify.py"
