"""Run one cell without Snakemake, to look at its rows or to debug it.

Call it from the project's folder as ``PYTHONPATH=workflow python -m lib.run PAPER/STAGE/CELL``. Prepared data
and gathered rows are looked for below the working directory, or in the folders that the configuration names.
"""

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from snakemake.utils import update_config

from data.registry import load_registry
from data.yaml_file import read_yaml
from lib.claims import check_claims
from lib.config import check_cache, check_scale, check_writable, complete_config
from lib.environment import PROJECT, cache_folder, library_id, project_file
from lib.job import run_cell
from lib.papers import load_papers, with_plans
from lib.plan import description
from lib.rows import read_rows


def started(config):
    """Check the configuration and the claims of the papers, and fill in the configuration's defaults, in
    place. Return the papers that the configuration asks for, with their plans, and the registry of data
    sets."""
    declared = load_papers()
    complete_config(config, {name: paper.schema for name, paper in declared.items()})
    check_claims({name: paper.scorecard_entry() for name, paper in declared.items() if paper.claims})
    registry = load_registry(project_file(config["registry"]))
    check_writable(f"{config['folders'][name]}/{config['preset']}" for name in ("results", "logs"))
    check_writable([config["folders"]["resources"], "."])
    check_scale(config)
    check_cache(cache_folder())
    return with_plans(declared, config, registry), registry


def check_any_rows(papers, results):
    """Check that a folder of results has rows, where none are computed; without any file of rows a
    `ValueError` says where they are looked for."""
    files = [Path(paper.gathered(stage, results)) for paper in papers.values() for stage in paper.plan.stages]
    if any(path.exists() for path in files):
        return
    committed = PROJECT / "results"
    remedy = f" Those in {committed} are found with --config 'folders={{results: {committed}}}'."
    raise ValueError(
        f"The configuration says compute: false, but {Path(results).absolute()} has no rows, such as "
        f"{files[0]}.{remedy if (committed / Path(results).name).is_dir() else ''}"
    )


def planned(*files):
    """Return the papers of a configuration with their plans, the registry of data sets, and the
    configuration. The configuration is that of the demo, over which the given YAML files are laid one after
    the other."""
    config = read_yaml(PROJECT / "config/config.yaml")
    for file in files:
        update_config(config, read_yaml(file))
    papers = load_papers()
    complete_config(config, {name: paper.schema for name, paper in papers.items()})
    registry = load_registry(project_file(config["registry"]))
    return with_plans(papers, config, registry), registry, config


def cell_of(papers, name):
    """Return the cell that ``paper/stage/cell`` names: its paper, its run, and its name in the stage."""
    parts = name.split("/", 2)
    if len(parts) == 3 and parts[0] in papers and parts[2] in papers[parts[0]].plan.runs_by_cell(parts[1]):
        return papers[parts[0]], papers[parts[0]].plan.runs_by_cell(parts[1])[parts[2]], parts[2]
    known = [
        f"{paper.key}/{stage}/{cell}"
        for paper in papers.values()
        for stage in paper.plan.stages
        for cell in paper.plan.runs_by_cell(stage)
    ]
    raise ValueError(
        f"There is no cell {name!r} among the {len(known)} of this configuration; one is {known[0]!r}."
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m lib.run", description=__doc__.splitlines()[0])
    parser.add_argument(
        "cell", help="paper/stage/cell, the path of its file below the results without its suffix"
    )
    parser.add_argument("--configfile", nargs="+", default=[], help="laid over the demo's configuration")
    parser.add_argument(
        "--output", type=Path, help="a Parquet file for its rows; by default they are only shown"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        papers, registry, config = planned(*options.configfile)
        paper, run, name = cell_of(papers, options.cell)
        cell = run.cells[name]
        folders = config["folders"]
        inputs = {} if cell.dataset is None else {"data": f"{folders['resources']}/data/{cell.dataset}.npz"}
        results = f"{folders['results']}/{config['preset']}"
        inputs |= {stage: paper.gathered(stage, results) for stage in run.after}
        for path in inputs.values():
            if not Path(path).is_file():
                raise ValueError(f"{path} is not there: `snakemake --cores 1 {path}` makes it.")
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    with tempfile.TemporaryDirectory() as folder:
        output = options.output or Path(folder, "rows.parquet")
        log = logging.getLogger("svmselect.workflow")
        cell = description(paper.key, run, name, registry)
        run_cell(cell, library_id(), inputs, output, Path(folder, "finished.parquet"), log)
        rows = read_rows([output])
    columns = [
        column
        for column in ("kernel", "gamma", "C", "method", "fold", "estimate", "bound", "n_iter", "cpu_s")
        if column in rows
    ]
    print(rows[[*columns, "status", "reason"]].to_string())


if __name__ == "__main__":
    main()
