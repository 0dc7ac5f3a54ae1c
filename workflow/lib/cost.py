"""Forecasts of the cost of a run, from the rows that were computed last: of the whole run before it begins,
and of the rest while it is under way.

Call it from the project's folder as ``PYTHONPATH=workflow python -m lib.cost``, at any time.
"""

import argparse
import heapq
import math
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace

from lib.job import function_of
from lib.memory import machine_mb
from lib.rows import cell_records, cells_to_compute, read_columns
from lib.run import planned, required_cells

# cores of the machines that a forecast is of, beside this one
MACHINES = (2, 16, 64)
# clocks of a row, which have nothing in common; and of what the rows of a kernel share
METHOD_CLOCKS = ("cpu_s", "search_cpu_s", "predict_cpu_s")
SHARED = ("gram_cpu_s", "sphere_cpu_s")


@dataclass
class Cost:
    """The cost of some cells."""

    cells: int = 0
    cpu_s: float = 0.0  # CPU time of the methods, by the rows that were computed last, whatever made them
    unknown: int = 0  # how many cells have no such rows, and are not in `cpu_s`
    mem_mb: int = 0  # the most memory that one of them may take, in 2**20 bytes
    # CPU time, memory and name of each of those that have such rows
    known: list = field(default_factory=list)

    def add(self, name, cell, cpu_s):
        self.cells += 1
        self.mem_mb = max(self.mem_mb, cell.mem_mb)
        if cpu_s is None:
            self.unknown += 1
        else:
            self.cpu_s += cpu_s
            self.known.append((cpu_s, cell.mem_mb, name))

    def __str__(self):
        if not self.cells:
            return "nothing to compute"
        known = f"{self.cpu_s / 3600:.2g} CPU hours by the last rows of {self.cells - self.unknown}"
        return f"cells: {self.cells}, {known}, at most {self.mem_mb:,} MB for one"

    @property
    def longest(self):
        """The cell that takes longest, and what it takes, as the end of a sentence."""
        cpu_s, _, name = max(self.known)
        return f"{name}, takes {cpu_s / 60:.2g} minutes"


