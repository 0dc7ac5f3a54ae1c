"""Cross-validate one model from every seed, on one Gram matrix."""

from lib.wen2017.cells import run_seeds
from lib.wen2017.job import run_cell

run_cell(snakemake, run_seeds)
