"""What the rules mark with report(), for the HTML report."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from string import Formatter

from snakemake.io import strip_wildcard_constraints

__all__ = ["marked"]


def marked(rules, basedir, targets, values):
    """Files that rules mark with report(), in their order.

    Parameters
    ----------
    rules : iterable of snakemake.rules.Rule
    basedir : path-like
        Folder of the Snakefile.
    targets : collection of str
        Files that are made; rules that make none of them are passed over.
    values : dict of str to list of str
        Wildcards of marked files -> their values.

    Returns
    -------
    list of dict
        ``file``, what is shown of it: an image, or the Markdown table beside a CSV; ``caption``, its path;
        ``category``, ``exhibit`` and ``what``, as the rule has them; ``params``, those of the rule that are
        numbers or text.
    """
    found = []
    for rule in rules:
        params = {name: value for name, value in rule.params.items() if isinstance(value, int | float | str)}
        patterns = [strip_wildcard_constraints(str(output)) for output in rule.output]
        for output, pattern in zip(rule.output, patterns, strict=True):
            mark = output.flags.get("report")
            if mark is None:
                continue
            caption = os.path.relpath(
                os.path.normpath(mark.caption.get_path_or_uri(secret_free=True)), basedir
            )
            names = [name for _, name, _, _ in Formatter().parse(pattern) if name]
            for chosen in product(*(values[name] for name in names)):
                wildcards = dict(zip(names, chosen, strict=True))
                if not any(made.format(**wildcards) in targets for made in patterns):
                    continue
                file = Path(pattern.format(**wildcards))
                found.append(
                    {
                        "file": str(file.with_suffix(".md") if file.suffix == ".csv" else file),
                        "caption": caption,
                        "category": mark.category,
                        **{name: text.format(**wildcards) for name, text in mark.labels.items()},
                        "params": params,
                    }
                )
    return found
