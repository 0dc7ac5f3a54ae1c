# What every preset ends with: its provenance, which names configuration, versions and machine, and the report in HTML.


# It asks git, which knows nothing where the sources of a job come from a store.
if FILES.remote:

    localrules:
        make_provenance,


# Inputs are ancient: rows that are written anew from the same cells do not change the provenance. The configuration and the code,
# which do, are parameters.
rule make_provenance:
    input:
        rows=lambda wildcards: [
            dated(missing_cells(name, stage), PAPERS[name].gathered(stage)) for name, stage in STAGES
        ],
        data=ancient(expand("<resources>/data/{dataset}.npz", dataset=DATASETS)),
    output:
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
    log:
        "<logs>/make_provenance.log",
    params:
        code=code_of("scripts.make_provenance"),
        cells=lambda wildcards: {
            f"{paper}/{stage}": digests
            for (paper, stage), digests in zip(STAGES, present_codes(), strict=True)
        },
        config=config,
        # its lines say when the run began and ended: no input, as that would be asked for
        log_of_runs=lambda wildcards, output: str(Path(output.provenance).with_name("run.log")),
    script:
        "../scripts/make_provenance.py"


# The files of every exhibit that the report shows, with their captions.
SHOWN = [exhibit for paper in PAPERS.values() for exhibit in paper.shown(RESULTS)]


rule make_report:
    input:
        shown=[exhibit["file"] for exhibit in SHOWN],
        captions=[local(exhibit["caption"]) for exhibit in SHOWN],
        description=local(from_here(WORKFLOW / "report/workflow.rst")),
        scorecard="<results>/scorecard.csv",
        pictures=["<results>/scorecard.svg", "<results>/misses.svg"],
        exhibits="<results>/scorecard_exhibits.csv",
        claims="<results>/scorecard_claims.csv",
        causes="<results>/scorecard_causes.csv",
        numbers=expand("<results>/{paper}/claims_numbers.csv", paper=SCORED),
        libraries="<results>/libraries.csv",
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
        templates=templates("report.html"),
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    params:
        code=code_of("scripts.make_report"),
        config=config,
        claims={name: paper.scorecard_entry() for name, paper in SCORED.items()},
        places={name: paper.places() for name, paper in SCORED.items()},
        shown=SHOWN,
        facts={name: facts_of(paper) for name, paper in PAPERS.items()},
    script:
        "../scripts/make_report.py"
