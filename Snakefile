# Five papers on choosing an SVM's hyper-parameters, reproduced: Franc, Laskov and Mueller (2008); Chapelle and Vapnik
# (1999); Wen et al. (2017); Sarafis, Diou and Delopoulos (2018); Bakir, Bottou and Weston (2004).
#
#   snakemake --cores 2                                        the demo: offline, minutes
#   snakemake --cores 2 report                                 its exhibits as one HTML page
#   snakemake --cores 2 franc2008                              one paper; comparison: all estimators on the same models
#   snakemake --cores 2 printed                                the rows of what the papers print and claim
#   snakemake --cores 2 verify                                 some cells again, compared with the rows that are kept
#   snakemake --cores 2 --profile profiles/paper causes        why numbers differ: the variants that the configuration names
#   snakemake --cores 2 --profile profiles/paper all           the papers' full scale
#   snakemake --cores 2 --profile profiles/paper results/paper/wen2017/figure2.pdf         one exhibit of it
#
# Path grammar. The configuration names the preset and the folders results, resources and logs.
#
#   resources/raw/{dataset}/                    verified downloads
#   resources/data/{dataset}.npz                parsed or generated data
#   results/{preset}/                           written <results> in the rules
#     {paper}/{stage}/{cell}.parquet            rows of one cell: what one job computes
#     {paper}/rows/{stage}.parquet              rows of all cells of a stage; these files are committed in results/paper
#     {paper}/{exhibit}.*                       tables: csv, md and tex; figures: csv, pdf and svg; the parts of an exhibit
#                                               that has several: {exhibit}/{part}.*
#     {paper}/causes.csv                        what the variants and proofs of causes of misses have
#     {paper}/claims.*, claims_numbers.csv      verdicts on the paper's claims, and the numbers that decide them
#     {paper}/again/{stage}/{cell}.parquet      a cell that verify computes; removed when it has been compared
#     scorecard.*, scorecard_*.csv              published beside reproduced; totals per exhibit; verdicts; causes
#     misses.pdf, misses.svg                    what explains the results outside their tolerance
#     libraries.csv                             which library computed the rows of each stage
#     config.yaml, provenance.json, run.log     what was run, with what, and when
#     report.html                               all exhibits with their captions, and the scorecard
#   logs/{preset}/                              written <logs>; one log per job, and verify.csv
#
# {paper} is a folder of workflow/papers, whose paper.yaml names the exhibits and whose plan.py names the cells. A {cell} is
# named by the values of its parameters:
#
#   franc2008     cells, stopping               {dataset}/realisation-{r}/linear, .../rbf-gamma{gamma}, as in rbf-gamma0.125
#                 test                          {dataset}/linear, {dataset}/rbf
#   chapelle1999  cells                         {experiment}/{dataset}/realisation-{r}
#   wen2017       choice, along_C, variants     {dataset}
#                 seeds, libsvm, cached         {dataset}/{settings}/k-{k}: published or chosen settings; k folds, or loo
#   sarafis2018   cells                         {experiment}/{dataset}/rows-{m}/part-{i}-of-{n}
#   bakir2004     cells                         figure1, figure3/run-{r}, figure4/{dataset}/run-{r},
#                                               table1/{dataset}/train-{rows}, or that with /{method}, growth/{dataset}
#   comparison    cells                         {dataset}/realisation-{r}/{estimator}, .../test


# The file is found also where another folder is the working directory, or another workflow uses this one as a module.
configfile: workflow.source_path("config/config.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/cells.smk"
include: "workflow/rules/exhibits.smk"
include: "workflow/rules/causes.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/verify.smk"


rule all:
    default_target: True
    input:
        [paper.results() for paper in PAPERS.values()],
        "<results>/scorecard.csv",
        "<results>/provenance.json",


# All that the papers print and claim, but not what explains or goes beyond it.
rule printed:
    input:
        [paper.gathered(stage) for paper in PAPERS.values() for stage in paper.printed_stages],


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


rule download:
    input:
        expand("<resources>/raw/{dataset}", dataset=DOWNLOADED),


rule causes:
    input:
        [paper.explained for paper in PAPERS.values()],


rule report:
    input:
        "<results>/report.html",
