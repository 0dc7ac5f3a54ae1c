"""The log of the runs that computed rows: a line of JSON when one begins and when it ends, kept beside its
results. A run that was lost has no end; calling it again goes on, and has lines of its own."""

import json
from datetime import UTC, datetime
from pathlib import Path

from svmselect.data.atomic import replacing

BEGIN, END = "begin", "end"


def note(path, what, **told):
    """Add a line to the log: that a run begins or ends, now, and what else there is to tell."""
    path = Path(path)
    before = path.read_bytes() if path.exists() else b""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with replacing(path) as file:
        file.write(before + json.dumps({"at": now, "what": what, **told}).encode() + b"\n")


def last_run(path):
    """When the work of the last run began and ended, as a dict; None without one.

    It began with the first of the lines, up to the last, that have its ``commit``; ``ended`` is None while it
    runs, and ``calls`` counts how often it was started.
    """
    if not Path(path).is_file():
        return None
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    begun = [line for line in lines if line["what"] == BEGIN]
    if not begun:
        return None
    last = begun[-1]
    own = [line for line in begun if line["commit"] == last["commit"]]
    ended = lines[-1]["at"] if lines[-1]["what"] == END else None
    told = {name: value for name, value in last.items() if name not in ("at", "what", "commit")}
    return {"commit": last["commit"], "began": own[0]["at"], "ended": ended, "calls": len(own), **told}
