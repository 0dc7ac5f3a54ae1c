# Five papers on choosing an SVM's hyper-parameters, reproduced: Franc, Laskov and Mueller (2008); Chapelle and Vapnik
# (1999); Wen et al. (2017); Sarafis, Diou and Delopoulos (2018); Bakir, Bottou and Weston (2004).
#
#   snakemake --cores 2                                      the demo: offline, minutes
#   snakemake --cores 2 --configfile config/paper.yaml       the papers' full scale
#   snakemake --cores 2 franc2008                            one paper
#   snakemake --cores 2 comparison                           all estimators of the test error on the same models
#   snakemake --cores 2 report                               the exhibits as one HTML page
#
# Path grammar. {preset} is the configuration's name, written <results> = results/{preset} in the rules.
#
#   resources/raw/{dataset}/                                 verified downloads
#   resources/data/{dataset}.npz                             parsed or generated data
#   results/{preset}/config.yaml, provenance.json            what was run, with what
#   results/{preset}/scorecard.*, scorecard_*.csv            published beside reproduced; totals per exhibit; verdicts
#   results/{preset}/report.html                             all exhibits with their captions, and the scorecard
#   results/{preset}/franc2008/
#     cells/{dataset}/realisation-{realisation}/{cell}.parquet      rows of every LOO method and C of the cell
#     stopping/{dataset}/realisation-{realisation}/{cell}.parquet   rows of Figure 1, every C and eps of the cell
#     selected/{dataset}.csv                                        the selected model of each kernel
#     test/{dataset}/{kernel}.parquet                               rows of the selected model's test errors
#     rows/{stage}.parquet                                          all rows of cells, of stopping, of test
#     table2.*, table3.*, figure1.*, speedup.*                      exhibits: csv, md and tex, or pdf and svg
#     agreement.*, claims.*                                         method against method; verdicts
#   results/{preset}/chapelle1999/
#     cells/{experiment}/{dataset}/realisation-{realisation}.parquet   rows of every method and model: over the width, over C
#     rows/cells.parquet                                            all rows
#     figure2.*, figure3.*, figure4.*, claims.*                     exhibits: csv, pdf and svg; verdicts
#   results/{preset}/wen2017/
#     chosen/{dataset}.csv                                          models tried on scaled data, and the chosen one
#     seeds/{dataset}/{settings}/k-{k}.parquet                      rows of every seed on one Gram matrix
#     libsvm/{dataset}/{settings}/k-{k}.parquet                     rows of LIBSVM, on as many whole folds as its budget holds
#     cached/{dataset}/{settings}/k-{k}.parquet                     rows of every seed with a cache of kernel columns
#     along_C/{dataset}.parquet                                     rows of every seed and C
#     variants/{dataset}.parquet                                    rows of every seed and assignment to folds
#     rows/{stage}.parquet                                          all rows of a stage
#     table1/, table3/{settings}.*, table2.*, figure2.*, seeds.*, folds.*    exhibits: csv, md and tex, or pdf and svg
#     agreement.*, claims.*                                         seed against seed; verdicts
#   results/{preset}/sarafis2018/
#     cells/{experiment}/{dataset}/rows-{m}/part-{part}.parquet        rows of every method and model of some stripes of a grid
#     rows/cells.parquet                                               all rows
#     table1.* to table6.*, figure2.* to figure6.*, claims.*           exhibits: csv, md and tex, or pdf and svg; verdicts
#   results/{preset}/bakir2004/
#     cells/figure1.parquet, cells/figure3/run-{realisation}.parquet    rows of generated classes
#     cells/figure4/{dataset}/run-{realisation}.parquet             rows of every label noise and method
#     cells/table1/{dataset}/train-{train}.parquet                  rows of every realisation and method
#     cells/growth/{dataset}.parquet                                rows of every training size and method
#     rows/cells.parquet                                            all rows
#     table1.*, figure1.*, figure3.*, figure4.*, growth.*, claims.* exhibits: csv, md and tex, or pdf and svg; verdicts
#   results/{preset}/comparison/
#     cells/{dataset}/realisation-{realisation}.parquet             rows of every estimator and model
#     rows/cells.parquet                                            all rows
#     estimators.*, regret.*, rmse.*, cost.*, tradeoff.*            exhibits: csv, md and tex, or pdf and svg
#   logs/{preset}/...                                        one log per job, named after the rule
#
# {settings} are "published", or "chosen" on scaled data; {k} is a number of folds, or "loo".
# A {cell} is one kernel with its parameter: "linear", or "rbf-{i}" with gamma the i-th value of the configuration's grid.


configfile: "config/config.yaml"


include: "workflow/rules/common.smk"


for paper in DECLARED:

    include: f"workflow/papers/{paper}/rules.smk"


include: "workflow/rules/rows.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/exhibits.smk"
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


# one paper, or the comparison
for paper in PAPERS.values():

    rule:
        name:
            paper.key
        input:
            paper.results(),


rule download:
    input:
        expand("resources/raw/{dataset}", dataset=DOWNLOADED),


rule report:
    input:
        "<results>/report.html",
