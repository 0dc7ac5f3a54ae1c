"""Cross-validate one model from every seed, on one Gram matrix."""

from papers.wen2017.cells import run_seeds
from papers.wen2017.job import run_cell

run_cell(snakemake, run_seeds)
