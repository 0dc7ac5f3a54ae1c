"""Run targets of make to their end, and keep in a table when and what they said: seen.py TABLE TARGET...

For targets that are too long for continuous integration, and for other versions of Python and of packages.
Runs of changed files or of a part of the tests are not kept, and neither are runs that fail.
"""

import csv
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

COLUMNS = ("command", "Python", "commit", "day", "minutes", "what it said")
# of pytest and of Snakemake
LAST = re.compile(r"^=+ (.*\bpassed\b.*) in [\d.]+s\b|^(\d+ of \d+ steps \(100%\) done)", flags=re.MULTILINE)


def commit(table):
    """The commit that is checked out; changed files other than the table end the program."""
    status = ["git", "status", "--porcelain", "--", ".", f":!{table}"]
    changes = subprocess.run(status, check=True, capture_output=True, text=True).stdout
    if changes:
        sys.exit(f"What is seen has to be a commit, and these files are none:\n{changes}")
    head = ["git", "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(head, check=True, capture_output=True, text=True).stdout.strip()


def run(target):
    """Run a target, whose output is shown; return all of it."""
    lines = []
    call = ["make", target]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as result:
        for line in result.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if result.returncode:
        sys.exit(f"make {target} failed with status {result.returncode}: nothing is kept")
    return "".join(lines)


def key(row):
    """Return the command and the version of Python, of which the table has one row each."""
    return row["command"], row["Python"]


def main(table, *targets):
    if "PYTEST_ARGS" in os.environ:
        sys.exit("PYTEST_ARGS names a part of the tests: nothing is kept")
    for target in targets:
        head, begin = commit(table), time.monotonic()
        said = LAST.findall(run(target))
        if not said:
            sys.exit(f"make {target} does not say how it ended: nothing is kept")
        row = {
            "command": f"make {target}",
            # of .venv, which make PYTHON=... chooses
            "Python": "{}.{}".format(*sys.version_info),
            "commit": head,
            "day": datetime.now(UTC).date().isoformat(),
            "minutes": f"{(time.monotonic() - begin) / 60:.0f}",
            "what it said": "".join(said[-1]),
        }
        path = Path(table)
        rows = list(csv.DictReader(path.read_text().splitlines())) if path.exists() else []
        rows = [*(entry for entry in rows if key(entry) != key(row)), row]
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=key))


if __name__ == "__main__":
    main(*sys.argv[1:])
