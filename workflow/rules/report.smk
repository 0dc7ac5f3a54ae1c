# What every preset ends with: provenance and the HTML report.


rule make_provenance:
    input:
        results=[*FRANC2008_RESULTS, *CHAPELLE1999_RESULTS, *BAKIR2004_RESULTS],
        data=expand("resources/data/{dataset}.npz", dataset=DATASETS),
        library=sorted({*FRANC2008_SOURCES, *CHAPELLE1999_SOURCES, *BAKIR2004_SOURCES}),
    output:
        provenance="<results>/provenance.json",
        config="<results>/config.yaml",
    log:
        "<logs>/make_provenance.log",
    conda:
        ENVIRONMENT
    params:
        config=config,
    script:
        "../scripts/make_provenance.py"


# Snakemake writes its report in a call of its own, which here runs inside the first one: without its lock, on the resolved
# configuration, for exhibits that are inputs of this job and so are finished.
rule make_report:
    input:
        results=[*FRANC2008_RESULTS, *CHAPELLE1999_RESULTS, *BAKIR2004_RESULTS],
        config="<results>/config.yaml",
        captions=expand(
            "workflow/report/{caption}.rst",
            caption=[
                "workflow",
                *(
                    f"franc2008/{exhibit}"
                    for exhibit in (
                        "table2",
                        "table3",
                        "figure1",
                        "speedup",
                        "agreement",
                        "compare",
                        "claims",
                    )
                ),
                *(f"chapelle1999/{exhibit}" for exhibit in ("figure2", "figure3", "figure4", "claims")),
                *(
                    f"bakir2004/{exhibit}"
                    for exhibit in ("figure1", "figure3", "figure4", "table1", "growth", "claims")
                ),
            ],
        ),
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    conda:
        ENVIRONMENT
    params:
        python=sys.executable,
    shell:
        "{params.python} -m snakemake franc2008 chapelle1999 bakir2004 --configfile {input.config} --workflow-profile none --nolock"
        " --report {output.html} > {log} 2>&1"