def verdict(cost, machine, cores):
    """Return a sentence that says whether a machine can hold some cells. `machine` is the memory that they
    may take together, in 2**20 bytes."""
    if cost.mem_mb > machine:
        return f"This machine has {machine:,} MB: the largest cells need more, and each ends in a sentence."
    beside = min(cores, machine // max(cost.mem_mb, 1))
    return f"This machine has {machine:,} MB: {beside} of the largest run beside each other on {cores} cores."


def urgency(cpu_s, mb, mem_mb):
    """Return the key by which cells start on a machine with this memory, the largest first. Cells that take
    more than half of the memory never run beside each other, so they begin early; then come the longest."""
    return (2 * mb > mem_mb, cpu_s)


def duration(cells, cores, mem_mb):
    """Return how many seconds some cells take on a machine, the most urgent first, each on one core.

    Parameters
    ----------
    cells : list of (float, int, ...)
        CPU time and memory of each.
    cores, mem_mb : int
        Cores and memory of the machine.
    """
    waiting = sorted(cells, key=lambda cell: urgency(*cell[:2], mem_mb), reverse=True)
    running, now, free = [], 0.0, mem_mb
    while waiting or running:
        later = []
        for cpu_s, mb, *name in waiting:
            # what needs more than there is runs alone
            if len(running) < cores and (mb <= free or not running):
                heapq.heappush(running, (now + cpu_s, mb))
                free -= mb
            else:
                later.append((cpu_s, mb, *name))
        waiting = later
        now, mb = heapq.heappop(running)
        free += mb
    return now


def forecast(cost, cores, mem_mb):
    """Return a sentence that says how long the known cells take on this machine, and on larger ones with as
    much memory per core."""
    hours = {n: duration(cost.known, n, mem_mb * n // cores) / 3600 for n in sorted({cores, *MACHINES})}
    told = ", ".join(f"{hour:.2g} h on {n} core{'s' * (n > 1)}" for n, hour in hours.items())
    return f"Without start-up and input: {told}; the longest cell, {cost.longest}."


def seconds(path, paper, runs):
    """Return the CPU time that each cell of a file of rows would take by the present plan, by the name of the
    cell. The rows tell what the cell took. If the plan's sample has changed since, the function of
    `Run.forecast` tells what each row would take: it is called with the rows of a cell (DataFrame), their
    cost (Series) and the settings, and returns as many costs.

    What the process took beside the clocks of the rows, and what its rows share, is added as it was. Rows of
    before the process was timed have only the latter.
    """
    if not (cells := cell_records(path)):
        return {}
    seconds_by_cell, begin, rows = {}, 0, read_columns(path, _without_vectors)
    for name, record in cells.items():
        cell_rows = rows.iloc[begin : begin + record.rows]
        begin += record.rows
        took = cell_rows.reindex(columns=list(METHOD_CLOCKS)).fillna(0.0).sum(axis=1)
        shared = cell_rows.reindex(columns=["kernel", "gamma", *SHARED]).drop_duplicates()
        beside = shared[list(SHARED)].fillna(0.0).to_numpy().sum()
        if record.cpu_s is not None:
            beside = max(0.0, record.cpu_s - took.sum())
        if name in runs and runs[name].forecast:
            settings = SimpleNamespace(**runs[name].settings_of(name))
            took = function_of(paper, runs[name].forecast)(cell_rows, took, settings)
        seconds_by_cell[name] = float(took.sum() + beside)
    return seconds_by_cell


def _without_vectors(name):
    """Return whether a forecast reads a column: not if the column takes long to read and says nothing about
    costs."""
    return not name.endswith("_pattern") and not name.startswith("differing_")


def costs(papers, registry, config, only=None, readable=str, printed=False):
    """Return the cost of the cells that each paper has to compute, by paper. Papers, registry and
    configuration are from `lib.run.planned`. With `only`, the files of some cells, the others do not count;
    with `printed`, cells beyond the paper do not count. `readable` returns the path at which a file can be
    read, see `lib.store.Files`."""
    results = f"{config['folders']['results']}/{config['preset']}"
    any_code = config["rows_of_other_code"] == "keep"
    cost_by_paper = {}
    for paper in papers.values():
        cost = cost_by_paper[paper.key] = Cost()
        for stage in paper.printed_stages if printed else paper.plan.stages:
            rows, runs = readable(paper.gathered(stage, results)), paper.plan.runs_by_cell(stage)
            files = {name: f"{results}/{paper.key}/{stage}/{name}.parquet" for name in runs}
            named = [
                name
                for name, file in files.items()
                if (only is None or file in only) and not (printed and runs[name].cells[name].beyond)
            ]
            cells = required_cells(paper, stage, registry, named)
            missing = set(cells_to_compute(rows, cells, any_code))
            last = seconds(rows, paper.key, runs) if missing else {}
            for record in cells:
                if record.cell in missing and cells_to_compute(
                    readable(files[record.cell]), [record], any_code
                ):
                    name = f"{paper.key}/{stage}/{record.cell}"
                    cost.add(name, runs[record.cell].cells[record.cell], last.get(record.cell))
    return cost_by_paper


def total(costs):
    """Return the sum of some costs."""
    return Cost(
        sum(cost.cells for cost in costs),
        math.fsum(cost.cpu_s for cost in costs),
        sum(cost.unknown for cost in costs),
        max((cost.mem_mb for cost in costs), default=0),
        [cell for cost in costs for cell in cost.known],
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m lib.cost", description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", nargs="+", default=[], help="laid over the demo's configuration")
    parser.add_argument("--cores", type=int, default=1, help="of the run; 1 by default")
    parser.add_argument(
        "--mem-mb", type=int, default=machine_mb(), help="of the run; this machine's by default"
    )
    parser.add_argument("--printed", action="store_true", help="only what the papers print and claim")
    options = parser.parse_args(arguments)
    try:
        cost_by_paper = costs(*planned(*options.configfile), printed=options.printed)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    for name, cost in cost_by_paper.items():
        print(f"{name}: {cost}" + (f"; {cost.longest}" if cost.known else ""))
    together = total(cost_by_paper.values())
    print(f"together: {together}")
    print(verdict(together, options.mem_mb, options.cores))
    if together.known:
        print(forecast(together, options.cores, options.mem_mb))


if __name__ == "__main__":
    main()
