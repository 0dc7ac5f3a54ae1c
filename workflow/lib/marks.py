"""What the rules mark with report(), for the HTML report."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

__all__ = ["marked"]


def marked(rules, basedir, left_out, values):
    """Files that rules mark with report(), in their order.

    Parameters
    ----------
    rules : iterable of snakemake.rules.Rule
    basedir : path-like
        Folder of the Snakefile.
    left_out : collection of str
        Rules whose names begin with one of these and an underscore are passed over.
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
        if any(rule.name.startswith(f"{name}_") for name in left_out):
            continue
        params = {name: value for name, value in rule.params.items() if isinstance(value, int | float | str)}
        for output in rule.output:
            mark = output.flags.get("report")
            if mark is None:
                continue
            caption = os.path.relpath(
                os.path.normpath(mark.caption.get_path_or_uri(secret_free=True)), basedir
            )
            names = sorted(output.get_wildcard_names())
            for chosen in product(*(values[name] for name in names)):
                wildcards = dict(zip(names, chosen, strict=True))
                file = Path(str(output).format(**wildcards))
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
