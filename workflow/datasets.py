"""The papers' data sets: list them, write them as LIBSVM text, or print the registry's entry for a file.

Call it from the project's folder as ``python workflow/datasets.py list``, ``fetch NAME ...`` or ``add FILE``.
"""

import sys
import tempfile
from pathlib import Path

import yaml
from svmselect.atomic import replacing
from svmselect.cli import exit_status
from svmselect.cli.arguments import MAX_BYTES, Parser
from svmselect.cli.output import show, table

from data.dataset import Dataset
from data.fetch import fetch
from data.prepare import prepare
from data.registry import load_registry
from data.registry_entry import registry_entry

REGISTRY = Path(__file__).resolve().parents[1] / "config/datasets.yaml"


def list_sets(arguments):
    """Print names, sizes and titles."""
    result = [
        {
            "name": entry.name,
            "rows": entry.rows,
            "rows_test": entry.rows_test,
            "features": entry.features,
            "title": entry.title,
            "licence": entry.licence,
            "citation": entry.citation,
        }
        for entry in load_registry(REGISTRY).values()
    ]
    rows = [(item["name"], item["rows"], item["features"], item["title"]) for item in result]
    show(result, arguments.json, table(rows, ("name", "rows", "features", "title")))


def fetch_sets(arguments):
    """Download, verify, and write NAME.libsvm, and NAME.test.libsvm where the set has a test part."""
    registry, folder = load_registry(REGISTRY), Path(arguments.to)
    entries = [registry[name] for name in dict.fromkeys(arguments.names)]
    for entry in entries:
        for path in _targets(entry, folder):
            if path.exists() and not arguments.force:
                raise ValueError(f"{path} exists; --force writes it anew")
    result = []
    for entry in entries:
        with tempfile.TemporaryDirectory(prefix="svmselect-") as work:
            fetch(entry, Path(work, "raw"), arguments.mirror, progress=not arguments.quiet)
            prepare(entry, Path(work, "raw"), Path(work, "set.npz"))
            dataset = Dataset.load(Path(work, "set.npz"))
        parts = [(dataset.X, dataset.y), (dataset.X_test, dataset.y_test)]
        for path, (X, y) in zip(_targets(entry, folder), parts, strict=False):
            _write(path, X, y)
            result.append({"name": entry.name, "file": str(path), "rows": X.shape[0], "features": X.shape[1]})
    rows = [(item["file"], item["rows"], item["features"]) for item in result]
    show(result, arguments.json, table(rows, ("file", "rows", "features")))


def add_set(arguments):
    """Print the entry of the registry for a file of two classes."""
    entry = registry_entry(arguments)
    text = yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=100)
    show(entry, arguments.json, text.rstrip().split("\n"))


def _targets(entry, folder):
    """Return the files of a data set: the rows, and the test part where it has one."""
    names = [f"{entry.name}.libsvm"] + [f"{entry.name}.test.libsvm"] * bool(entry.rows_test)
    return [folder / name for name in names]


def _write(path, X, y):
    """Write LIBSVM text, complete or not at all."""
    from sklearn.datasets import dump_svmlight_file  # here, because it takes two seconds to import

    with replacing(path) as file:
        dump_svmlight_file(X, y, file, zero_based=False)


def parser():
    """Return the parser of the program."""
    top = Parser(
        prog="datasets.py", description=__doc__.splitlines()[0], epilog="Exit status: as that of svmselect."
    )
    parts = top.add_subparsers(dest="action", metavar="ACTION", required=True)

    listing = parts.add_parser("list", help="print what is in the registry")
    listing.set_defaults(run=list_sets)

    add = parts.add_parser("add", help="print the registry's entry for a file of two classes")
    add.set_defaults(run=add_set)
    add.add_argument("file", metavar="FILE", help="CSV table or LIBSVM text")
    add.add_argument("--name", metavar="NAME", help="of the entry (default the file's)")
    add.add_argument("--title", metavar="TEXT", help="for people (default the name)")
    add.add_argument("--url", action="append", default=[], metavar="ADDRESS", help="may be repeated")
    add.add_argument("--label", metavar="COLUMN", help="as for 'svmselect loo'")
    add.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="neither feature nor label"
    )
    add.add_argument("--drop-missing", action="store_true", help="leave out rows with a missing value")
    add.add_argument(
        "--max-bytes",
        type=int,
        default=MAX_BYTES,
        metavar="N",
        help=f"refuse a file of more than N bytes, unpacked (default {MAX_BYTES})",
    )

    fetching = parts.add_parser("fetch", help="write data sets as LIBSVM text")
    fetching.set_defaults(run=fetch_sets)
    fetching.add_argument("names", nargs="+", metavar="NAME", help="of 'list'")
    fetching.add_argument(
        "--to", default=".", metavar="FOLDER", help="where to write NAME.libsvm (default here)"
    )
    fetching.add_argument(
        "--mirror", metavar="PLACE", help="folder or address that is tried first (default $SVMSELECT_MIRROR)"
    )
    fetching.add_argument("--force", action="store_true", help="write over files that exist")
    fetching.add_argument("--quiet", action="store_true", help="no progress bar")

    for part in (listing, add, fetching):
        part.add_argument("--json", action="store_true", help="JSON instead of text")
    return top


def main(words=None):
    """Run an action and return the exit status."""
    return exit_status(parser().parse_args(words))


if __name__ == "__main__":
    sys.exit(main())
