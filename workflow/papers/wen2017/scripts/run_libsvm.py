"""Cross-validate one model with LIBSVM, on as many whole folds as the budget holds."""

from papers.wen2017.job import run_cell
from papers.wen2017.libsvm import run_libsvm

run_cell(snakemake, run_libsvm)
