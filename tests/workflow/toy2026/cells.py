"""The run: a linear SVM for each C."""

from data.dataset import Dataset
from lib.cell import Cell, load_part


def run_fits(job, grid, settings):
    cell = Cell(job, load_part(Dataset.load(job.data), 1))
    cell.set_kernel(None)
    del cell.columns["gram_cpu_s"]  # of which the rows have no column
    return cell.run([({"C": C}, C, []) for C in grid], vars(settings))
