"""Cross-validate one model from every seed, with a cache of kernel columns instead of the matrix."""

from papers.wen2017.cells import run_cached
from papers.wen2017.job import run_cell

run_cell(snakemake, run_cached)
