# Five papers on choosing an SVM's hyper-parameters, reproduced: Franc, Laskov and Mueller (2008); Chapelle and Vapnik
# (1999); Wen et al. (2017); Sarafis, Diou and Delopoulos (2018); Bakir, Bottou and Weston (2004).
#
#   snakemake --cores 2                                        the demo: offline, a minute
#   snakemake --cores 2 report                                 its exhibits as one HTML page
#   snakemake --cores 2 franc2008                              one paper; comparison: all estimators on the same models
#   snakemake --cores 2 --profile profiles/paper figures       every exhibit of the papers' full scale, from the committed rows
#   snakemake --cores 2 --profile profiles/paper results/paper/wen2017/figure2.pdf         one of them
#   snakemake --cores 2 --profile profiles/paper --config compute=true printed             the rows themselves: hours
#   snakemake --cores 2 --configfile config/paper.yaml config/verify.yaml -- verify        some cells again, compared with the rows
#
# Rows are the border. Where the configuration says `compute: true`, as the demo's does, rules/data.smk and rules/cells.smk make the
# files rows/{stage}.parquet. With `compute: false` these files are inputs, which are there.
#
# Path grammar. The configuration names the preset and the folders results, resources and logs.
#
#   resources/raw/{dataset}/                    verified downloads
#   resources/data/{dataset}.npz                parsed or generated data
#   results/{preset}/                           written <results> in the rules
#     {paper}/cells/{run}/{cell}.parquet        rows of one cell
#     {paper}/finished/{run}/{cell}.*           copies of finished cells, and points of cells that are not finished (lib/job.py)
#     {paper}/rows/{stage}.parquet              rows of all cells of a stage; these files are committed in results/paper
#     {paper}/{exhibit}.*                       tables: csv, md and tex; figures: csv, pdf and svg; the parts of an exhibit
#                                               that has several: {exhibit}/{part}.*
#     {paper}/causes.csv                        what the variants and proofs of causes of misses have
#     {paper}/claims.*, claims_numbers.csv      verdicts on the paper's claims, and the numbers that decide them
#     scorecard.*, scorecard_*.csv              published beside reproduced; totals per exhibit; verdicts; causes
#     libraries.csv                             which library, commit and processor computed the rows of each stage
#     config.yaml, provenance.json              what was run, and with what
#     report.html                               all exhibits with their captions, and the scorecard
#   logs/{preset}/                              written <logs>; one log per job, and verify.csv
#
# {paper} is a folder of workflow/papers, whose exhibits/ has the exhibits and whose plan.py names the runs and their cells. A
# {cell} is named by the values of its parameters. One job computes the cells of a folder where {...} has several:
#
#   franc2008     loo, stopping                 {dataset}/realisation-{r}/{linear, rbf-gamma0.125, ...}
#                 test                          {dataset}/{linear, rbf}
#   chapelle1999  models                        {experiment}/{dataset}/realisation-{r}
#   wen2017       choice, along_C, variants     {dataset}
#                 seeds, libsvm, cached         {dataset}/{settings}/k-{k}: published or chosen settings; k folds, or loo
#                 unlearning                    {dataset}/{settings}/unlearn-{k}
#   sarafis2018   models                        {experiment}/{dataset}/rows-{m}/part-{i}-of-{n}
#                 draws                         that with /realisation-{r}
#                 spans, spans_of_sizes         {experiment}/{dataset}/rows-{m}
#   bakir2004     figure1                       figure1
#                 figure3, figure4              figure3/run-{r}, figure4/{dataset}/run-{r}
#                 table1, growth                table1/{dataset}/train-{rows}, or that with /{method}; growth/{dataset}
#                 sensitivity                   sensitivity/{dataset}/train-{rows}
#   comparison    estimators                    {dataset}/realisation-{r}/{test, span_rule, ...}


# The file is found also where another folder is the working directory, or another workflow uses this one as a module.
configfile: workflow.source_path("config/config.yaml")


include: "workflow/rules/common.smk"


if config["compute"]:

    include: "workflow/rules/data.smk"
    include: "workflow/rules/cells.smk"


if config["verify"]:

    include: "workflow/rules/verify.smk"


include: "workflow/rules/exhibits.smk"
include: "workflow/rules/causes.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        [paper.results() for paper in PAPERS.values()],
        "<results>/scorecard.csv",
        "<results>/provenance.json",


rule figures:
    input:
        [paper.results() for paper in PAPERS.values()],
        "<results>/scorecard.csv",
        "<results>/scorecard.svg",


# One paper, or the comparison of all estimators.
for paper in PAPERS.values():

    rule:
        name:
            paper.key
        input:
            paper.results(),


rule causes:
    input:
        [paper.explained for paper in PAPERS.values()],


rule report:
    input:
        "<results>/report.html",
