# `snakemake verify` computes some cells again and compares their rows with those that are kept. The configuration's keys verify and
# verify_tolerance say which cells, and how far numbers may be apart.


rule verify:
    input:
        unpack(to_verify),
    log:
        "<logs>/verify.log",
        table="<logs>/verify.csv",
    params:
        names=lambda wildcards: cells_to_verify(),
        tolerance=config["verify_tolerance"],
    script:
        "../scripts/verify.py"
