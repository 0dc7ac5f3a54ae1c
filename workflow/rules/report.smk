# What every preset ends with: provenance and the HTML report.


rule make_provenance:
    input:
        results=[paper["results"] for paper in PAPERS.values()],
        data=expand("resources/data/{dataset}.npz", dataset=DATASETS),
        library=sorted({source for paper in PAPERS.values() for source in paper["sources"]}),
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
        results=[paper["results"] for paper in PAPERS.values()],
        config="<results>/config.yaml",
        captions=[
            "workflow/report/workflow.rst",
            *(
                f"workflow/report/{name}/{caption}.rst"
                for name, paper in PAPERS.items()
                for caption in paper["captions"]
            ),
        ],
    output:
        html="<results>/report.html",
    log:
        "<logs>/make_report.log",
    conda:
        ENVIRONMENT
    params:
        python=sys.executable,
        papers=list(PAPERS),
    shell:
        "{params.python} -m snakemake {params.papers} --configfile {input.config} --workflow-profile none --nolock"
        " --report {output.html} > {log} 2>&1"
