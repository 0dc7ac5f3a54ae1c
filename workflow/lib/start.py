"""Checks before a run: what is wrong ends it in sentences, before anything is written."""

from data import load_registry
from lib.claims import check_claims
from lib.config import (
    check_cache,
    check_config,
    check_writable,
    fill_defaults,
    load_schema,
    project_file,
    read_schema,
    read_texts,
)
from lib.environment import cache_folder
from lib.papers import load_papers, with_plans


def started(config, workflow):
    """Check the configuration and the claims of the papers, and fill in the defaults of the configuration's
    schema, in place. Return the papers that the configuration asks for, with their plans, and the registry of
    data sets. `workflow` is the folder with the schemas."""
    declared, schema = load_papers(), load_schema(workflow)
    read_texts(config, schema)
    check_config(config, schema)
    fill_defaults(config, schema)
    check_claims(
        {name: paper.scorecard_entry() for name, paper in declared.items() if paper.claims},
        read_schema("claims"),
    )
    registry = load_registry(project_file(config["registry"], workflow.parent))
    check_writable(f"{config['folders'][name]}/{config['preset']}" for name in ("results", "logs"))
    check_writable([config["folders"]["resources"]])
    check_cache(cache_folder())
    return with_plans(declared, config, registry), registry
